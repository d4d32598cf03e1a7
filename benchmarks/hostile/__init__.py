"""What torture.py does: kills, lying endpoints and proxies, names, damaged files, command lines."""

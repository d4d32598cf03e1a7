"""What torture.py does: kills, lying endpoints, damaged files, scripts, command lines."""

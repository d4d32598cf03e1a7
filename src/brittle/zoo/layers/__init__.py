"""The layers that networks are built from."""

"""Guard mode: how much of what a guard catches it still catches under attack, at one threshold."""

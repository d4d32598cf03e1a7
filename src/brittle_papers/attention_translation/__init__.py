"""Translators of the self-attention paper: typos, a keyword, attention (Tables 7 to 9)."""

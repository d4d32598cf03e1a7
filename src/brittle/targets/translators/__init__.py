"""Translators as targets, which answer every text by a text; an adapter each."""

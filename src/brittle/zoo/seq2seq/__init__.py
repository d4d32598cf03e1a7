"""Translators of our own: pieces of words, an LSTM or a Transformer, and how both decode."""

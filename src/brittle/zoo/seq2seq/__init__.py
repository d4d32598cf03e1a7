"""Translators of our own: pieces of words, an LSTM or a Transformer, and how both decode."""

KIND = "translator"
"""The kind of these models, in their design and on their card."""

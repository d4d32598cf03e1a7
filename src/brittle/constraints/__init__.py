"""Which candidates are acceptable, and which words an attack leaves alone."""

from brittle.constraints.stopwords import STOP_WORDS, is_stop_word

__all__ = ["STOP_WORDS", "is_stop_word"]

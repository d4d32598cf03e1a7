"""Sequence classifiers of the transformers library."""

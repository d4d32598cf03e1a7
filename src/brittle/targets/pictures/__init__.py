"""Targets that read pictures: scikit-learn estimators, torch modules, functions, zoo models."""

"""Selecting ensembles: which members of a pool fool the others best together."""

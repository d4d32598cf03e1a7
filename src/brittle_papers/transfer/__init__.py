"""Transfer, ensembles and universal rules (under review for ICLR 2021)."""

"""Runs: what is run (job), how (runner), the rows it gives, and the run as its user sees it."""

"""Fingerprints of targets: hashes of their files, their contents or their code."""

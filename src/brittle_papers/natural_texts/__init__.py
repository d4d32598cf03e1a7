"""Natural adversaries of texts as a command: entailment, and probes of translators."""

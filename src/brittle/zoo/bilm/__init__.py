"""The bidirectional language model whose frozen layers networks with ELMo read."""

"""Networks that read sentences as trees: dependency parses, and the TreeLSTM over them."""

"""The zoo's models of pictures: networks, and a random forest."""

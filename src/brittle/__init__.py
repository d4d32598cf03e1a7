"""Find the inputs that break a text model."""

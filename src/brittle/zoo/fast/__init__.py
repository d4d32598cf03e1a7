"""Hand-written passes, faster than torch's own; a test holds each equal to torch."""

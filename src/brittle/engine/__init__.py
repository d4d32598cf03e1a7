"""The engine: advances many searches side by side and computes nothing twice."""

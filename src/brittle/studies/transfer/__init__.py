"""Transfer: which targets an attack on another target fools."""

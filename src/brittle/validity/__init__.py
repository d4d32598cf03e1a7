"""What people say of adversarial examples: whom to show what, how to read it, what follows."""

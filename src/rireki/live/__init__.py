"""As it happens: what changes is noticed, taken in and announced."""

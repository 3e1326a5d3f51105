"""How privmine is extended: the hooks, what plugins register, and what is known by name."""

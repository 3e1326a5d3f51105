"""Where randomness comes from: a protocol, exact samplers for releases, a seeded simulation for research."""

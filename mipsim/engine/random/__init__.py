"""Random numbers without a state: each is a pure function of (seed, stream, world, game, use)."""

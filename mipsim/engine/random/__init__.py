"""Random numbers without a state: every one is a pure function of (seed, stream, world, game, use)."""

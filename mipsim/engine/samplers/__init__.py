"""How the scores of a block of games are sampled: each sampler beside the function that builds it."""

"""How the scores of a block of games are drawn: each sampler beside the function that builds it."""

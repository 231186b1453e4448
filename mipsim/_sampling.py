"""How DP-SGD samples records, and which neighbours bounds are proven for; light, since a command's `--help` shows it."""

NEIGHBOURS = ("remove", "add", "add_or_remove", "replace")
PROVEN = {
    "poisson": NEIGHBOURS[:3],
    "fixed_size": NEIGHBOURS[3:],
    "shuffled": NEIGHBOURS,
    "random_allocation": NEIGHBOURS[:3],
}
"""For which neighbours bounds are proven, by sampling."""
BY_EPOCH = ("shuffled", "random_allocation")
"""A record takes part once in each epoch."""
ASSUMES = {
    "poisson": "in each step each record takes part by its own coin",
    "fixed_size": "each step has a sample of fixed size without replacement; a record is replaced by another",
    "shuffled": "equal batches, shuffled before each epoch; a removed record leaves zeros in its place; lower ends are of the worst case",
    "random_allocation": "each record takes part in a single step of each epoch, sampled uniformly and independently of all else",
}
"""What is assumed beside `ALWAYS`, by sampling."""
ALWAYS = "a release is a sum of clipped contributions and Gaussian noise; all releases are seen, and later steps may use them"

"""Networks under attack: models in Flax, their training by Optax, and the gradient of every example.

Needs the extra `mipsim[nn]`.
"""

from mipsim.nn.gradients import per_example_gradients
from mipsim.nn.network import Network, convolutional, layered, linear, random_features
from mipsim.nn.training import train

__all__ = [
    "Network",
    "convolutional",
    "layered",
    "linear",
    "per_example_gradients",
    "random_features",
    "train",
]

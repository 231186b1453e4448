"""Networks under attack: models in Flax, their training, the gradient of every example, training as a game, and attacks on it.

Needs the extra `mipsim[nn]`.
"""

from mipsim.nn.descent import Descent, Steps
from mipsim.nn.gradients import features, per_example_gradients
from mipsim.nn.loss_attacks import RMIA, LiRA, LossThreshold
from mipsim.nn.network import Network, convolutional, layered, linear, random_features, residual
from mipsim.nn.shadows import shadow_models
from mipsim.nn.step_attacks import SummedOverSteps
from mipsim.nn.training import train

__all__ = [
    "RMIA",
    "Descent",
    "LiRA",
    "LossThreshold",
    "Network",
    "Steps",
    "SummedOverSteps",
    "convolutional",
    "features",
    "layered",
    "linear",
    "per_example_gradients",
    "random_features",
    "residual",
    "shadow_models",
    "train",
]

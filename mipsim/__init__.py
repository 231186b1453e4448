"""mipsim: membership-inference games by the million, and honest verdicts on privacy theorems."""

from mipsim.attacks import *
from mipsim.distributions import *
from mipsim.games import *
from mipsim.mechanisms import *

"""Named studies with their numbers, their runner and their stored results."""

from sims.runner import run
from sims.studies import STUDIES
from sims.study import Study

__all__ = ["STUDIES", "Study", "run"]

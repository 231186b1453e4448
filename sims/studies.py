"""Every named study: the papers' figures, wider settings, and the small games of counterexamples."""

from sims.azize_counterexamples import COUNTEREXAMPLES
from sims.azize_gradients import GRADIENTS
from sims.azize_paper import FIGURES, D, N, reference_data
from sims.azize_spread import SPREAD
from sims.clipped_steps import CLIPPED
from sims.gradient_epochs import EPOCH_STUDIES
from sims.gradients import GRADIENT_STUDIES
from sims.izzo_games import IZZO
from sims.kaissis_games import KAISSIS
from sims.last_layers import LAST_LAYER_STUDIES
from sims.leemann_games import LEEMANN
from sims.study import Study

STUDIES: dict[str, Study] = {
    study.name: study
    for study in (
        *FIGURES,
        *SPREAD,
        *CLIPPED,
        *COUNTEREXAMPLES,
        *GRADIENTS,
        *IZZO,
        *LEEMANN,
        *KAISSIS,
        *GRADIENT_STUDIES,
        *EPOCH_STUDIES,
        *LAST_LAYER_STUDIES,
    )
}
"""Every study by name."""

__all__ = ["STUDIES", "D", "N", "reference_data"]

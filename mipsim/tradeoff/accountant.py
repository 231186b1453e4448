"""The accountant of a training loop, with the methods that Opacus calls; nothing of Opacus is imported."""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping
from typing import Any

from mipsim._printed import Bounds
from mipsim._validation import member, number, whole
from mipsim._words import quoted
from mipsim.tradeoff.account import Account, account
from mipsim.tradeoff.compose import MOST_STEPS
from mipsim.tradeoff.epochs import SQUARABLE


class Accountant:
    """What a training with Poisson samples has leaked so far, a record added or removed, in a loop of one's own or as Opacus' accountant.

    It has the methods of Opacus' `IAccountant`: `opacus.accountants.registry.register_accountant("mipsim", mi.Accountant)` makes it
    `PrivacyEngine(accountant="mipsim")`, which prints upper ends that are proven: of Poisson samples, whatever its loader does. `account` has both ends of every number.

    Attributes:
        history: (noise multiplier, sampling rate, steps) of each phase, as `mipsim.account` takes them.

    Source: that of `mipsim.dpsgd`; Yousefpour et al. (2021), "Opacus: user-friendly differential privacy library in PyTorch", for the methods.

    Examples:
        >>> import mipsim as mi
        >>> accountant = mi.Accountant()
        >>> for _ in range(1000):
        ...     accountant.step(noise_multiplier=1.0, sample_rate=0.01)
        >>> round(accountant.get_epsilon(1e-5), 3), len(accountant)
        (1.828, 1000)
        >>> accountant.step(noise_multiplier=1.0, sample_rate=1.5)
        Traceback (most recent call last):
        ...
        ValueError: sample_rate is 1.5; it must be a finite number in [0, 1]
    """

    def __init__(self) -> None:
        self.history: list[tuple[float, float, int]] = []

    def step(self, *, noise_multiplier: float, sample_rate: float) -> None:
        """Count a step, of this noise over the clipping norm, > 0, in which a record takes part with this probability, in [0, 1]."""
        phase = _step(noise_multiplier, sample_rate)
        if self.history and self.history[-1][:2] == phase:
            self.history[-1] = *phase, self.history[-1][2] + 1
        else:
            self.history.append((*phase, 1))

    def get_epsilon(self, delta: float, **_: Any) -> float:
        """The upper end of epsilon so far at a delta in [0, 1]; 0 before the first step. What else Opacus gives is left unread."""
        return self.epsilon_bounds(delta)[1]

    def epsilon_bounds(self, delta: float) -> Bounds:
        """(lower, upper) bound of epsilon so far at a delta in [0, 1].

        Examples:
            >>> import mipsim as mi
            >>> mi.Accountant().epsilon_bounds(1e-5)
            (0.0, 0.0)
        """
        at = number("delta", delta, 0.0, 1.0)
        if not self.history:
            return 0.0, 0.0
        return next(iter(self.account(delta=at, epsilon=[], fpr=[]).numbers.values()))

    def account(self, **numbers: Any) -> Account:
        """All numbers so far, each between proven ends; `numbers`: delta, epsilon and fpr of `mipsim.account`."""
        return account(phases=self.history, **numbers)

    def __len__(self) -> int:
        return sum(steps for _, _, steps in self.history)

    @classmethod
    def mechanism(cls) -> str:
        """The name by which Opacus knows it, "mipsim"."""
        return "mipsim"

    def get_optimizer_hook_fn(self, sample_rate: float) -> Callable[[Any], None]:
        """What Opacus' optimiser calls after each step; gradients that it accumulates count as a single larger sample."""
        rate = number("sample_rate", sample_rate, 0.0, 1.0)

        def hook(optimizer: Any) -> None:
            self.step(
                noise_multiplier=optimizer.noise_multiplier,
                sample_rate=rate * optimizer.accumulated_iterations,
            )

        return hook

    def state_dict(self, destination: MutableMapping[str, Any] | None = None) -> MutableMapping[str, Any]:
        """The history and the name, for a checkpoint, written into `destination` if it is given."""
        state = {} if destination is None else destination
        state.update(history=list(self.history), mechanism=self.mechanism())
        return state

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Resume from `state_dict()`; raises ValueError if it is not such a state.

        Examples:
            >>> import mipsim as mi
            >>> mi.Accountant().load_state_dict({"history": [], "mechanism": "rdp"})
            Traceback (most recent call last):
            ...
            ValueError: state_dict is of the accountant 'rdp'; it must be of 'mipsim'
        """
        state = member("state_dict", state_dict, Mapping, "what state_dict() returned")
        if state.get("mechanism") != self.mechanism():
            raise ValueError(
                f"state_dict is of the accountant {quoted(state.get('mechanism'))}; it must be of {self.mechanism()!r}"
            )
        history = state.get("history")
        if not isinstance(history, (list, tuple)) or any(
            not isinstance(part, (list, tuple)) or len(part) != 3 for part in history
        ):
            raise ValueError(
                f"state_dict holds the history {quoted(history)}; it must hold (noise, rate, steps) of each phase"
            )
        self.history = [
            (*_step(noise, rate), whole("steps", steps, 1, MOST_STEPS)) for noise, rate, steps in history
        ]


def _step(noise: object, rate: object) -> tuple[float, float]:
    return number("noise_multiplier", noise, *SQUARABLE), number("sample_rate", rate, 0.0, 1.0)

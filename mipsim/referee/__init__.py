"""The referee: a theorem as data, its judges, the hunt for where it breaks.

Examples:
    >>> import mipsim as mi
    >>> from mipsim import referee as rf
    >>> statement = rf.Statement(
    ...     name="doubled",
    ...     says="Two releases that are mu-GDP each are (1.4 mu)-GDP together.",
    ...     source="a wrong constant",
    ...     kind=rf.Bound(),
    ...     domain={"mu": rf.Real(0.1, 2.0)},
    ...     claimed=lambda mu: mi.GaussianTradeOff(1.4 * mu),
    ...     truth=lambda mu: mi.GaussianTradeOff(2**0.5 * mu),
    ... )
    >>> str(rf.hunt(statement, "32 probes", progress=False).verdict)
    'REFUTED'
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

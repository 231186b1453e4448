"""dp_accounting 0.6.0: samples of a fixed size, a record replaced. Here the sample is all of the data, and noise is twice the norm.

The event bounds the norm of a record, so that a replaced record moves the sum by up to twice the norm: mu = 2 / 2 = 1.
"""

import dp_accounting as dp
from dp_accounting import rdp
from scipy.stats import norm

event = dp.SampledWithoutReplacementDpEvent(1000, 1000, dp.GaussianDpEvent(noise_multiplier=2.0))
accountant = rdp.RdpAccountant(neighboring_relation=dp.NeighboringRelation.REPLACE_ONE)
reported = accountant.compose(event).get_epsilon(1e-5)
delta = norm.cdf(0.5 - reported) - norm.cdf(-0.5 - reported) * 2.718281828459045**reported
print(f"RDP says epsilon {reported:.2f} at delta = 1e-5. At that epsilon delta is {delta:.4f}.")

assert delta > 1e-3

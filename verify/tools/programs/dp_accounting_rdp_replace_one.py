"""dp_accounting 0.6.0: a sum of vectors of norm at most 1, with noise 2 in each of 10 steps, where a record is replaced.

"If the norms of the values are bounded ||v_i|| <= C, the noise_multiplier is defined as s / C": a replaced record moves the sum by up
to 2 C, a removed record by C. The RDP accountant gives the same number for both; the PLD accountant does not.
"""

import dp_accounting as dp
from dp_accounting import pld, rdp
from scipy.stats import norm

event = dp.SelfComposedDpEvent(dp.GaussianDpEvent(noise_multiplier=2.0), 10)
relation = dp.NeighboringRelation.REPLACE_ONE
reported = rdp.RdpAccountant(neighboring_relation=relation).compose(event).get_epsilon(1e-5)
other = pld.PLDAccountant(neighboring_relation=relation).compose(event).get_epsilon(1e-5)

# Delta at that epsilon where the record is v against -v: shifts by 2 C in 10 steps add up to mu = 2 sqrt(10) / 2 deviations.
mu = 10.0**0.5
delta = norm.cdf(mu / 2.0 - reported / mu) - norm.cdf(-mu / 2.0 - reported / mu) * 2.718281828459045**reported
print(
    f"RDP says epsilon {reported:.2f} at delta = 1e-5, PLD says {other:.2f}; at {reported:.2f} delta is {delta:.3f}."
)

assert delta > 0.01

# %% [markdown]
# # Calibrating noise
#
# How much noise keeps an attacker below a given power? The promise is made in the attacker's own terms, not only in epsilon.

# %%
import mipsim as mi

# %% [markdown]
# The least noise multiplier (deviation of the noise over the sensitivity) of one Gaussian release, for an advantage of at most 0.1:

# %%
noise = mi.find_noise_multiplier_for_advantage(0.1)
curve = mi.GaussianTradeOff(1.0 / noise)
print(noise, curve.advantage(), curve.epsilon(1e-5))

# %% [markdown]
# The advantage says little about rare rates: what an attacker has at a false-positive rate of 1e-3 is a promise of its own.

# %%
print(curve.tpr_at(1e-3), mi.find_noise_multiplier_for_tpr_at_fpr(0.002, 1e-3))

# %% [markdown]
# 100 steps on Poisson samples of rate 0.01, and what they leak for several noises:

# %%
curves = {f"sigma = {sigma:g}": mi.dpsgd(sigma, 0.01, 100) for sigma in (0.6, 1.0, 2.0)}
for name, one in curves.items():
    print(name, one.advantage(), one.tpr_at(1e-3))
mi.plot(curves, log=True)

# %% [markdown]
# To try next: `mi.find_noise_multiplier_for_mu`, `mi.find_noise_multiplier_for_epsilon_delta`, and `mi.calibrate` for a family of your own.

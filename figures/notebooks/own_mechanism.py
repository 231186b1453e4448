# %% [markdown]
# # Your own mechanism
#
# A mechanism is a JAX function of a key and the records; an attack is a function of the target and the output. Whatever is random in
# the mechanism is drawn from the key: NumPy's generator would be read once, and mipsim says so.

# %%
import jax
import jax.numpy as jnp
import numpy as np

import mipsim as mi


def noisy_clipped_mean(key, records):
    mean = jnp.clip(records, -1.0, 1.0).mean(axis=0)
    return mean + 0.05 * jax.random.normal(key, mean.shape)


def alignment(target, output):
    return jnp.dot(target, output)


# %%
data = mi.Gaussian(np.zeros(20), np.ones(20))
game = mi.FixedTarget(noisy_clipped_mean, data, n=50, target=np.full(20, 2.0))
curve = mi.play(game, alignment, games=20_000, seed=0).tradeoff(confidence=0.999)
print(curve.advantage_interval(), curve.mu_lower_bound())

# %% [markdown]
# A promise is a bound on the attacker's power, and is compared as one: a weaker attacker does not refute it.

# %%
print(curve.compare(mi.GaussianTradeOff(1.0), kind="upper_bound_on_power"))
curve.plot(mi.GaussianTradeOff(1.0))

# %% [markdown]
# To try next: less noise, until the promise breaks; `mi.trained_attack(game)`, which learns a score from games of its own.

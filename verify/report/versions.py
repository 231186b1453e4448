"""What took part in a run; it imports nothing of the register, for those who only name the version."""

import platform
import subprocess
from importlib import metadata
from pathlib import Path

from mipsim import __version__

PACKAGES = ("jax", "jaxlib", "equinox", "numpy", "scipy")


def versions() -> dict[str, str]:
    """What took part in a run: Python, the machine, the packages, and the checkout's revision if it has a revision.
    >>> [name in versions() for name in ("Python", "machine", "mipsim", "numpy")]
    [True, True, True, True]
    """
    result = {"Python": platform.python_version(), "machine": f"{platform.system()} {platform.machine()}"}
    result |= {"mipsim": __version__} | {name: metadata.version(name) for name in PACKAGES}
    requested = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short=12", "HEAD"]
    try:
        revision = subprocess.run(requested, capture_output=True, text=True, check=False).stdout.strip()
    except OSError:  # a report must not depend on a program that may be missing
        revision = ""
    return result | ({"revision": revision} if revision else {})

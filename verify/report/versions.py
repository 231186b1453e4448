"""What a report must name to be repeated: the versions of everything that took part."""

import platform
from importlib import metadata
from pathlib import Path

PACKAGES = ("mipsim", "jax", "jaxlib", "equinox", "numpy", "scipy")


def versions() -> dict[str, str]:
    """Return names and versions: Python, the machine, the packages, the checkout's revision if there is one.

    Examples:
        >>> "numpy" in versions() and "Python" in versions()
        True
    """
    found = {"Python": platform.python_version(), "machine": f"{platform.system()} {platform.machine()}"}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            # From a checkout mipsim is imported without being installed; its revision names it then.
            continue
    revision = _revision(Path(__file__).resolve().parents[2])
    return found | ({"revision": revision} if revision else {})


def _revision(root: Path) -> str:
    # Read, not asked of git: a report must not depend on a program that may be missing.
    try:
        head = (root / ".git" / "HEAD").read_text().strip()
        if not head.startswith("ref: "):
            return head[:12]
        name = head.removeprefix("ref: ")
        loose = root / ".git" / name
        if loose.exists():
            return loose.read_text().strip()[:12]
        for line in (root / ".git" / "packed-refs").read_text().splitlines():
            if line.endswith(f" {name}"):
                return line[:12]
    except OSError:
        pass
    return ""

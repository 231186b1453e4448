"""The version, where both the package and the manifests of its runs can read it."""

__version__ = "0.1.0"

"""The register of claims, their verdicts, and the command that judges them."""

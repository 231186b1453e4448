"""A word that names modules in two places means the same thing in both."""

from collections import defaultdict
from pathlib import Path

PACKAGES = ("mipsim", "sims", "verify", "figures")
MEANINGS = {
    "audits": "audits: scores of an attack held against a guarantee",
    "azize": "the paper of Azize and Basu",
    "base": "what every member of the family provides",
    "by_cdf": "records that are known by their distribution function alone",
    "canaries": "records that an auditor puts in, to see whether their membership shows",
    "checks": "second, independent routes to what the laws of the paper say",
    "command": "the command of the package",
    "comparison": "a curve held against a claim or another curve",
    "composition": "several releases together",
    "curves": "trade-off curves of mechanisms of the paper",
    "executors": "what plays shards of games",
    "expansions": "asymptotic expansions of the lemmas of the paper",
    "function": "a user's own plain JAX function as a member of the family",
    "games": "membership-inference games",
    "gaussian": "the normal distribution",
    "gradients": "gradients of the loss at single examples",
    "izzo": "the paper of Izzo et al.",
    "judge": "judging statements at points",
    "kaissis": "the paper of Kaissis et al.",
    "laplace": "the Laplace distribution",
    "laws": "exact distributions of scores",
    "leemann": "the paper of Leemann et al.",
    "lemmas": "lemmas of the paper",
    "literal": "games in which every record is sampled",
    "mean": "the empirical mean",
    "noise": "noise that a mechanism adds",
    "noncentral_chi_square": "the non-central chi-square distribution",
    "one_run": "audits in a single training run",
    "quadratic": "scores that are quadratic in the output",
    "random_target": "the random-target game",
    "real_gradients": "gradients of networks at real records",
    "report": "what is written of a run: tables, data and pages",
    "result": "what came of a judgement or an audit",
    "scalar_product": "the scalar-product attack",
    "second_routes": "numbers of the laws of the paper by other code",
    "statements": "the statements of the paper",
}
"""Word -> what it means, for every word that names modules or packages in two or more places."""


def places(root: Path) -> dict[str, list[str]]:
    """Where each word names a module or a package."""
    result: dict[str, list[str]] = defaultdict(list)
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            module = path.parent if path.name == "__init__.py" else path.with_suffix("")
            if module.name != "__main__":
                result[module.name].append(str(module.relative_to(root)))
    return result


def undeclared(root: Path, meanings: dict[str, str]) -> dict[str, list[str]]:
    """Words in two or more places without a declared meaning, and declared words that are in a single place at most."""
    result = places(root)
    twice = {word: where for word, where in result.items() if len(where) > 1 and word not in meanings}
    return twice | {word: result[word] for word in meanings if len(result[word]) < 2}


def test_every_repeated_word_has_a_single_declared_meaning(root: Path) -> None:
    assert undeclared(root, MEANINGS) == {}
    assert len(set(MEANINGS.values())) == len(MEANINGS)


def test_a_repeated_word_without_a_meaning_is_seen(tmp_path: Path) -> None:
    for name in ("mipsim/table.py", "sims/table.py", "verify/base.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert undeclared(tmp_path, {"base": "a family"}) == {
        "table": ["mipsim/table", "sims/table"],
        "base": ["verify/base"],
    }

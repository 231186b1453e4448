"""`mi.account`: each number with both ends, and which differences between two ways of sampling are proven."""

import io
import json
import math
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import mipsim as mi
from mipsim.referee.command import main
from mipsim.tradeoff.schemes import NEIGHBOURS, SCHEMES

PAGE = Path(__file__).parents[2] / "docs/i-have-a-noise-multiplier.md"
SWITCH = PAGE.with_name("switch-accountants.md")
SHUFFLED = {"noise_multiplier": 0.5, "sampling_rate": 0.01, "steps": 100}


@pytest.mark.parametrize("sampling", SCHEMES)
@pytest.mark.parametrize("neighbours", NEIGHBOURS)
def test_every_pair_is_reported_by_its_curve_or_refused(sampling: str, neighbours: str) -> None:
    how: Any = {"sampling": sampling, "neighbours": neighbours}
    if neighbours not in SCHEMES[sampling].neighbours:
        with pytest.raises(ValueError, match="proven are"):
            mi.account(1.0, 0.5, 2, **how)
        return
    result = mi.account(1.0, 0.5, 2, **how, epsilon=0.5, fpr=[0.01])
    assert list(result.numbers) == [
        "epsilon at delta 1e-05", "delta at epsilon 0.5", "advantage", "TPR at FPR 0.01", "least mu of mu-GDP"
    ]  # fmt: skip
    assert all(0.0 < low <= high < math.inf for low, high in result.numbers.values())
    curve = mi.dpsgd(1.0, 0.5, 2, **how)
    for name, ends in (
        ("epsilon at delta 1e-05", curve.epsilon_bounds(1e-5)),
        ("delta at epsilon 0.5", curve.delta_bounds(0.5)),
        ("advantage", curve.advantage_bounds()),
        ("TPR at FPR 0.01", curve.tpr_bounds(0.01)),
    ):
        low, high = result.numbers[name]
        assert low <= ends[1]
        assert ends[0] <= high
        if sampling != "shuffled":
            assert high - low <= 2e-3 * high
            assert not low <= 1.03 * ends[1] <= high  # a curve 3% off is distinguished
    assert curve.tpr_bounds(1e-9)[0] <= mi.GaussianTradeOff(result.numbers["least mu of mu-GDP"][1]).tpr_at(
        1e-9
    )
    assert result.to_dict()["assumes"][0] == SCHEMES[sampling].assumes


@pytest.mark.parametrize("sampling", ["shuffled", "random_allocation"])
def test_mu_of_epochs_is_reached_at_the_rarest_rates(sampling: str) -> None:
    """A single epoch at little noise, where float64 sees it: the curve is above G_mu and below G of a mu some per cent smaller."""
    noise, steps, fpr = 0.25, 3, 1e-250
    low, high = mi.account(noise, 1.0 / steps, steps, sampling=sampling, neighbours="remove").numbers[
        "least mu of mu-GDP"
    ]
    assert low < 4.0 < high < 4.0 + 1e-12
    curve = mi.dpsgd(noise, 1.0 / steps, steps, sampling=sampling)
    assert curve.tpr_bounds(fpr)[0] <= mi.GaussianTradeOff(4.0).tpr_at(fpr)
    assert curve.tpr_bounds(fpr)[1] >= curve.tpr_bounds(fpr)[0] > mi.GaussianTradeOff(0.95 * 4.0).tpr_at(fpr)


def test_a_shuffled_implementation_leaks_more_than_is_accounted() -> None:
    shuffled, poisson = (mi.account(**SHUFFLED, sampling=way) for way in ("shuffled", "poisson"))
    result = shuffled.compare(poisson)
    assert result.leaks["epsilon at delta 1e-05"] == result.leaks["advantage"] == "more"
    assert "leaks more: epsilon at delta 1e-05 >= " in result.says[0]
    assert poisson.compare(shuffled).leaks["epsilon at delta 1e-05"] == "less"
    assert "leaks less" in poisson.compare(shuffled).says[0]
    # The same account shows no difference, and neither does an account whose ends are far apart.
    same = shuffled.compare(shuffled)
    assert set(same.leaks.values()) == {"not decided"}
    assert same.says == ["no difference is proven: the bounds of each number overlap"]
    assert "not decided" in str(same)
    json.dumps(result.to_dict(), allow_nan=False)


def test_an_infinite_end_is_text() -> None:
    result = mi.account(1.0, delta=[0.0, 1e-5])
    assert result.to_dict()["numbers"]["epsilon at delta 0"] == {"low": "inf", "high": "inf"}
    assert "inf" in result._repr_html_()


def test_only_numbers_at_the_same_rate_are_compared() -> None:
    """Rates that agree in six digits had the same name: a mechanism leaked more than itself."""
    first, other = mi.account(1.0, fpr=[0.1, 0.1000004]), mi.account(1.0, fpr=0.1)
    assert {"TPR at FPR 0.1", "TPR at FPR 0.1000004"} < set(first.numbers)
    assert "more" not in mi.account(1.0, fpr=0.1000004).compare(other).leaks.values()


def test_a_proven_difference_has_as_many_digits_as_it_needs() -> None:
    stated = mi.account(1.0).compare(mi.account(1.0000001)).says
    assert len(stated) == 7
    for ends in (re.findall(r"[<>]= (\S+)", sentence) for sentence in stated):
        assert float(ends[0]) > float(ends[1])


def test_a_loop_is_accounted_as_its_phases_and_resumes() -> None:
    """As Opacus calls it: a hook of an optimiser with accumulated batches, and a state in a checkpoint."""
    accountant, optimizer = mi.Accountant(), SimpleNamespace(noise_multiplier=1.0, accumulated_iterations=1)
    hook = accountant.get_optimizer_hook_fn(sample_rate=0.01)
    for batches in [1] * 20 + [2] * 10:
        optimizer.accumulated_iterations = batches
        hook(optimizer)
    assert (len(accountant), accountant.mechanism()) == (30, "mipsim")
    phases = [(1.0, 0.01, 20), (1.0, 0.02, 10)]
    assert accountant.history == phases
    ends = accountant.epsilon_bounds(1e-5)
    assert ends == mi.account(phases=phases, epsilon=[], fpr=[]).numbers["epsilon at delta 1e-05"]
    resumed = mi.Accountant()
    resumed.load_state_dict(json.loads(json.dumps(dict(accountant.state_dict()))))
    assert resumed.get_epsilon(delta=1e-5) == ends[1]
    hook(optimizer)
    assert accountant.epsilon_bounds(1e-5)[0] > ends[1]
    assert len(resumed) == 30


@pytest.mark.filterwarnings("ignore")  # of Opacus and PyTorch
def test_opacus_trains_with_it() -> None:
    """As the page registers it, with noise that Opacus finds, physical batches and a checkpoint; Opacus' own number is close."""
    call = 'register_accountant("mipsim", mi.Accountant)'
    assert f"opacus.accountants.registry.{call}" in SWITCH.read_text("utf-8")
    opacus = pytest.importorskip("opacus", reason="Opacus needs PyTorch, which no group of ours installs")
    torch = pytest.importorskip("torch")
    from opacus.accountants import registry  # pyright: ignore[reportMissingImports]
    from opacus.utils.batch_memory_manager import (  # pyright: ignore[reportMissingImports]
        BatchMemoryManager,
    )

    registry.register_accountant("mipsim", mi.Accountant, force=True)
    records = torch.utils.data.TensorDataset(torch.randn(200, 5), torch.zeros(200, dtype=torch.long))
    layer, engine = torch.nn.Linear(5, 2), opacus.PrivacyEngine(accountant="mipsim")
    model, optimizer, loader = engine.make_private_with_epsilon(
        module=layer, optimizer=torch.optim.SGD(layer.parameters(), lr=0.1), max_grad_norm=1.0, epochs=2,
        data_loader=torch.utils.data.DataLoader(records, batch_size=20), target_epsilon=3.0, target_delta=1e-5)  # fmt: skip
    with BatchMemoryManager(data_loader=loader, max_physical_batch_size=7, optimizer=optimizer) as parts:
        for features, labels in [batch for _ in range(2) for batch in parts]:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(features), labels).backward()
            optimizer.step()
    accountant = engine.accountant
    assert accountant.history == [(optimizer.noise_multiplier, 0.1, 20)]
    assert 2.9 < engine.get_epsilon(1e-5) <= 3.0
    other = registry.create_accountant("prv")
    other.history = accountant.history
    assert engine.get_epsilon(1e-5) == pytest.approx(other.get_epsilon(1e-5), rel=0.02)
    saved = io.BytesIO()
    engine.save_checkpoint(path=saved, module=model, optimizer=optimizer)
    saved.seek(0)
    resumed = opacus.PrivacyEngine(accountant="mipsim")
    resumed.load_checkpoint(path=saved, module=model, optimizer=optimizer)
    assert resumed.accountant.history == accountant.history


COMMAND = ["account", "--noise-multiplier", "0.5", "--sampling-rate", "0.01", "--steps", "100"]


def test_the_command_prints_the_table_or_json(capsys) -> None:
    assert main([*COMMAND, "--sampling", "shuffled", "--delta", "1e-6", "--fpr", "0.01"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("DP-SGD: noise 0.5, rate 0.01, 100 steps, shuffled, add_or_remove\n")
    assert text == f"{mi.account(**SHUFFLED, sampling='shuffled', delta=1e-6, fpr=0.01)}\n"
    assert main([*COMMAND, "--implemented", "shuffled", "--accounted", "poisson", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["leaks"]["epsilon at delta 1e-05"] == "more"
    assert data["implemented"]["sampling"] == "shuffled"


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--implemented", "shuffled"], "--implemented and --accounted must be given together"),
        (["--implemented", "shuffled", "--accounted", "poisson", "--sampling", "poisson"], "--sampling is given beside"),
        (["--implemented", "shuffled", "--accounted", "poisson", "--claim", "epsilon=8,delta=1e-5"], "--claim is given beside"),
        (["--sampling", "shuffle"], "is not one of 'poisson', 'fixed_size', 'shuffled'"),
        (["--sampling-rate", "0.3", "--sampling", "shuffled"], "it must be 1 / T for epochs"),
        (["--neighbours", "replace", "--sampling", "random_allocation"], "proven are remove, add, add_or_remove"),
        (["--group", "2", "--sampling", "shuffled"], "groups are proven for 'poisson', else a single record"),
        (["--noise-multiplier", "0"], "'--noise-multiplier': 0.0 is not in the range x>0"),
        (["--nose-multiplier", "1"], "Did you mean '--noise-multiplier'?"),
        (["--phase", "rate=0.1"], "'--phase': is 'rate=0.1': its noise is missing"),
        (["--phase", "noise=1,rate=0.1"], "--noise-multiplier and phases are both given; give exactly 1 of them"),
        (["--phase", "noise=1,step=5"], "'--phase': is 'noise=1,step=5': 'step' is none of its names; write such as noise=1,rate=0.01,steps=500"),
        (["--phase", "noise=1,,rate=0.1"], "'--phase': is 'noise=1,,rate=0.1': '' is none of its names"),
        (["--phase", "noise=one"], "'--phase': is 'noise=one': its noise is 'one'"),
    ],
)  # fmt: skip
def test_bad_input_of_the_command_is_a_single_sentence(capsys, more: list[str], says: str) -> None:
    assert main([*COMMAND, *more]) == 2
    text = capsys.readouterr()
    assert says in text.err
    assert text.err.count("\n") == 1
    assert text.out == ""


@pytest.mark.evidence
def test_the_page_prints_what_the_command_prints(capsys) -> None:
    """Each command of the page, with what stands below it; lines that the page leaves out are `...`."""
    sessions = re.findall(
        r"    mipsim (account [^\n]*)\n\n```text\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL
    )
    assert len(sessions) >= 2
    for line, shown in sessions:
        assert main(line.split()) == 0
        printed = capsys.readouterr().out.splitlines()
        lines = [row for row in shown.splitlines() if row.strip() != "..."]
        assert [row for row in lines if row not in printed] == []

"""`mipsim judge` and `mipsim hunt`: statements in a user's file; `mipsim audit`: scores in a file; `mipsim account`: a noise multiplier.

What takes seconds to import is imported when it is needed, so that `--help` waits for nothing.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from mipsim._command_line import (
    CONFIDENCE_LEVEL,
    DONE,
    FAILED,
    MOST,
    PLACE,
    POINT,
    VERSION,
    Number,
    Whole,
    examples,
    run,
    say,
)
from mipsim._signals import INTERRUPTED, LeavingOnCtrlC
from mipsim._words import printable, quoted, shortened
from mipsim.audits.claims import FORMS
from mipsim.audits.designs import CONFIDENCE, DELTA, DESIGNS
from mipsim.audits.scores import ROWS
from mipsim.audits.tables import Unclear
from mipsim.referee import settings
from mipsim.tradeoff.schemes import NEIGHBOURS, NORMALISE, SCHEMES
from mipsim.tradeoff.training import ENDINGS

if TYPE_CHECKING:
    from mipsim.referee.outcome import Outcome
    from mipsim.referee.statement import Statement


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.
    `arguments`: those of the process if None. Returns 0 done, 1 when a statement could not be judged or a disk is full, 2
    for bad arguments, 130 after Ctrl-C, 143 after SIGTERM and 129 after SIGHUP.
    """
    return run(mipsim, arguments, "mipsim", "the report cannot be written")


FIND_NOISE = (
    "The noise for a target, in Python: mi.find_noise_multiplier_for_advantage(0.1, sampling_rate=0.01, steps=1000), "
    "or _for_epsilon_delta, _for_mu, _for_err_rates, _for_tpr_at_fpr.\n\n"
)


@click.group(
    no_args_is_help=False,
    epilog=examples(
        "mipsim judge mine.py --out report",
        "mipsim hunt mine.py:my-theorem --budget 2m",
        "mipsim audit scores.csv --design independent --runs 2000 --claim mu=1",
        "mipsim account --noise-multiplier 1 --sampling-rate 0.01 --steps 1000",
        after=FIND_NOISE
        + "Exit status: 0 done; 1 if a statement could not be judged or a disk is full; 2 for bad arguments; 130 after "
        "Ctrl-C (finished results are stored).",
    ),
)
@VERSION
def mipsim() -> None:
    """Judge theorems, search for counterexamples, audit the scores of attacks, and account for DP-SGD."""


def _of_statements(command: Callable[..., int]) -> Callable[..., int]:
    """The arguments that `judge` and `hunt` share."""
    for add in (
        click.option(
            "--games",
            type=Whole(1),
            metavar="G",
            help="games in each world, if no exact curve is known (default: 200000, or as many as take 15 seconds)",
        ),
        click.option(
            "--confidence",
            type=CONFIDENCE_LEVEL,
            default=settings.CONFIDENCE,
            metavar="C",
            help="family-wise confidence of each statement (default: 0.999)",
        ),
        click.option(
            "--seed",
            type=Whole(0),
            default=0,
            metavar="S",
            help="seed of random numbers, a whole number >= 0 (default: 0)",
        ),
        click.option(
            "--out",
            type=PLACE,
            metavar="DIR",
            help="write index.html and results.json here; a hunt resumes from here",
        ),
        click.option(
            "--gap",
            metavar="UNIT",
            help="also print the gap in this unit: advantage, epsilon=DELTA (epsilon=1e-5) or tpr=FPR (tpr=0.01)",
        ),
        click.argument("file", metavar="FILE.py[:NAME]"),
    ):
        command = add(command)
    return command


@mipsim.command(
    epilog=examples("mipsim judge mine.py", "mipsim judge mine.py:my-theorem --at '{\"n\": 10}' --out report")
)
@_of_statements
@click.option(
    "--at",
    type=POINT,
    multiple=True,
    metavar="JSON",
    help="a point, such as '{\"n\": 10}', judged alone and without a hunt; may be given several times",
)
@click.option(
    "--budget",
    default=settings.AFTER_JUDGING,
    metavar="T",
    help=f"how long the search runs for each statement: 45s, 2m, 500 probes, or 0 for none (default: {settings.AFTER_JUDGING})",
)
def judge(file: str, out: str | None, gap: str | None, at: tuple[Any, ...], budget: str, **how: Any) -> int:
    """Judge statements at points of their domains, then search for counterexamples.

    FILE.py is a Python file that defines statements; NAME is the name of a statement, or the variable that holds it.
    """
    from mipsim.referee.hunting.hunt import judge as judged

    return _each(
        file,
        out,
        gap,
        lambda statement, folder: judged(
            statement, list(at) or None, budget=budget, checkpoint=_probes(statement, folder, how), **how
        ),
    )


def _probes(statement: Statement, folder: Path | None, how: dict[str, Any]) -> Path | None:
    """The file that stores the probes of a hunt, beside the report."""
    return None if folder is None else folder / f"{statement.name}-{how['seed']}.jsonl"


@mipsim.command(
    epilog=examples(
        "mipsim hunt mine.py", "mipsim hunt mine.py:my-theorem --budget '500 probes' --out report"
    )
)
@_of_statements
@click.option(
    "--budget",
    default=settings.BUDGET,
    metavar="T",
    help=f"how long the search runs for each statement: 45s, 2m, 500 probes (default: {settings.BUDGET})",
)
def hunt(file: str, out: str | None, gap: str | None, budget: str, **how: Any) -> int:
    """Search the domains of statements for counterexamples.

    FILE.py is a Python file that defines statements; NAME is the name of a statement, or the variable that holds it.
    """
    from mipsim.referee.hunting.hunt import hunt as hunted
    from mipsim.referee.hunting.search import budget_of

    def hunt_statement(statement: Statement, folder: Path | None) -> Outcome:
        return hunted(statement, budget, checkpoint=_probes(statement, folder, how), **how)

    budget_of(budget)
    return _each(file, out, gap, hunt_statement)


def _each(
    file: str, out: str | None, gap: str | None, act: Callable[[Statement, Path | None], Outcome]
) -> int:
    """Load a file, act on each of its statements, and print and write what came of it; returns the exit status."""
    from mipsim._files import writable_folder
    from mipsim.referee.gap_units import gap_in, unit_of
    from mipsim.referee.loading import load

    if gap is not None:
        unit_of(gap)
    statements = load(file)
    folder = None if out is None else writable_folder("--out", Path(out))
    results: list[Outcome] = []

    try:
        with LeavingOnCtrlC():
            for statement in statements:
                results.append(act(statement, folder))
                say(str(results[-1]))
                if gap is not None:
                    say(f"  {gap_in(results[-1], gap)}")
                if folder is not None:
                    from mipsim.referee.reporting.page import report

                    say(f"  report: {printable(report(results, folder))}")
                if results[-1].interrupted:
                    return INTERRUPTED
    except KeyboardInterrupt:
        where = "" if out is None else f" and stored in {printable(out)}"
        done = f"{len(results)} finished{where}" if results else "nothing was judged"
        raise KeyboardInterrupt(f"mipsim: interrupted, {done}") from None
    return DONE if all(item.worst is not None for item in results) else FAILED


def _certified(of: str) -> Callable[[Any], Any]:
    words = f"write a certificate {of}, for mipsim check"
    return click.option("--certificate", type=PLACE, metavar="FILE", help=words)


@mipsim.command(
    epilog=examples(
        "mipsim audit scores.csv --design independent --runs 2000 --claim epsilon=2,delta=1e-5",
        "mipsim audit canaries.npz --design one-run --inclusion-probability 0.5 --out report",
        after="Designs. " + " ".join(f"{name}: {design.assumes}." for name, design in DESIGNS.items()),
    ),
)
@click.argument("scores", metavar="SCORES")
@click.option(
    "--design",
    type=click.Choice(tuple(DESIGNS)),
    help="how the scores were collected, which cannot be inferred from them: must be given",
)
@click.option(
    "--runs",
    type=Whole(1),
    metavar="N",
    help="how many training runs or games made the scores; for the design independent as many as there are scores",
)
@click.option("--claim", metavar="PROMISE", help=f"the promised guarantee: {FORMS}")
@click.option("--out", type=PLACE, metavar="DIR", help="write index.html and results.json here")
@click.option(
    "--confidence",
    type=CONFIDENCE_LEVEL,
    default=CONFIDENCE,
    metavar="C",
    help=f"confidence of each bound and of the verdict (default: {CONFIDENCE})",
)
@click.option(
    "--delta",
    type=Number(),
    metavar="D",
    help=f"at which epsilon is bounded (default: that of the claim, or {DELTA:g})",
)
@click.option(
    "--guesses",
    type=Whole(0),
    nargs=2,
    metavar="IN OUT",
    help="one-run: how many of the highest scores are guessed in, and of the lowest out, fixed before the scores were seen "
    "(default: several numbers, which share the failure probability)",
)
@click.option(
    "--inclusion-probability",
    type=Number(0, 1, min_open=True, max_open=True),
    metavar="Q",
    help="one-run: the probability with which each canary was put in, as it was set before the run (default: 0.5 where the column is named coin; else it must be stated)",
)
@click.option(
    "--rows",
    type=click.Choice(ROWS),
    help="runs: what a row is of, where score and member of an .npz are matrices of records and models",
)
@click.option(
    "--shadow",
    metavar="RUN,...",
    callback=lambda context, option, names: names and [name.strip() for name in names.split(",")],
    help="runs: names of the runs that only calibrate the scores of the others, chosen before the scores were seen",
)
@click.option(
    "--epsilon",
    type=Number(),
    metavar="E",
    help="also bound delta at this epsilon (default: that of the claim)",
)
@click.option(
    "--columns",
    metavar="ROLE=NAME,...",
    help="which column is which: score=loss,member=is_member; coin= for member where coins chose it, cluster=, run=, record=, or members=,non_members=",
)
@click.option(
    "--higher",
    type=click.Choice(("in", "out")),
    help='the world that higher scores indicate; out for losses (default: "in", and the output says so)',
)
@click.option(
    "--separator",
    metavar="S",
    help="of the cells of a text: a single character, or comma, tab, semicolon, bar, space",
)
@click.option("--json", "as_json", is_flag=True, help="print the result as JSON, as results.json holds it")
@_certified("of the lower bounds that counts alone prove")
def audit(scores: str, out: str | None, as_json: bool, certificate: str | None, **how: Any) -> None:
    """Compute lower bounds on the leakage that attack scores demonstrate.

    With --claim, test a promised guarantee against them. SCORES is a file: .csv, .tsv, .txt, .json or .npz. Its
    columns, or arrays, are score (higher = "in"); member, label or coin (1 = in the training set); cluster where rows
    share a cluster; and run (or model) and record for the design runs; or members and non_members. The arrays score and member of
    an .npz may be matrices of records and models, with --rows. Output of ml_privacy_meter, LeakPro, LiRA, TensorFlow
    Privacy, jax_privacy and PrivacyGuard is recognised. Without --design, what is missing is printed as a whole command.
    """
    from mipsim import audits
    from mipsim._files import writable_folder

    if out is not None:
        writable_folder("--out", Path(out), make=False)  # before the work; bad scores shall make no folder
    if how["design"] is None:
        raise click.UsageError(_completed(scores, how))
    try:
        result = audits.audit(scores, **how)
    except Unclear:
        raise click.UsageError(_completed(scores, how)) from None
    if as_json:
        import json

        from mipsim.referee.reporting.plain import plain

        say(json.dumps(plain(result.to_dict()), indent=1, allow_nan=False))
    else:
        say(str(result))
    if certificate is not None:
        from mipsim._certify import certify

        certify(result, certificate)
    if out is not None:
        from mipsim.referee.reporting.audit_page import report_audit

        page = printable(report_audit(result, writable_folder("--out", Path(out))))
        if not as_json:
            say(f"  report: {page}")


def _completed(scores: str, how: dict[str, Any]) -> str:
    """What the command of an audit lacks, all of it at once, with the whole command."""
    from mipsim.audits.scores import read_scores

    reading = {name: how[name] for name in ("columns", "higher", "separator", "rows")}
    lacks, added, known = [], dict[str, str](), None
    while known is None and "NAME" not in added.get("columns", ""):
        try:
            known = read_scores(scores, **reading | added)
        except Unclear as error:
            lacks.append(error.what.removeprefix(f"{printable(scores)}: ") if lacks else error.what)
            added[error.option] = error.value
    design, whose, other = how["design"], "", ""
    if design is None:
        lacks.append("--design is missing")
        design = (
            "clustered" if known and known.cluster.size else "runs" if known and known.run.size else "one-run"
        )
        added["design"] = design
        if design == "one-run":
            runs = "N" if known is None else known.values.size
            other = f", or --design independent --runs {runs} if each score has a training of its own"
    if (
        design == "one-run"
        and how["inclusion_probability"] is None
        and not (known and known.column == "coin")
    ):
        added["inclusion-probability"] = "0.5"
        whose = " if fair coins chose canaries of a single training"
    if design == "independent" and how["runs"] is None:
        added["runs"] = "N" if known is None else str(known.values.size)
        whose = " if each score has a training of its own"
    options = [word for name, value in added.items() for word in (f"--{name}", value)]
    command = shlex.join(["mipsim", "audit", scores, *_given_options(), *options])
    say = f"; say {command}{whose}{other}"
    return shortened(", and ".join(lacks), max(40, MOST - len("mipsim: ") - len(say))) + say


def _given_options() -> list[str]:
    """The options with which the command was called, as words of a shell."""
    context, words = click.get_current_context(), []
    for option in context.command.params:
        name = option.name or ""
        if context.get_parameter_source(name) is not ParameterSource.COMMANDLINE or isinstance(
            option, click.Argument
        ):
            continue
        value = context.params[name]
        several = (
            value if isinstance(value, tuple) else [",".join(value) if isinstance(value, list) else value]
        )
        words += [option.opts[0], *([] if value is True else map(str, several))]
    return words


def _repeated(name: str, metavar: str, words: str) -> Callable[[Any], Any]:
    return click.option(name, multiple=True, type=Number(), metavar=metavar, help=words)


class _Named(click.ParamType):
    """Numbers with their names, such as noise=1,rate=0.01,steps=500; a name without a usual value must be given."""

    def __init__(self, name: str, kinds: dict[str, type], usual: dict[str, str], example: str) -> None:
        self.name, self._kinds, self._usual, self._example = name, kinds, usual, example

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        parts = [part.strip().partition("=") for part in str(value).split(",")]
        named = {name: word for name, _, word in parts}
        why = next((f"{quoted(name)} is none of its names" for name in named if name not in self._kinds), "")
        known = []
        for name, kind in self._kinds.items() if not why else ():
            try:
                known.append(kind((self._usual | named).get(name, "")))
            except ValueError:
                why = f"its {name} is {quoted(named[name])}" if name in named else f"its {name} is missing"
                break
        if why or len(named) < len(parts):
            why = why or "a name is given twice"
            self.fail(f"is {quoted(value)}: {why}; write such as {self._example}", param, ctx)
        return tuple(known)


def _sampled(name: str, what: str) -> Callable[..., Any]:
    return click.option(name, type=click.Choice(tuple(SCHEMES)), help=what)


@mipsim.command(
    epilog=examples(
        "mipsim account --noise-multiplier 1 --sampling-rate 0.01 --steps 1000",
        "mipsim account --noise-multiplier 1 --sampling-rate 0.01 --steps 1000 --sampling random_allocation --delta 1e-6",
        "mipsim account --noise-multiplier 0.5 --sampling-rate 0.001 --steps 1000 --implemented shuffled --accounted poisson",
        "mipsim account --phase noise=1,rate=0.01,steps=500 --phase noise=1.5,rate=0.02,steps=500",
        "mipsim account train.toml --claim epsilon=8,delta=1e-5",
        after=FIND_NOISE
        + "Every number is shown with two proven ends, rounded outwards. What no theorem covers is refused in a sentence. "
        "With a claim, the exit status is 0 if it is CONFIRMED and else 1.",
    ),
)
@click.argument("config", required=False, metavar="[CONFIG]")
@click.option(
    "--noise-multiplier",
    type=Number(0, min_open=True),
    metavar="S",
    help="the standard deviation of the noise over the clipping norm",
)
@click.option(
    "--sampling-rate",
    type=Number(),
    metavar="P",
    help="the probability that a record takes part in a step; 1 / T for epochs of T steps (default: 1)",
)
@click.option("--steps", type=Whole(1), metavar="N", help="steps in all (default: 1)")
@click.option(
    "--phase",
    "phases",
    multiple=True,
    type=_Named(
        "phase",
        {"noise": float, "rate": float, "steps": int},
        {"rate": "1", "steps": "1"},
        "noise=1,rate=0.01,steps=500",
    ),
    metavar="noise=S,rate=P,steps=N",
    help="instead of these three, a part of a training that changes them on its way; repeated for each part",
)
@click.option(
    "--neighbours",
    type=click.Choice(NEIGHBOURS),
    help="what differs between the data sets (default: add_or_remove)",
)
@click.option(
    "--group",
    type=Whole(1),
    metavar="K",
    help="how many records are removed, added or replaced together; above 1 with poisson alone (default: 1)",
)
@_sampled("--sampling", "how records are sampled (default: poisson)")
@_sampled("--implemented", "how the implementation samples, to be compared with --accounted")
@_sampled("--accounted", "what the accountant assumes")
@_repeated("--delta", "D", "print epsilon at this delta; may be repeated (default: 1e-5)")
@_repeated("--epsilon", "E", "print delta at this epsilon; may be repeated (default: 1)")
@_repeated("--fpr", "A", "print the TPR at this FPR; may be repeated (default: 0.1, 0.01, 0.001)")
@click.option(
    "--normalise",
    type=click.Choice(NORMALISE),
    help="by what noisy sums are divided: a number that neighbours share (default), the floor of rate times records, or the batch that came",
)
@click.option(
    "--data-size",
    type=Whole(2),
    metavar="N",
    help="records of the larger of both data sets, where CONFIG or --normalise needs them",
)
@click.option(
    "--dimension",
    type=Whole(1),
    metavar="D",
    help="coordinates of a gradient, for the test that refuses floor (default: 1000)",
)
@click.option(
    "--claim",
    type=_Named("claim", {"epsilon": float, "delta": float}, {}, "epsilon=8,delta=1e-5"),
    metavar="epsilon=E,delta=D",
    help="judge this claim: CONFIRMED, REFUTED or INCONCLUSIVE",
)
@click.option("--json", "as_json", is_flag=True, help="print JSON instead of a table")
@_certified("of the numbers")
def account(
    config: str | None,
    sampling: str | None,
    implemented: str | None,
    accounted: str | None,
    as_json: bool,
    certificate: str | None,
    **how: Any,
) -> int:
    """Bound what DP-SGD leaks: epsilon, delta, advantage, TPR at FPR and mu, each from both sides.

    CONFIG is a file .toml, .json or .yaml of a training run: noise_multiplier, batch_size and data_size (or sampling_rate), epochs or steps,
    sampling, and a claimed epsilon and delta, in these or other usual spellings. What it does not say may stand beside it: --sampling,
    --neighbours, --data-size, --group, --normalise, --dimension, --claim. It stands in the place of the other options of a training.
    With --implemented and --accounted, say which differences between two ways of sampling are proven.
    """
    if (implemented is None) != (accounted is None):
        raise click.UsageError("--implemented and --accounted must be given together")
    for option, value in {
        "--sampling": sampling,
        "--claim": how["claim"],
        "--certificate": certificate,
    }.items():
        if implemented is not None and value is not None:
            raise click.UsageError(f"{option} is given beside --implemented; it must be left out")
    import json

    from mipsim.tradeoff import account as accounting

    how = {name: value for name, value in how.items() if value != () and value is not None}
    if config is not None:
        if not config.lower().endswith(ENDINGS):
            raise click.UsageError(f"CONFIG is {quoted(config)}; it must end in {', '.join(ENDINGS)}")
        if implemented is not None or "noise_multiplier" in how:
            raise click.UsageError(
                "CONFIG stands beside --noise-multiplier or --implemented; leave these out"
            )
        how["noise_multiplier"] = config
    result = accounting(sampling=implemented or sampling, **how)
    if accounted is not None:
        result = result.compare(accounting(sampling=accounted, **how))
    say(json.dumps(result.to_dict(), indent=1) if as_json else str(result))
    if certificate is not None:
        from mipsim._certify import certify

        certify(result, certificate)  # pyright: ignore[reportArgumentType]  # no comparison: see above
    return DONE if getattr(result, "verdict", "") in ("", "CONFIRMED") else FAILED


@mipsim.command(epilog=examples("mipsim check certificate.json"))
@click.argument("file", metavar="FILE")
def check(file: str) -> int:
    """Check a certificate of account or audit in ball arithmetic: ACCEPTED, or REJECTED.

    The same program runs without mipsim, with python-flint alone: python mipsim/check.py FILE. Exit status: 0 if ACCEPTED, 1 if REJECTED,
    2 if the file is malformed or asks for more than the program decides.
    """
    from mipsim._extras import optional

    optional("flint", "certificates", "check")
    from mipsim import check as checker

    return checker.main([file])

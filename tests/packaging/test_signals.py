"""How signals end a command, in processes of the test's own."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import mipsim as mi
from mipsim import nn
from mipsim import referee as rf
from mipsim._signals import interruptible
from mipsim.exact.dispatch import exact_law
from mipsim.referee.judging.compare_exact import compare_exact
from tests.faults.processes import listens

pytestmark = pytest.mark.system

ROOT = Path(__file__).parents[2]
PROGRAM = """
import os, signal
from mipsim._signals import ending_on_signals, interruptible
signal.signal(signal.SIGINT, signal.default_int_handler)
{ignored}
@interruptible
def call():
    os.kill(os.getpid(), signal.{name})
    os.write(1, b"went on")
try:
    with ending_on_signals(lambda: "stopped"):
        call()
except KeyboardInterrupt as stop:
    print(stop)
assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_every_signal_leaves_a_call_by_a_keyboard_interrupt(name):
    for ignored, out in (("", "stopped\n"), (f"signal.signal(signal.{name}, signal.SIG_IGN)", "went on")):
        if name == "SIGTERM" and ignored:
            continue
        ended = program(PROGRAM, ignored=ignored, name=name)
        assert (ended.returncode, ended.stdout, ended.stderr) == (0, out, "")


def test_every_long_public_call_is_guarded():
    calls = (
        *(mi.play, mi.play_many, mi.play_targets, mi.decide, exact_law, compare_exact),
        *(mi.audits.audit, rf.judge, rf.hunt),
        *(nn.train, nn.shadow_models, nn.per_example_gradients, nn.features),
    )
    guard = interruptible(lambda: None).__code__
    assert not [call for call in calls if call.__code__ is not guard]


TRACING = """
import signal, sys
import jax
from mipsim import _precision, _signals

if {control}:
    _signals._sets_state = _signals._enters_or_leaves = lambda *_: False

def pressing(frame, event, _):
    code, caller = frame.f_code, frame.f_back.f_code.co_name
    if (event, code.co_name, caller) == {place!r} and code.co_filename.endswith({file!r}):
        sys.settrace(None)
        signal.getsignal(signal.SIGINT)(signal.SIGINT, frame)
    return pressing

def state():
    return jax.config.jax_enable_x64, jax.config.jax_debug_infs, jax._src.core.trace_state_clean()

jax.config.update("jax_debug_infs", True)
signal.signal(signal.SIGINT, signal.default_int_handler)
before = state()
try:
    with _signals.LeavingOnCtrlC():
        sys.settrace(pressing)
        with _precision.exact_scope("float32"):
            jax.jit(lambda x: jax.numpy.sin(x).sum()).trace(1.0)
except KeyboardInterrupt as stop:
    at_hand = stop  # as the interactive prompt keeps it
    print("left", state() == before)
"""
SETTING = {
    "jax/_src/core.py": ("return", "set_trace", "__enter__"),
    "jax/_src/config.py": ("call", "__exit__", "exact_scope"),
    "contextlib.py": ("return", "__enter__", "<module>"),
}
"""File -> what happens there, in which function, called by which."""


@pytest.mark.parametrize("control", [False, True])
@pytest.mark.parametrize("file", SETTING)
def test_ctrl_c_leaves_no_setting_of_jax_behind(file, control):
    """A tracer of the call that was left, or float64, was met by the next call of the process."""
    ended = program(TRACING, file=file, place=SETTING[file], control=control)
    assert (ended.stdout, ended.stderr) == (f"left {not control}\n", "")


DROPPING = """
import gc, signal, time
from mipsim._signals import LeavingOnCtrlC

def press(*_):
    signal.raise_signal(signal.SIGINT)

class Dropped:
    def __del__(self):
        press()

def in_gc():
    gc.callbacks.append(press)
    gc.collect()
    gc.callbacks.remove(press)

def in_del():
    Dropped()

def in_a_broad_except():
    try:
        press()
    except BaseException:
        pass

def as_another_error():
    try:
        press()
    except BaseException:
        error = RuntimeError("INTERNAL: callback failed")
    raise error

def in_the_last_moment():
    in_del()

signal.signal(signal.SIGINT, signal.default_int_handler)
if {control}:
    LeavingOnCtrlC.__enter__ = lambda self: None
try:
    with LeavingOnCtrlC():
        {how}()
        end = time.monotonic() + 60 * ({how} is not in_the_last_moment and not {control})
        while time.monotonic() < end:
            pass
except KeyboardInterrupt:
    print("left")
except RuntimeError:
    print("another error")
else:
    print("went on")
assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL and signal.getsignal(signal.SIGINT) is signal.default_int_handler
"""
WAYS = ["in_gc", "in_del", "in_a_broad_except", "as_another_error", "in_the_last_moment"]


IMPORTING = """
import signal, sys
import mipsim as mi
from mipsim import _signals

if {control}:
    _signals.LeavingOnCtrlC.__enter__ = lambda self: None

class Pressing:
    def find_spec(self, name, *_):
        if name == {module!r}:
            signal.raise_signal(signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Pressing())
try:
    {use}
except KeyboardInterrupt:
    print("left")
del sys.meta_path[0]
print({use})
"""
USES = [
    ("mi.GaussianTradeOff(1.0).mu", "numpy.linalg", "1.0", True),
    ("mi.nn.linear((2,), 2).dimension()", "flax.linen", "6", False),
    ("mi.referee.Real(0.0, 1.0).high", "mipsim.referee.domain", "1.0", False),
    ("mi.tradeoff.NoncentralChiSquareTradeOff(3.0, 0.0, 1.0).beta(0.0)", "jaxlib.cpu._sparse", "1.0", True),
    ("mi.plot(mi.GaussianTradeOff(1.0)) is None", "matplotlib.ticker", "False", True),
]
"""A first use, the module in whose import Ctrl-C is pressed, what is printed, and whether half an import is lost without the block."""


@pytest.mark.parametrize(("use", "module", "printed", "lost"), USES)
def test_ctrl_c_in_a_first_use_leaves_whole_modules(use, module, printed, lost):
    """NumPy, JAX and Matplotlib fail in the same process once an import of theirs was cut short."""
    ended = program(IMPORTING, use=use, module=module, control=False)
    assert (ended.returncode, ended.stdout) == (0, f"left\n{printed}\n"), ended.stderr
    control = program(IMPORTING, use=use, module=module, control=True)
    assert (control.returncode == 0) is not lost, control


def program(text: str, **given: object) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-c", text.format(**given)]
    return subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("how", WAYS)
def test_a_dropped_ctrl_c_still_leaves_the_block(how):
    """And says nothing; without the block it is lost."""
    ended = program(DROPPING, how=how, control=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "left\n", "")
    control = program(DROPPING, how=how, control=True)
    assert control.stdout == ("another error\n" if how == "as_another_error" else "went on\n")


CLEANING = """
import os, signal, threading, time
from mipsim._signals import LeavingOnCtrlC
signal.signal(signal.SIGINT, signal.default_int_handler)
def presses():
    for _ in range(100):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)
    done.set()
done = threading.Event()
presser = threading.Thread(target=presses)
try:
    with LeavingOnCtrlC():
        try:
            presser.start()
            time.sleep(60)
        finally:
            while not done.is_set():
                try:
                    raise ValueError
                except ValueError:
                    time.sleep(0.001)
            time.sleep(0.3)
            print("cleaned")
except KeyboardInterrupt:
    print("left", threading.active_count())
time.sleep(0.3)
print("once")
"""


def test_further_presses_do_not_cut_short_what_cleans_up():
    ended = program(CLEANING)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "cleaned\nleft 1\nonce\n", "")


def test_an_interrupted_command_waits_for_no_thread_at_its_end():
    thread = "import threading, time\nthreading.Thread(target=time.sleep, args=(600,)).start()\n"
    for status, stays in ((130, False), (0, True)):
        try:
            words = [sys.executable, "-c", f"{thread}from mipsim._signals import ended\nended({status})"]
            assert subprocess.run(words, cwd=ROOT, timeout=20 - 15 * stays).returncode == 130
        except subprocess.TimeoutExpired:
            assert stays


RACING = """
import os, random, signal, sys, time
import mipsim._signals
from mipsim._signals import LeavingOnCtrlC

mipsim._signals.AGAIN = 0.0005
hook, left = sys.unraisablehook, 0
signal.signal(signal.SIGINT, signal.default_int_handler)
parent, child = os.getpid(), os.fork()
if not child:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    random.seed(1)
    while os.getppid() == parent:
        time.sleep(random.uniform(0.0, 0.001))
        os.kill(parent, signal.SIGINT)
while left < 1000:
    try:
        while left < 1000:
            try:
                with LeavingOnCtrlC(), LeavingOnCtrlC():
                    pass
            except KeyboardInterrupt:
                left += 1
    except KeyboardInterrupt:  # outside the blocks
        pass
while child:
    try:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        child = 0
        time.sleep(0.1)
    except (KeyboardInterrupt, ProcessLookupError, ChildProcessError):
        pass
assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL and signal.getsignal(signal.SIGINT) is signal.default_int_handler
assert sys.unraisablehook is hook
print("as before")
"""


def test_a_press_while_a_block_is_entered_or_left_leaves_no_handler_behind():
    ended = program(RACING)
    assert (ended.returncode, ended.stdout) == (0, "as before\n"), ended.stderr


ENTERING = """
import signal, time
from mipsim._signals import LeavingOnCtrlC
signal.signal(signal.SIGINT, signal.default_int_handler)
setting = signal.signal
def slowly(number, handler):
    setting(number, handler)
    if number == signal.SIGINT and isinstance(handler, LeavingOnCtrlC):
        signal.raise_signal(number)
        time.sleep(0.3)
signal.signal = slowly
try:
    with LeavingOnCtrlC():
        time.sleep(60)
except KeyboardInterrupt:
    print("left")
"""


def test_an_alarm_before_its_handler_is_set_does_not_end_the_process():
    ended = program(ENTERING)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "left\n", "")


WRITING = """
import os, signal
from mipsim import _files, _signals

_signals.begin()
os.fsync = lambda _: signal.raise_signal(signal.{name})
_files.replace_file({folder!r} + "/counts.npz", b"counts")
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_during_a_write_leaves_nothing_beside_the_file(name, tmp_path):
    assert program(WRITING, name=name, folder=str(tmp_path)).returncode == 128 + signal.Signals[name]
    assert not list(tmp_path.iterdir())


CHANGING_HANDS = """
import gc, sys
from mipsim import _signals

if {control}:
    _signals.gc = type("Eager", (), dict(disable=gc.collect, enable=gc.collect, isenabled=gc.isenabled))
collected = 0

def collecting(*_):
    global collected
    frame = sys._getframe()
    while frame is not None and frame.f_code not in _signals._ENTERING_AND_LEAVING:
        frame = frame.f_back
    collected += frame is not None

gc.callbacks.append(collecting)
gc.set_threshold(1)
for _ in range(50):
    with _signals.LeavingOnCtrlC():
        held = [[] for _ in range(9)]
assert gc.isenabled()
print(collected > 0)
"""


@pytest.mark.parametrize("control", [False, True])
def test_no_garbage_is_collected_while_a_block_is_entered_or_left(control):
    """A press of 300 was lost there: what a handler raises in a callback of the collector goes nowhere."""
    assert program(CHANGING_HANDS, control=control).stdout == f"{control}\n"


COLLECTING = """
import gc, runpy, signal, sys, threading
from mipsim import _signals

if {control}:
    _signals.LeavingOnCtrlC.__enter__ = lambda self: signal.signal(signal.SIGINT, signal.default_int_handler)

def press(*_):
    handler = signal.getsignal(signal.SIGINT)
    listens = handler is signal.default_int_handler or isinstance(handler, _signals.LeavingOnCtrlC)
    if listens and threading.current_thread() is threading.main_thread():
        gc.callbacks.remove(press)
        gc.set_threshold(700)
        signal.raise_signal(signal.SIGINT)

signal.signal(signal.SIGINT, signal.SIG_DFL)
gc.set_threshold(100)
gc.callbacks.append(press)
sys.argv[1:] = {words}
runpy.run_module({module!r}, run_name="__main__", alter_sys=True)
"""


@pytest.mark.parametrize("module", ["verify", "mipsim"])
def test_ctrl_c_while_garbage_is_collected_ends_a_command(tmp_path, module):
    """Without the block it is dropped there, and the command runs to its end."""
    (tmp_path / "true.py").write_text(STATEMENT)
    out = ["--out", str(tmp_path / "report")]
    words = {
        "verify": ["izzo-thm-8", "--scale", "quick", *out],
        "mipsim": ["judge", str(tmp_path / "true.py"), "--budget", "20 probes", *out],
    }[module]
    ended = program(COLLECTING, module=module, words=words, control=False)
    assert (ended.returncode, "nterrupted" in ended.stdout + ended.stderr) == (130, True), ended
    assert "Exception ignored" not in ended.stderr
    control = program(COLLECTING, module=module, words=words, control=True)
    assert control.returncode == 0, control


STATEMENT = """
from mipsim import referee as rf
true = rf.Statement(
    name="true", says="x <= x + 1.", source="nobody", kind=rf.Bound(), domain={"x": rf.Real(0.0, 1.0)},
    claimed=lambda x: x + 1, truth=lambda x: x,
)
"""
COMMANDS = {
    "hunt": ("mipsim", "hunt", "true.py", "--budget", "10m"),
    "judge": ("mipsim", "judge", "true.py", "--budget", "10m"),
    "audit": ("mipsim", "audit", "scores.csv", "--design", "independent", "--runs", "20000"),
    "sims": ("sims", "run", "azize_fig2_easy", "--games", "1000000000000"),
    "verify": ("verify", "azize-thm-4*", "--out", "verdicts"),
    "figures": ("figures", "azize_fig2", "--scale", "full", "--out", "plotted"),
    "faults": ("tests.faults",),
}
linux = pytest.mark.skipif(sys.platform != "linux", reason="/proc tells when a process handles its signals")


def interrupt(
    folder: Path, words: tuple[str, ...], kind: signal.Signals, delay: float, presses: int = 1, **how
):
    """Start a command, send a signal to it and its children `delay` seconds after it listens, and return what it ended with."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [sys.executable, "-m", *words], cwd=folder, env=environment, text=True, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, **how,
    )  # fmt: skip
    try:
        end = time.monotonic() + 120
        while not listens(process.pid):
            assert process.poll() is None
            assert time.monotonic() < end
            time.sleep(0.002)
        time.sleep(delay)
        for _ in range(presses):
            if process.poll() is None:
                os.killpg(process.pid, kind)
                time.sleep(0.01)
        _, text = process.communicate(timeout=300)
    finally:
        process.kill()
        process.wait()
    return process.returncode, text


@linux
@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_ctrl_c_in_the_first_seconds_is_a_single_sentence(tmp_path, words):
    """From the first line of the command on, while JAX is imported, and pressed three times.

    `audit` answers within a second or two, so that a late signal may meet a command that has ended by itself.
    """
    (tmp_path / "true.py").write_text(STATEMENT)
    rows = "".join(f"{0.001 * (i * i % 997)},{i % 2}\n" for i in range(20_000))
    (tmp_path / "scores.csv").write_text("score,member\n" + rows)
    for delay in (0.0, 0.05, 0.2, 0.5):
        status, text = interrupt(tmp_path, words, signal.SIGINT, delay, presses=3 if delay == 0.2 else 1)
        if words[1:2] == ("audit",) and delay > 0.2 and (status, text) == (0, ""):
            continue
        assert status == 130, (delay, status, text)
        assert text.count("\n") == 1, (delay, text)
        assert "interrupted" in text.lower(), (delay, text)


@linux
def test_a_command_that_ignores_ctrl_c_ends_on_sigterm(tmp_path):
    """As a script's background has it."""
    (tmp_path / "true.py").write_text(STATEMENT.replace("x + 1,", "__import__('time').sleep(600),"))

    words = ("sh", "-c", 'trap "" INT; exec "$0" -m mipsim judge true.py --out report', sys.executable)
    environment, pipe = os.environ | {"PYTHONPATH": str(ROOT)}, subprocess.PIPE
    process = subprocess.Popen(words, cwd=tmp_path, env=environment, text=True, stdout=pipe, stderr=pipe)
    try:
        end = time.monotonic() + 120
        while not (tmp_path / "report").is_dir():  # it is made before the first statement is judged
            assert time.monotonic() < end
            time.sleep(0.05)
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        time.sleep(0.2)
        assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        _, text = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 143, text
    assert text.splitlines()[-1] == "mipsim: interrupted, nothing was judged"


def test_a_command_listens_before_it_imports_what_takes_time():
    """Until then Ctrl-C is Python's own, which prints a traceback."""
    text = "import sys; before = set(sys.modules); import mipsim._signals; print(*set(sys.modules) - before)"
    done = program(text)
    assert done.returncode == 0
    assert not {"typing", "re", "click", "numpy", "scipy", "jax"} & set(done.stdout.split())

"""Shards in a real queue of Slurm's and on processes of a real MPI, both on this machine, where they are installed."""

import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import pytest

import mipsim as mi
from tests.engine.ports import free_port

pytestmark = pytest.mark.system

ROOT = Path(__file__).parents[2]
DATA = mi.Bernoulli([0.3, 0.6])
GAME = mi.FixedTarget(mi.EmpiricalMean(), DATA, n=10, target=[1.0, 0.0])
ATTACK = mi.CovarianceScore(DATA, n=10)
DAEMONS = ("munged", "slurmctld", "slurmd", "sbatch")
CONFIG = """ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthInfo=socket={folder}/munge.s
SlurmctldPort={controller}
SlurmdPort={node}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/controller.pid
SlurmdPidFile={folder}/node.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
KillWait=2
SchedulerParameters=sched_interval=1
MpiDefault=none
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES State=UP
"""


def output_of(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, timeout=30, check=False).stdout


def wait_until(condition, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.2)


@pytest.fixture
def queue(monkeypatch):
    """Slurm with a single node and no accounting, as small clusters have it; its sockets need a short path."""
    pytest.importorskip("submitit", reason="submitit is not installed: the extra clusters brings it")
    if missing := [name for name in DAEMONS if shutil.which(name) is None]:
        pytest.skip(f"Slurm is not installed on this machine: no {missing[0]}")
    if os.geteuid() != 0:
        pytest.skip("Slurm's daemons start jobs as root only")
    folder = Path(tempfile.mkdtemp(prefix="slurm"))
    (folder / "state").mkdir()
    (folder / "spool").mkdir()
    key = folder / "munge.key"
    key.write_bytes(secrets.token_bytes(128))
    key.chmod(0o400)
    config, host = folder / "slurm.conf", os.uname().nodename.partition(".")[0]
    config.write_text(CONFIG.format(folder=folder, host=host, controller=free_port(), node=free_port()))
    monkeypatch.setenv("SLURM_CONF", str(config))
    munge = [f"--{name}={folder}/munge.{end}" for name, end in (("socket", "s"), ("key-file", "key"))]
    munge += [f"--{name}-file={folder}/munge.{name}" for name in ("log", "pid", "seed")]
    daemons = [
        subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for command in (["munged", "-F", "-f", *munge], ["slurmctld", "-D"], ["slurmd", "-D", "-N", host])
    ]
    try:
        wait_until(lambda: output_of("sinfo", "--noheader", "--format=%T").strip() == "idle")
        yield folder
    finally:
        output_of("scancel", "--user=root")
        with suppress(AssertionError):
            wait_until(lambda: not output_of("squeue", "--noheader").split(), seconds=15.0)
        for daemon in daemons:
            daemon.kill()  # when requested to end, a node waits for the controller; no job is left
            daemon.wait(timeout=30)
        shutil.rmtree(folder, ignore_errors=True)


def play(games: int, path: Path, executor=None, chunk: int = 65_536) -> bytes:
    mi.play(
        GAME, ATTACK, games, 3, chunk=chunk, progress=False, checkpoint=path, executor=executor, workers=2
    )
    return path.read_bytes()


def running() -> list[str]:
    return output_of("squeue", "--noheader", "--states=running", "--format=%i").split()


def test_the_file_of_jobs_is_that_of_one_run(queue, tmp_path):
    import submitit

    requested = 2 * 65_536
    counts = play(requested, tmp_path / "slurm.npz", submitit.SlurmExecutor(folder=str(tmp_path / "jobs")))
    assert counts == play(requested, tmp_path / "here.npz")


def test_ctrl_c_leaves_no_job_in_the_queue(queue, tmp_path):
    words = "-m sims run azize_fig2_easy --games 1e8 --executor slurm --shards-in-flight 2 --out"
    command, pipe = [sys.executable, *words.split(), str(tmp_path)], subprocess.PIPE
    run = subprocess.Popen(command, cwd=ROOT, stdout=pipe, stderr=pipe, text=True)
    wait_until(lambda: len(running()) == 2)
    run.send_signal(signal.SIGINT)
    _, errors = run.communicate(timeout=60)
    assert run.returncode == 130
    assert "interrupted; finished chunks are stored" in errors
    wait_until(lambda: not output_of("squeue", "--noheader", "--states=pending,running").split())


@pytest.mark.parametrize("start", [["mpirun", "-n", "2"], []], ids=["by mpirun", "workers started by MPI"])
def test_mpi_gives_the_file_of_one_run(start, tmp_path, monkeypatch):
    pytest.importorskip("mpi4py", reason="mpi4py is not installed: the extra clusters brings it")
    if shutil.which("mpirun") is None:
        pytest.skip("MPI is not installed on this machine: no mpirun")
    for name in ("ALLOW_RUN_AS_ROOT", "ALLOW_RUN_AS_ROOT_CONFIRM", "MCA_rmaps_base_oversubscribe"):
        monkeypatch.setenv(f"OMPI_{name}", "1")
    common = ["sims", "run", "azize_fig2_hard", "--games", "40000", "--chunk", "16384", "--out"]
    pool = [*start, sys.executable, *(["-m", "mpi4py.futures"] if start else []), "-m"]
    for command in ([*pool, *common, "mpi", "--executor", "mpi"], [sys.executable, "-m", *common, "here"]):
        where = command.index("--out") + 1
        command[where] = str(tmp_path / command[where])
        subprocess.run(command, cwd=ROOT, capture_output=True, check=True, timeout=120)
    mine, theirs = ((tmp_path / name / "azize_fig2_hard-0.npz").read_bytes() for name in ("here", "mpi"))
    assert mine == theirs

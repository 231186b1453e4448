"""Jobs of a Slurm that keeps no accounting, whose queue alone knows that they ended; the queue is a script here."""

import pytest

from mipsim.engine import executors

pytestmark = pytest.mark.system


class Job:
    """What submitit knows of a job: `state` from the accounting, and whether its result is in the folder."""

    job_id = "7"

    def __init__(self, state: str = "UNKNOWN", done: bool = False):
        self.state, self._done = state, done

    def done(self) -> bool:
        return self._done


@pytest.fixture
def squeue(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(executors, "_LATE", 0.0)

    def says(states: str, error: str = "") -> None:
        script = tmp_path / "squeue"
        status = int(bool(error))
        script.write_text(f"#!/bin/sh\nprintf '{states}'\nprintf '{error}' >&2\nexit {status}\n")
        script.chmod(0o755)

    return says


@pytest.mark.parametrize("states", ["CANCELLED\\n", "NODE_FAIL\\n", "FAILED\\nTIMEOUT\\n", "COMPLETED\\n"])
def test_a_job_that_ended_without_a_result_is_lost(squeue, states):
    squeue(states)
    first = states.split("\\")[0]
    with pytest.raises(RuntimeError, match=f"job 7 of Slurm ended without a result: {first}"):
        executors._refuse_lost_job(Job())
    executors._refuse_lost_job(Job(done=True))  # its result came late
    executors._refuse_lost_job(Job("RUNNING"))  # the accounting knows better


def test_a_job_that_the_queue_has_forgotten_is_lost(squeue):
    squeue("", "slurm_load_jobs error: Invalid job id specified")
    with pytest.raises(RuntimeError, match="forgotten"):
        executors._refuse_lost_job(Job())


@pytest.mark.parametrize(
    "states",
    [
        "PENDING\\n", "RUNNING\\n", "COMPLETING\\n", "PREEMPTED\\n", "REQUEUE_HOLD\\n",
        "FAILED\\nRUNNING\\n", "",
    ],
)  # fmt: skip
def test_a_job_that_may_go_on_is_waited_for(squeue, states):
    squeue(states)
    executors._refuse_lost_job(Job())


def test_a_queue_that_does_not_answer_decides_nothing(squeue, tmp_path, monkeypatch):
    squeue("", "Unable to contact slurm controller")
    executors._refuse_lost_job(Job())
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    executors._refuse_lost_job(Job())

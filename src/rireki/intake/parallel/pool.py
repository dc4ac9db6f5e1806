"""A few worker processes that share a list of tasks; what they answer comes back as it is ready.

A worker that dies takes nothing with it: its task comes back as failed, to be
done by the caller. So do all tasks where no worker can be started.
"""

from __future__ import annotations

import os
import pickle
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from queue import Queue
from typing import IO, Any, NamedTuple

from rireki.intake.memory import use_sparingly
from rireki.intake.parallel.spawn import Worker, spawn
from rireki.intake.parallel.worker import receive, send

__all__ = ["WorkerPool", "LostTask", "processors"]

#: Answers that wait to be written; bounds memory when the writer is slower than the workers.
WAITING = 6
#: What is to fit into a pipe, where the system lets us choose: whenever one is full, two
#: processes have to take turns.
PIPE = 1 << 20


class LostTask(NamedTuple):
    """A task whose worker died before it was done, or that none was there for."""

    task: Any


def processors() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


class WorkerPool:
    def __init__(self, size: int, *, copies: bool = False) -> None:
        """`copies` of this process are there sooner, but may not open the archive."""
        # A crew is there for much work, and its answers are large.
        use_sparingly()
        self.workers: list[Worker] = []
        # The user may have no more processes, or Python may have been moved since we started.
        with suppress(OSError):
            for _ in range(size):
                self.workers.append(spawn(copies))
        for worker in self.workers:
            _widen(worker.answers)
        #: Whether an answer that was just given is the last for the time being.
        self.waits = False

    def __enter__(self) -> WorkerPool:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self.workers:
            worker.kill()
            worker.wait()

    def run(self, tasks: Sequence[Any]) -> Iterator[Any]:
        """The answers to all tasks, in whatever order they come."""
        waiting = iter(tasks)
        lock = threading.Lock()
        answers: Queue[bytes | LostTask | None] = Queue(WAITING)

        def following() -> Any:
            with lock:
                return next(waiting, None)

        def serve(worker: Worker) -> None:
            while (task := following()) is not None:
                if not _perform(worker, task, answers):
                    answers.put(LostTask(task))
            answers.put(None)

        running = 0
        # Threads count as processes where a user may have only so many.
        with suppress(RuntimeError):
            for worker in self.workers:
                threading.Thread(target=serve, args=(worker,), daemon=True).start()
                running += 1
        while running:
            answer = answers.get()
            if answer is None:
                running -= 1
            elif isinstance(answer, LostTask):
                yield answer
            else:
                found = pickle.loads(answer)
                for left, one in enumerate(found, 1 - len(found)):
                    self.waits = left == 0 and answers.empty()
                    yield one
        yield from map(LostTask, waiting)


def _widen(pipe: IO[bytes]) -> None:
    if sys.platform == "linux":
        # Imported late: Windows lacks it.
        import fcntl

        # Users may have only so much of it.
        with suppress(OSError):
            fcntl.fcntl(pipe.fileno(), fcntl.F_SETPIPE_SZ, PIPE)


def _perform(worker: Worker, task: Any, answers: Queue[bytes | LostTask | None]) -> bool:
    """Let a worker do a task; False when it is dead.

    Answers are passed on as they came: unpickling them here would take turns with the writer.
    """
    try:
        send(worker.tasks, task)
        last = False
        while not last:
            data, last = receive(worker.answers)
            answers.put(data)
    except (EOFError, OSError, ValueError):
        # ValueError: the crew was sent home meanwhile, and the pipe is closed.
        return False
    return True

"""One queue per model: a thread that does the work of all visitors in turn, with progress, and lets it be cancelled."""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from sqlalchemy.exc import SQLAlchemyError

from assay.core.errors import AssayError
from assay.core.interrupts import Cancelled, cancellable
from assay.web.database import why_unsaved

LOG = logging.getLogger("assay.web")
LONGEST = 64  # tasks that may wait for one model
REMEMBERED = 500  # tasks that have ended
State = Literal["waiting", "running", "done", "failed", "cancelled"]
UNEXPECTED = "Assay failed unexpectedly; its log has the details. Please report them."


class BusyError(AssayError):
    """Too many tasks are waiting."""


@dataclass(eq=False)
class Task:
    """A piece of work: what it is for, how far it is, and what came out."""

    work: Callable[[Task], Any]
    about: Any = None  # what was asked for
    id: str = field(default_factory=lambda: secrets.token_urlsafe(16))
    state: State = "waiting"
    now: str = ""  # what is being done
    done: int = 0
    total: int = 1
    count: Callable[[], int] | None = None  # counts what is done, where nobody calls `step`
    meter: Callable[[], int] = int  # counts the sequences that ran through the model
    result: Any = None
    error: str = ""
    cancelled: bool = False
    ended: threading.Event = field(default_factory=threading.Event)

    @property
    def progress(self) -> int:
        return self.done if self.count is None else self.count()

    def step(self, now: str, done: int, total: int) -> None:
        self.now, self.done, self.total = now, done, total

    def cancel(self) -> None:
        self.cancelled = True


class ModelQueue:
    """Tasks of one model, first come, first served."""

    def __init__(self, name: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.name, self.clock = name, clock
        self._waiting: deque[Task] = deque()
        self._tasks: OrderedDict[str, Task] = OrderedDict()
        self._ready = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name=f"queue of {name}", daemon=True)
        self._thread.start()

    def add(self, work: Callable[[Task], Any], about: Any = None) -> Task:
        """Queue a function; it is given its task, to report progress."""
        task = Task(work, about)
        with self._ready:
            if len(self._waiting) >= LONGEST:
                raise BusyError(f"{LONGEST} explanations are waiting for this model. Try again in a minute.")
            self._waiting.append(task)
            self._tasks[task.id] = task
            self._forget()
            self._ready.notify()
        return task

    def find(self, task_id: str) -> Task | None:
        with self._ready:
            return self._tasks.get(task_id)

    def before(self, task: Task) -> int:
        """How many tasks are done first."""
        with self._ready:
            return next((i for i, other in enumerate(self._waiting, 1) if other is task), 0)

    def cancel(self, task: Task) -> None:
        """End a task: at once if it waits, and before its next pass through the model if it runs."""
        task.cancel()
        with self._ready:
            if task in self._waiting:
                self._waiting.remove(task)
                _do(task)

    def close(self) -> None:
        """End the thread; the running task is cancelled."""
        with self._ready:
            self._closed = True
            for task in self._tasks.values():
                task.cancel()
            self._ready.notify()
        self._thread.join(timeout=30)

    def _forget(self) -> None:
        """Forget the oldest tasks that have ended."""
        for task_id in [i for i, task in self._tasks.items() if task.ended.is_set()][:-REMEMBERED]:
            del self._tasks[task_id]

    def _run(self) -> None:
        while True:
            with self._ready:
                while not self._waiting and not self._closed:
                    self._ready.wait()
                if self._closed:
                    return
                task = self._waiting.popleft()
            _do(task)


def _do(task: Task) -> None:
    def before_a_pass() -> None:
        if task.cancelled:
            raise Cancelled

    try:
        before_a_pass()
        task.state = "running"
        with cancellable(before_a_pass):
            task.result = task.work(task)
        task.state = "done"
    except Cancelled:
        task.state = "cancelled"
    except AssayError as error:
        task.state, task.error = "failed", str(error)
    except SQLAlchemyError as error:
        LOG.error("the database failed", exc_info=error)
        task.state, task.error = "failed", why_unsaved(error)
    except Exception as error:
        LOG.error("a task failed", exc_info=error)
        task.state, task.error = "failed", UNEXPECTED
    finally:
        task.ended.set()

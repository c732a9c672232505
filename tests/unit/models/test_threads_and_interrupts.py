"""Threads that share a model get their own scores, and Ctrl-C leaves the model as it was."""

from __future__ import annotations

import random
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
import torch

import assay
from assay.core import interrupts
from assay.models.target import Targets
from families import fresh

TEXTS = ["the film is bright and funny", "a dull and heavy film", "it is bright", "funny and heavy and dull"]
METHODS = ["gradient", "average_attention", "value_zeroing", "deep_lift", "decompx", "occlusion", "alti"]


@pytest.fixture(autouse=True)
def ctrl_c():
    """Python's own handler, also where the tests run in the background, which ignores Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def state(model):
    """All that Assay changes for a moment."""
    hf = model.hf
    return (
        [m.training for m in hf.modules()],
        [len(m._forward_hooks) + len(m._forward_pre_hooks) + len(m._backward_hooks) for m in hf.modules()],
        [(p.requires_grad, p.data_ptr()) for p in hf.parameters()],
        hf.config._attn_implementation,
        model._frozen,
        torch.backends.mkldnn.enabled,
        signal.getsignal(signal.SIGINT),
    )


WATCHED = ("contextlib.py", "hooks.py", "model.py", "exclusive.py", "interrupts.py")  # what changes and restores


class Press:
    """Ctrl-C at the n-th line that runs in the watched files; a timer would hardly ever hit the few that matter."""

    def __init__(self, line):
        self.line, self.lines = line, 0

    def __call__(self, frame, event, arg):
        if not frame.f_code.co_filename.endswith(WATCHED):
            return None
        self.lines += event == "line"
        if self.lines == self.line and event == "line":
            signal.raise_signal(signal.SIGINT)
        return self


def interrupted(call, line):
    """Run `call` with Ctrl-C at a line; whether it was raised, and the number of lines that ran."""
    press = Press(line)
    sys.settrace(press)
    try:
        call()
    except KeyboardInterrupt:
        return True, press.lines
    finally:
        sys.settrace(None)
    return False, press.lines


def randomised(model):
    with model.with_blocks({0: model.reinitialised(0, 0)}):
        assay.explain(model, TEXTS[:2], "gradient")


def attacked(model):
    batch = model.batch([model.encode(assay.Example(TEXTS[0]))])
    embeddings = model.embeddings(batch).detach().requires_grad_()
    model.gradients(replace(batch, embeddings=embeddings), Targets((assay.Target(0),), "logit"))


def explained(method):
    return lambda model: assay.explain(model, TEXTS, method)


def compare_interrupts(tries):
    """Interrupt at random lines; the model must be the same after each."""
    model, draw = fresh("bert"), random.Random(0)
    model.hf.train()
    work = [lambda call=call: call(model) for call in (randomised, attacked, *map(explained, METHODS))]
    for call in work:
        call()  # modules are imported now: Ctrl-C in an import is Python's affair
    lines, before = [interrupted(call, 0)[1] for call in work], state(model)
    for attempt in range(tries):
        chosen = draw.randrange(len(work))
        raised, _ = interrupted(work[chosen], draw.randint(1, lines[chosen]))
        assert raised
        assert state(model) == before, f"changed by attempt {attempt}"


def test_ctrl_c_leaves_the_model_as_it_was():
    compare_interrupts(60)


@pytest.mark.faults
def test_ctrl_c_leaves_the_model_as_it_was_a_thousand_times():
    compare_interrupts(1000)


def pressed(times, then=lambda: None):
    with interrupts.deferred(), interrupts.deferred():
        for _ in range(times):
            signal.raise_signal(signal.SIGINT)
        then()


def test_ctrl_c_is_raised_at_the_next_safe_place():
    done = []
    with pytest.raises(KeyboardInterrupt):
        pressed(1, lambda: (done.append("went on"), interrupts.check(), done.append("not reached")))
    assert done == ["went on"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_is_raised_at_the_end_of_the_outer_context():
    done = []
    with pytest.raises(KeyboardInterrupt):
        pressed(2, lambda: done.append("went on"))
    assert done == ["went on"]
    interrupts.check()  # the last one is forgotten ...
    pressed(0, interrupts.check)  # ... here too


def test_three_presses_are_raised_at_once():
    done = []
    with pytest.raises(KeyboardInterrupt):
        pressed(3, lambda: done.append("went on"))
    assert done == []


def compare_threads(model, calls, seed=0):
    draw = random.Random(seed)
    tasks = [(draw.choice(METHODS), draw.choice(TEXTS)) for _ in range(calls)]
    expected = {task: assay.explain(model, task[1], task[0]).scores.tolist() for task in set(tasks)}
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda task: assay.explain(model, task[1], task[0]).scores.tolist(), tasks))
    return sum(result != expected[task] for task, result in zip(tasks, results, strict=True))


def test_threads_that_share_a_model_get_the_scores_of_one():
    assert compare_threads(fresh("bert"), 48) == 0


@pytest.mark.faults
def test_threads_that_share_a_model_get_the_scores_of_one_in_480_calls():
    assert compare_threads(fresh("bert"), 480) == 0


def test_threads_with_two_wrappers_of_one_model():
    model = fresh("bert")
    short = model.limited(16)
    texts = TEXTS * 3
    expected = assay.explain(model, texts, "average_attention")
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda m: assay.explain(m, texts, "average_attention"), [model, short])
    for results in (first, second):
        assert all((a.scores == b.scores).all() for a, b in zip(results, expected, strict=True))


def test_a_thread_never_sees_weights_replaced_by_another():
    model = fresh("bert")
    expected = assay.explain(model, TEXTS[0], "gradient").scores
    replaced, explained = threading.Event(), []

    def explain():
        replaced.wait()
        explained.append(assay.explain(model, TEXTS[0], "gradient").scores)

    thread = threading.Thread(target=explain)
    thread.start()
    with model.with_blocks({0: model.reinitialised(0, 0)}):
        replaced.set()
        thread.join(0.3)
        assert thread.is_alive()  # it waits
    thread.join()
    assert (explained[0] == expected).all()

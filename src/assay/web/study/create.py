"""The administrator creates a study in the browser, from the models and the data of the server."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, get_args

from fastapi import APIRouter, Depends, Request
from starlette.exceptions import HTTPException
from starlette.responses import Response, StreamingResponse

from assay.api.create_study import create_study
from assay.core.errors import AssayError, InputError, SpecError
from assay.core.spec import split
from assay.human.prepare import PART
from assay.human.settings import CONSENT, Colours, HumanStudy, Kind, Order
from assay.web.explain.models import Explaining, ServedModel
from assay.web.explain.routes import PATIENCE, events
from assay.web.pages import page, see_other
from assay.web.queue import Task
from assay.web.site import part_of
from assay.web.study.part import Place, place_of
from assay.web.visitor import Administrator

router = APIRouter(prefix="/study/manage/new")
ADDRESS = "/study/manage/new"
EXAMPLES = 5000  # that the page may ask for
LONGEST = 10_000  # characters of a field
CHOICES = {"kind": get_args(Kind), "colours": get_args(Colours), "order": get_args(Order)}
NUMBERS = ("annotators", "per_participant", "repeats", "practice", "seed")


async def _typed(request: Request) -> dict[str, str]:
    return {name: value for name, value in (await request.form()).items() if isinstance(value, str)}


@router.get("")
def form_page(request: Request, visitor: Administrator) -> Response:
    """The form; while the study is prepared, its progress; afterwards, the page that manages it."""
    place = place_of(request)
    if place.folder is not None:
        return see_other("/study/manage")
    if place.task is None:
        return _form(request, place, _defaults(_explaining(request)))
    if not place.task.ended.is_set():
        served = _served(request, place.typed)
        values: dict[str, Any] = {"task": place.task, "before": served.queue.before(place.task), "model": served.title}
        return page(
            request, "web/explain/task.html.jinja", title="Preparing the study", address=ADDRESS, unit="example",
            **values,
        )  # fmt: skip
    problem = place.task.error or "The preparation was cancelled. What was prepared is kept for the same settings."
    return _form(request, place, place.typed, problem)


@router.post("")
def create(request: Request, visitor: Administrator, typed: Annotated[dict[str, str], Depends(_typed)]) -> Response:
    place = place_of(request)
    if place.folder is not None or (place.task is not None and not place.task.ended.is_set()):
        return see_other(ADDRESS)
    try:
        _check_lengths(typed)
        served = _served(request, typed)
        wanted = _wanted(typed, served)
        data = _explaining(request).data
        if data is None:
            raise InputError("the server has no data to draw examples from; start it again with --data")

        def work(task: Task) -> None:
            task.step("Explaining", 0, wanted["examples"])
            task.count = lambda: _prepared(place)
            place.folder = create_study(served.model, data, place.path, progress=False, **wanted)

        place.typed, place.task = typed, served.queue.add(work)
    except AssayError as error:
        return _form(request, place, typed, str(error))
    place.task.ended.wait(PATIENCE)
    return see_other(ADDRESS)


@router.get("/events")
def progress(request: Request, visitor: Administrator) -> StreamingResponse:
    place = place_of(request)
    if place.task is None:
        raise HTTPException(404)
    headers = {"Cache-Control": "no-store"}
    served = _served(request, place.typed)
    return StreamingResponse(events(served, place.task), media_type="text/event-stream", headers=headers)


@router.post("/cancel")
def cancel(request: Request, visitor: Administrator) -> Response:
    place = place_of(request)
    if place.task is not None:
        _served(request, place.typed).queue.cancel(place.task)
        place.task.ended.wait(2.0)
    return see_other(ADDRESS)


def _explaining(request: Request) -> Explaining:
    """The models and the data of the server, which the explain page shows too."""
    state: Explaining = part_of(request, "explain")
    return state


def _served(request: Request, typed: Mapping[str, str]) -> ServedModel:
    return _explaining(request).model(typed.get("model", ""))


def _prepared(place: Place) -> int:
    """Examples that are ready."""
    part = place.path / PART
    return len(part.read_bytes().splitlines()) if part.is_file() else 0


def _defaults(state: Explaining) -> dict[str, str]:
    study = HumanStudy()
    shown = {name: getattr(study, name) for name in (*CHOICES, *NUMBERS)}
    examples = 100 if state.data is None else min(100, max(1, len(state.data) - study.practice))
    given = {"examples": examples, "methods": ", ".join(state.first.first_methods), "consent": CONSENT, **shown}
    return {name: "" if value is None else str(value) for name, value in given.items()}


def _check_lengths(typed: Mapping[str, str]) -> None:
    for name, value in typed.items():
        if len(value) > LONGEST:
            raise InputError(f"{name} has {len(value):,} characters; give at most {LONGEST:,}")


def _wanted(typed: Mapping[str, str], served: ServedModel) -> dict[str, Any]:
    """The arguments of `create_study`; what they mean is checked there."""
    metrics = split(typed.get("metrics", ""))
    if wrong := [metric for metric in metrics if not re.fullmatch(r"\w+", metric)]:
        raise SpecError(f"{wrong[0]!r} is not the name of a metric; `assay list metrics` shows all")
    texts = {name: typed[name] for name in ("question", "instructions", "title") if typed.get(name, "").strip()}
    numbers = {name: _number(name, typed[name]) for name in NUMBERS if typed.get(name, "").strip()}
    choices = {name: typed[name] for name in CHOICES if typed.get(name)}
    examples = _number("examples", typed.get("examples", ""))
    if not 1 <= examples <= EXAMPLES:
        raise InputError(f"examples: {examples} was given; give 1 to {EXAMPLES:,}")
    return {
        "methods": [served.method(spec) for spec in split(typed.get("methods", ""))],
        "examples": examples,
        "metrics": metrics,
        "consent": typed.get("consent", "").strip(),
        **texts,
        **numbers,
        **choices,
    }


def _number(name: str, value: str) -> int:
    if not re.fullmatch(r"\d{1,6}", value.strip()):
        raise InputError(f"{name}: {value[:20]!r} is not a whole number; give one, such as 10")
    return int(value)


def _form(request: Request, place: Place, typed: Mapping[str, str], problem: str = "") -> Response:
    state = _explaining(request)
    served = state.models.get(typed.get("model", ""), state.first)
    return page(
        request,
        "web/study/create.html.jinja",
        status=400 if problem else 200,
        title="Create the study",
        models=list(state.models.values()),
        data=state.data,
        typed=typed,
        problem=problem,
        choices=CHOICES,
        known=sorted(name for group in served.groups.values() for name in group),
    )

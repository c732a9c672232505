"""The addresses of the explain page."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Depends, File, Form, Path, Query, Request, UploadFile
from pydantic import StringConstraints
from starlette.datastructures import UploadFile as Upload
from starlette.exceptions import HTTPException
from starlette.responses import Response, StreamingResponse

from assay.core.errors import AssayError, InputError
from assay.core.printable import shortened
from assay.core.types import Example, Span
from assay.datasets.pixels import as_picture, as_pil
from assay.web.explain import downloads, saved
from assay.web.explain.models import Explaining, ServedModel
from assay.web.explain.view import view
from assay.web.explain.wanted import Typed, Wanted, check
from assay.web.explain.work import Explained, explain
from assay.web.pages import page, see_other
from assay.web.queue import Task
from assay.web.site import Site, part_of, site_of
from assay.web.visitor import member

router = APIRouter(prefix="/explain", dependencies=[Depends(member)])
PATIENCE = 0.6  # seconds to wait for a quick explanation before showing progress
TICK = 0.15  # seconds between looks at a task
LISTED = 500  # examples of the data in the list
Id = Annotated[str, Path(min_length=22, max_length=22, pattern=r"^[\w-]+$")]
Words = Annotated[str, Form()]
Short = Annotated[str, Form(max_length=2000)]  # whatever is compared with known names


def typed_form(
    model: Short = "", text: Words = "", text_pair: Words = "", kept_image: Short = "", more_methods: Short = "",
    target: Short = "", against: Short = "", units: Short = "", removal: Short = "", base: Short = "",
    methods: Annotated[list[Annotated[str, StringConstraints(max_length=2000)]] | None, Form()] = None,
) -> Typed:  # fmt: skip
    return Typed(
        model, text, text_pair, kept_image, tuple(methods or ()), more_methods, target, against, units, removal, base
    )


@router.get("")
def form_page(
    request: Request,
    model: Annotated[str, Query(max_length=100)] = "",
    example: Annotated[int | None, Query(ge=0)] = None,
) -> Response:
    """The empty form, or one filled with an example of the data."""
    state = _state(request)
    served = state.model(model)
    typed = Typed(served.id, methods=served.first_methods)
    if example is not None:
        typed = _with_example(typed, served, state, example, site_of(request))
    return _page(request, state, served, typed)


@router.post("")
async def submit(
    request: Request,
    typed: Annotated[Typed, Depends(typed_form)],
    image: Annotated[UploadFile | str | None, File()] = None,
    remove: Short = "",
) -> Response:
    """Explain what was typed: at once if that is quick, and else behind a page of progress."""
    content = await image.read(saved.LARGEST + 1) if isinstance(image, Upload) and image.filename else None
    return await asyncio.to_thread(_submit, request, typed, content, remove)


def _submit(request: Request, typed: Typed, content: bytes | None, remove: str) -> Response:
    state, site = _state(request), site_of(request)
    served = state.model(typed.model)
    try:
        if content is not None:
            typed = replace(typed, image=saved.save_image(site.database, content))
        wanted = _removed(site, typed.base, remove) if remove else _compared(site, check(typed, served))
        served = state.model(wanted.model)
        explanation = saved.explanation_id(wanted, served)
        if not saved.has(site.database, explanation):
            task = _start(site, served, wanted, explanation)
            if not task.ended.wait(PATIENCE):
                return see_other(f"/explain/tasks/{task.id}")
            if task.state == "failed":
                raise AssayError(task.error)
    except AssayError as error:
        return _page(request, state, served, typed, problem=str(error))
    return see_other(f"/explain/{explanation}#result")


@router.get("/tasks/{task_id}")
def task_page(request: Request, task_id: Id) -> Response:
    """Progress; once it has ended, the explanation, or the form again with what went wrong."""
    state = _state(request)
    served, task = _task(state, task_id)
    if task.state == "done":
        return see_other(f"/explain/{task.result}#result")
    if task.ended.is_set():
        problem = task.error if task.state == "failed" else "The explanation was cancelled."
        return _page(request, state, served, task.about.typed(), problem=problem)
    return page(
        request, "web/explain/task.html.jinja", title="Explaining", task=task, before=served.queue.before(task),
        model=served.title, address=f"/explain/tasks/{task.id}", unit="method",
    )  # fmt: skip


@router.get("/tasks/{task_id}/events")
def task_events(request: Request, task_id: Id) -> StreamingResponse:
    """Progress as server-sent events; the last one is called `ended`."""
    served, task = _task(_state(request), task_id)
    return StreamingResponse(
        events(served, task), media_type="text/event-stream", headers={"Cache-Control": "no-store"}
    )


@router.post("/tasks/{task_id}/cancel")
def cancel(request: Request, task_id: Id) -> Response:
    served, task = _task(_state(request), task_id)
    served.queue.cancel(task)
    task.ended.wait(2.0)
    return see_other(f"/explain/tasks/{task.id}")


@router.get("/{explanation}")
def explanation_page(request: Request, explanation: Id) -> Response:
    """What a permanent link shows."""
    state, explained = _state(request), _explained(request, explanation)
    served = state.models.get(explained.wanted.model)
    typed = replace(explained.wanted.typed(), base="")
    if served is None or tuple(served.model.labels) != explained.wanted.labels:
        served = None
    return _page(request, state, served, typed, explanation=explanation, explained=explained)


@router.get("/{explanation}/{kind}")
def download(request: Request, explanation: Id, kind: downloads.Kind) -> Response:
    """The explanation as a page, as JSON, or as a picture."""
    content, media_type = downloads.make(_explained(request, explanation), kind)
    name = f'attachment; filename="explanation-{explanation[:8]}.{kind}"'
    return Response(content, media_type=media_type, headers={"Content-Disposition": name})


# --- inputs ------------------------------------------------------------------------------------------------------


def _compared(site: Site, wanted: Wanted) -> Wanted:
    """A request that is compared with an earlier one explains the same class as that."""
    if wanted.base is None:
        return wanted
    before = saved.load(site.database, wanted.base)
    if before is None or before.wanted.model != wanted.model:
        return replace(wanted, base=None)
    if wanted.target is None:
        wanted = replace(wanted, target=_label_of(before))
    return wanted


def _removed(site: Site, base: str, place: str) -> Wanted:
    """An earlier request without a word or a patch; compared with what that was compared with."""
    before = saved.load(site.database, base)
    if before is None:
        raise InputError("the explanation that this belongs to is not on the server (any more)")
    wanted = replace(before.wanted.without(place), base=before.wanted.base or base, target=_label_of(before))
    if wanted.image is None and not (wanted.text or "").strip():
        raise InputError("this is the only word; there would be no text left")
    patches = len(next(iter(before.attributions.values())))
    if wanted.removed and (wanted.removed[-1] >= patches or len(wanted.removed) == patches):
        raise InputError("this is the last patch, or there is no such patch; the image would be empty")
    return wanted


def _label_of(explained: Explained) -> int | None:
    """The class that was explained."""
    if explained.probabilities is None:
        return None
    label = next(iter(explained.attributions.values())).target.label
    return None if label is None else int(label)


def _with_example(typed: Typed, served: ServedModel, state: Explaining, index: int, site: Site) -> Typed:
    if state.data is None or index >= len(state.data):
        raise InputError(f"there is no example {index} in the data of this server")
    example = state.data[index]
    if not served.images:
        return replace(typed, text=example.text or "", text_pair=example.text_pair or "")
    if example.image is None:
        raise InputError(f"example {index} has no image, and this model reads images")
    out = io.BytesIO()
    picture = as_picture(example.image)
    (picture if hasattr(picture, "save") else as_pil(picture)).save(out, "PNG")
    return replace(typed, image=saved.save_image(site.database, out.getvalue()))


def _start(site: Site, served: ServedModel, wanted: Wanted, explanation: str) -> Task:
    removed = tuple(Span(0, patch, patch + 1) for patch in wanted.removed)

    def work(task: Task) -> str:  # tasks that wait or have ended are kept, and a decoded image may have 120 MB
        image = None if wanted.image is None else saved.load_image(site.database, wanted.image)
        example = Example(wanted.text, wanted.text_pair, image, id="0", removed=removed)
        saved.save(site.database, explanation, explain(served, wanted, example, task))
        return explanation

    return served.queue.add(work, about=wanted)


# --- pages -------------------------------------------------------------------------------------------------------


def _state(request: Request) -> Explaining:
    state: Explaining = part_of(request, "explain")
    return state


def _page(
    request: Request, state: Explaining, served: ServedModel | None, typed: Typed, *, problem: str = "",
    explanation: str = "", explained: Explained | None = None,
) -> Response:  # fmt: skip
    before = None
    if explained is not None and explained.wanted.base is not None:
        before = saved.load(site_of(request).database, explained.wanted.base)
    form = served or state.first
    return page(
        request,
        "web/explain/page.html.jinja",
        status=400 if problem else 200,
        title="Explain a prediction",
        models=list(state.models.values()),
        served=form,
        known=served is not None,
        typed=typed if served is not None else Typed(form.id, methods=form.first_methods),
        examples=_examples(state, form),
        problem=problem,
        explanation=explanation,
        view=None if explained is None else view(explained, before),
    )


def _examples(state: Explaining, served: ServedModel) -> list[str]:
    """Lines for the list of examples; none if the model cannot read them."""
    lines: list[str] = []
    if state.data is None or (state.data[0].image is not None) != served.images:
        return lines
    for i, example in enumerate(state.data[:LISTED]):
        label = "" if example.label is None else f" ({shortened(str(_name(state, example)), 30)})"
        lines.append(f"{i}: {shortened(example.text or 'image', 60)}{label}")
    return lines


def _name(state: Explaining, example: Example) -> Any:
    names = state.data.labels if state.data is not None else None
    return names[example.label] if names and isinstance(example.label, int) else example.label


def _explained(request: Request, explanation: str) -> Explained:
    explained = saved.load(site_of(request).database, explanation)
    if explained is None:
        raise HTTPException(404)
    return explained


def _task(state: Explaining, task_id: str) -> tuple[ServedModel, Task]:
    for served in state.models.values():
        if (task := served.queue.find(task_id)) is not None and isinstance(task.about, Wanted):
            return served, task
    raise HTTPException(404)


async def events(served: ServedModel, task: Task) -> AsyncIterator[str]:
    last = None
    while not task.ended.is_set():
        now = {
            "waiting": served.queue.before(task), "method": task.now, "done": task.progress, "total": task.total,
            "passes": task.meter(), "cancelled": task.cancelled,
        }  # fmt: skip
        if now != last:
            last = now
            yield f"data: {json.dumps(now)}\n\n"
        await asyncio.sleep(TICK)
    yield "event: ended\ndata: {}\n\n"

"""The pages of participants: consent, dashboard, and one page per task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Form, Request
from fastapi import Path as InPath
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, Response

from assay.core.errors import InputError
from assay.core.printable import printable
from assay.human.answers import LONGEST, content_of, fields_of
from assay.human.tasks import Task
from assay.web.pages import page, see_other
from assay.web.study.answers import CLOSED, Participant
from assay.web.study.maps import plain_input, shown_maps, size_of
from assay.web.study.part import NO_STUDY, PerhapsStudy, Running, Study, TakingPart
from assay.web.visitor import LoggedIn

router = APIRouter(prefix="/study")
Number = Annotated[int, InPath(ge=1, le=100_000)]


async def _typed(request: Request) -> dict[str, str]:
    """The fields of a form, whose names depend on the task."""
    return {name: value for name, value in (await request.form()).items() if isinstance(value, str)}


Typed = Annotated[dict[str, str], Depends(_typed)]
MANY = 12  # answers above which a list folds


@router.get("")
def dashboard(request: Request, study: PerhapsStudy, visitor: LoggedIn) -> Response:
    """Consent before the first visit; instructions and the state of all tasks afterwards."""
    if study is None and visitor.is_administrator:
        return see_other("/study/manage/new")
    if study is None:
        raise InputError(NO_STUDY)
    found = study.answers.participant(visitor.account)
    title, closed = study.folder.title, study.answers.closed
    if found is None:
        return page(
            request, "web/study/consent.html.jinja", title=title, study=study.folder.study, closed=closed, error=""
        )
    tasks, done = study.folder.tasks(found.seat), study.answers.answers_of(found)
    following = next((task.number + 1 for task in tasks if task.number not in done), None)
    values: dict[str, Any] = {"tasks": tasks, "done": done, "following": following, "closed": closed}
    return page(request, "web/study/dashboard.html.jinja", title=title, study=study.folder.study, **values)


@router.post("/join")
def join(
    request: Request, study: Study, visitor: LoggedIn, agree: Annotated[str, Form(max_length=10)] = ""
) -> Response:
    settings = study.folder.study
    if settings.consent and agree != "yes":
        error = "Tick the box if you agree to take part."
        values: dict[str, Any] = {
            "title": study.folder.title,
            "study": settings,
            "closed": study.answers.closed,
            "error": error,
        }
        return page(request, "web/study/consent.html.jinja", status=400, **values)
    assert visitor.account is not None
    study.answers.join(visitor.account)
    return see_other("/study")


@router.get("/tasks/{number}")
def task_page(request: Request, study: Study, mine: TakingPart, number: Number) -> Response:
    task = _task(study, mine, number)
    answer, closed = study.answers.state(mine, task.number)
    fields = {} if answer is None else fields_of(task, answer.content, study.folder.study.kind)
    comment = "" if answer is None else answer.comment
    return _page(request, study, mine, task, fields, comment, closed=closed)


@router.post("/tasks/{number}")
def answer_task(request: Request, study: Study, mine: TakingPart, number: Number, given: Typed) -> Response:
    """Save an answer and go on. A wrong one comes back with all that was typed."""
    task, comment = _task(study, mine, number), printable(given.get("comment", "").replace("\r\n", "\n"))
    back = given.get("go") == "previous"
    if back and not comment and not any(_fields(given).values()):
        return see_other(_address(study, mine, task.number - 1))
    try:
        content = content_of(study.folder, task, given)
        if len(comment) > LONGEST:
            raise InputError(f"The comment has {len(comment):,} characters; at most {LONGEST:,} are kept. Shorten it.")
    except InputError as error:
        return _page(request, study, mine, task, _fields(given), comment, str(error), back=back)
    study.answers.save(mine, task.number, content, comment)
    return see_other(_address(study, mine, task.number + (-1 if back else 1)))


@router.get("/tasks/{number}/picture.png")
def picture(study: Study, mine: TakingPart, number: Number) -> Response:
    """The image of one of the participant's own tasks."""
    return _picture(study, _task(study, mine, number).item)


@router.get("/tasks/{number}/asked.png")
def asked_picture(study: Study, mine: TakingPart, number: Number) -> Response:
    """The image whose answer is guessed."""
    return _picture(study, study.folder.asked(_task(study, mine, number).item))


def _picture(study: Running, item: int | None) -> Response:
    path = None if item is None else study.folder.picture(item)
    if path is None or not path.is_file():
        raise HTTPException(404)
    return FileResponse(path, media_type="image/png", headers={"Cache-Control": "private, max-age=3600"})


def _page(
    request: Request,
    study: Running,
    mine: Participant,
    task: Task,
    fields: Mapping[str, str],
    comment: str,
    error: str = "",
    *,
    back: bool = False,
    closed: bool = False,
) -> Response:
    folder, item = study.folder, study.folder.items[task.item]
    asked = folder.asked(task.item)
    return page(
        request,
        "web/study/task.html.jinja",
        status=400 if error else 200,
        title=f"{'Practice' if task.practice else 'Example'} {task.number + 1}",
        study=folder.study,
        number=task.number + 1,
        total=len(folder.tasks(mine.seat)),
        practice=task.practice,
        answer=None if asked == task.item else item.answer,  # an answer that is guessed must not be shown
        input=plain_input(item),
        size=size_of(item) if item.boxes else None,
        maps=shown_maps(folder, item, task.codes),
        new=None if asked in (None, task.item) else plain_input(folder.items[asked or 0]),
        options=() if asked is None else folder.items[asked].options,
        folded=len(item.options) > MANY,
        fields=fields,
        comment=comment,
        longest=LONGEST,
        error=error or (CLOSED if closed else ""),
        closed=closed,
        leave=_address(study, mine, task.number - 1) if back else "",
    )


def _task(study: Running, mine: Participant, number: int) -> Task:
    tasks = study.folder.tasks(mine.seat)
    if number > len(tasks):
        raise HTTPException(404)
    return tasks[number - 1]


def _address(study: Running, mine: Participant, number: int) -> str:
    """The page of a task (counted from 0); the dashboard before the first and after the last."""
    inside = 0 <= number < len(study.folder.tasks(mine.seat))
    return f"/study/tasks/{number + 1}" if inside else "/study"


def _fields(given: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in given.items() if name.startswith("rank-") or name in ("better", "guess")}

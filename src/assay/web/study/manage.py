"""The administrator's page of a study: progress, invitations, closing, export and results."""

from __future__ import annotations

import json
from collections import Counter
from typing import Annotated

from fastapi import APIRouter, Form, Request
from starlette.responses import HTMLResponse, Response

from assay.core.errors import InputError
from assay.human.export import rows_of, to_csv
from assay.human.results import HumanResults
from assay.human.results_page import results_page
from assay.web.pages import page, see_other
from assay.web.security import REPORT_POLICY
from assay.web.site import site_of
from assay.web.study.part import Running, Study
from assay.web.visitor import Administrator

router = APIRouter(prefix="/study/manage")


@router.get("")
def manage_page(request: Request, study: Study, visitor: Administrator) -> Response:
    return _page(request, study)


@router.post("/invite")
def invite(
    request: Request, study: Study, visitor: Administrator, uses: Annotated[int, Form(ge=1, le=1000)] = 1
) -> Response:
    secret = site_of(request).accounts.invite("participant", f"study {study.folder.id}", uses)
    return _page(request, study, f"{str(request.base_url).rstrip('/')}/invitation?key={secret}")


@router.post("/close")
def close(request: Request, study: Study, visitor: Administrator) -> Response:
    study.answers.close()
    return see_other("/study/manage")


@router.post("/open")
def open_again(request: Request, study: Study, visitor: Administrator) -> Response:
    """Names of methods have been shown by then, so it is only for participants who do not know them."""
    study.answers.close(False)
    return see_other("/study/manage")


@router.get("/answers.csv")
def export_csv(study: Study, visitor: Administrator) -> Response:
    return _download(to_csv(rows_of(study.folder, study.answers.answers(), _names(study))), "text/csv", "answers.csv")


@router.get("/answers.json")
def export_json(study: Study, visitor: Administrator) -> Response:
    rows = rows_of(study.folder, study.answers.answers(), _names(study))
    return _download(json.dumps(rows, ensure_ascii=False, indent=1), "application/json", "answers.json")


@router.get("/results")
def results(study: Study, visitor: Administrator) -> Response:
    if not study.answers.closed:
        raise InputError("Results name the methods, so they are shown when the study is closed.")
    html = results_page(HumanResults.of(study.folder, study.answers.answers()))
    return HTMLResponse(html, headers={"Content-Security-Policy": REPORT_POLICY, "Cache-Control": "no-store"})


def _names(study: Running) -> dict[str, str]:
    """The methods of a closed study; before that, their codes."""
    return study.folder.methods() if study.answers.closed else {code: code for code in study.folder.codes}


def _download(text: str, media: str, name: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
    return Response(text.encode("utf-8", "backslashreplace"), media_type=f"{media}; charset=utf-8", headers=headers)


def _page(request: Request, study: Running, link: str = "") -> Response:
    folder, answers = study.folder, study.answers.answers()
    done = Counter(answer.seat for answer in answers)
    people = [(person, done[person.seat], len(folder.tasks(person.seat))) for person in study.answers.participants()]
    tasks = [folder.tasks(answer.seat)[answer.task] for answer in answers]
    judged = Counter(task.item for task in tasks if not task.practice and task.repeats is None)
    full = sum(judged[item] >= folder.study.annotators for item in folder.examples)
    return page(
        request,
        "web/study/manage.html.jinja",
        title="Manage the study",
        folder=folder,
        people=people,
        full=full,
        answers=len(answers),
        comments=[(answer.participant, answer.task + 1, answer.comment) for answer in answers if answer.comment],
        closed=study.answers.closed,
        link=link,
    )

"""The part of the application that holds a study: its state, and who sees it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.concurrency import run_in_threadpool

from assay.human.folder import StudyFolder
from assay.web.database import Database
from assay.web.site import Part, Site, part_of, site_of
from assay.web.study.answers import SCHEMA, Participant, StudyDatabase
from assay.web.visitor import LoggedIn, NotAllowedError, Visitor

NAME = "study"


@dataclass(frozen=True)
class Running:
    """The study that a server runs."""

    folder: StudyFolder
    answers: StudyDatabase


def study_part(path: str | Path) -> Part:
    from assay.web.study import manage, pages  # they use `Running`

    router = APIRouter()
    router.include_router(pages.router)
    router.include_router(manage.router)
    return Part(NAME, "Study", "/study", router, _shown, StudyFolder.open(path), SCHEMA)


def answers_in(database: Database, folder: StudyFolder) -> StudyDatabase:
    return StudyDatabase(database, folder.id)


async def running(request: Request) -> Running:
    """The study; made once for a server, because it remembers seats."""
    known: Running | None = getattr(request.app.state, NAME, None)
    if known is None:
        folder: StudyFolder = part_of(request, NAME)
        known = request.app.state.study = Running(folder, answers_in(site_of(request).database, folder))
    return known


def _shown(site: Site, visitor: Visitor) -> bool:
    return visitor.account is not None


async def participant(study: Study, visitor: LoggedIn) -> Participant:
    """The participant who is logged in; the only one whose tasks and answers a request can reach."""
    assert visitor.account is not None
    found = study.answers.seats.get(visitor.account.id)  # a thread only for a seat that is not known yet
    found = found or await run_in_threadpool(study.answers.participant, visitor.account)
    if found is None:
        raise NotAllowedError("You do not take part in this study yet. Open the page Study and agree to take part.")
    return found


Study = Annotated[Running, Depends(running)]
TakingPart = Annotated[Participant, Depends(participant)]

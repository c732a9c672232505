"""The part of the application that holds a study: its state, and who sees it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.concurrency import run_in_threadpool

from assay.core.errors import InputError
from assay.human.folder import StudyFolder, is_complete
from assay.web.database import Database
from assay.web.queue import Task
from assay.web.site import Part, Site, part_of, site_of
from assay.web.study.answers import SCHEMA, Participant, StudyDatabase
from assay.web.visitor import LoggedIn, NotAllowedError, Visitor

NAME = "study"
NO_STUDY = "There is no study here yet. Come back when the administrator has created it."


@dataclass
class Place:
    """The folder of the server's study, which an administrator may still have to create."""

    path: Path
    folder: StudyFolder | None = None
    task: Task | None = None  # that creates it
    typed: Mapping[str, str] = field(default_factory=dict)  # what the administrator asked for


@dataclass(frozen=True)
class Running:
    """The study that a server runs."""

    folder: StudyFolder
    answers: StudyDatabase


def study_part(path: str | Path, *, may_create: bool = False) -> Part:
    """may_create: a study that is not there yet is created in the browser, from the server's models and data."""
    from assay.web.study import create, manage, pages  # they use `Running`

    path = Path(path)
    known = not may_create or is_complete(path)
    router = APIRouter()
    for module in (pages, manage, create):
        router.include_router(module.router)
    return Part(NAME, "Study", "/study", router, _shown, Place(path, StudyFolder.open(path) if known else None), SCHEMA)


def answers_in(database: Database, folder: StudyFolder) -> StudyDatabase:
    return StudyDatabase(database, folder.id)


async def perhaps_running(request: Request) -> Running | None:
    """The study, if there is one yet; made once for a server, because it remembers seats."""
    known: Running | None = getattr(request.app.state, NAME, None)
    folder = place_of(request).folder
    if known is None and folder is not None:
        known = request.app.state.study = Running(folder, answers_in(site_of(request).database, folder))
    return known


async def running(study: PerhapsStudy) -> Running:
    if study is None:
        raise InputError(NO_STUDY)
    return study


def place_of(request: Request) -> Place:
    place: Place = part_of(request, NAME)
    return place


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


PerhapsStudy = Annotated[Running | None, Depends(perhaps_running)]
Study = Annotated[Running, Depends(running)]
TakingPart = Annotated[Participant, Depends(participant)]

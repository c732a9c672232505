"""Errors as pages: a sentence about what went wrong and what to do, never a stack trace.

A post that failed keeps what was typed: its page sends the same fields again.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Sequence
from http import HTTPStatus
from urllib.parse import quote

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from sqlalchemy.exc import SQLAlchemyError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from assay.core.errors import AssayError
from assay.core.printable import shortened
from assay.web.accounts import RefusedError
from assay.web.attempts import TooManyAttemptsError
from assay.web.database import is_full, why_unsaved
from assay.web.pages import page, see_other
from assay.web.visitor import ForgedError, NotAllowedError

LOG = logging.getLogger("assay.web")
KEPT = 200_000  # characters of what was typed that an error page keeps
STATUS: dict[type[AssayError], int] = {
    ForgedError: 403,
    NotAllowedError: 403,
    RefusedError: 403,
    TooManyAttemptsError: 429,
}
SENTENCES = {
    404: "There is no such page. It may have been removed, or the link is incomplete.",
    405: "This address cannot be used in this way. Open it from a page of this server.",
}


def add_error_pages(app: FastAPI) -> None:
    for kind in (AssayError, HTTPException, RequestValidationError, SQLAlchemyError):
        app.add_exception_handler(kind, error_page)


def error_page(request: Request, error: Exception) -> Response:
    """The page of an error."""
    if isinstance(error, NotAllowedError) and error.log_in and request.method == "GET" and not _wants_json(request):
        return see_other(f"/login?next={quote(request.url.path)}")
    status, sentence = _answer(error)
    if _wants_json(request):
        return JSONResponse({"error": sentence}, status)
    typed = _typed(request)
    try:
        return page(
            request,
            "web/error.html.jinja",
            status=status,
            title="This did not work" if status < 500 else "Something went wrong",
            sentence=sentence,
            typed=typed,
            address=request.url.path,
            again=status >= 500 and bool(typed),
        )
    except SQLAlchemyError:  # the database cannot even be read
        return Response(f"{sentence}\n", status, media_type="text/plain")


def _answer(error: Exception) -> tuple[int, str]:
    if isinstance(error, AssayError):
        status = next((code for kind, code in STATUS.items() if isinstance(error, kind)), 400)
        return status, str(error)
    if isinstance(error, HTTPException):
        known = SENTENCES.get(error.status_code)
        return error.status_code, known or error.detail or HTTPStatus(error.status_code).phrase
    if isinstance(error, RequestValidationError):
        places = [tuple(found.get("loc", ())) for found in error.errors()]
        in_address = any(place[:1] == ("path",) for place in places)
        return (404, SENTENCES[404]) if in_address else (422, _validation(error.errors()))
    if isinstance(error, SQLAlchemyError):
        LOG.error("the database failed", exc_info=error)
        return 507 if is_full(error) else 503, why_unsaved(error)
    number = secrets.token_hex(4)
    LOG.error("error %s", number, exc_info=error)
    return 500, f"Assay failed unexpectedly. Its log has the details under the number {number}; please report them."


def _validation(errors: Sequence[dict[str, object]]) -> str:
    """The fields that cannot be read, in words."""
    words = []
    for error in errors[:5]:
        place = error.get("loc", ())
        name = str(place[-1]) if isinstance(place, tuple | list) and place else "the request"
        words.append(f"{shortened(name, 60)}: {shortened(str(error.get('msg', 'cannot be read')), 160)}")
    return f"The request cannot be read. {'; '.join(words)}."


def _typed(request: Request) -> list[tuple[str, str]]:
    """What a post held, so that it can be sent again; neither passwords nor files."""
    fields: list[tuple[str, str]] = getattr(request.state, "typed", [])
    kept = [(name, value) for name, value in fields if "password" not in name and name != "csrf"]
    return kept if sum(len(value) for _, value in kept) <= KEPT else []


def _wants_json(request: Request) -> bool:
    accept = request.headers.get("accept", "")
    return request.url.path.startswith("/api/") or ("application/json" in accept and "text/html" not in accept)

"""Explain predictions, look at results and run a human study in the browser.

Without options, the explain page opens on the built-in model. Give --model several times to choose between models.
Listens on this machine only, unless --host names another address; then everybody needs the secret link of --token or
an account.
"""

from __future__ import annotations

import sys
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Group, Parameter

import assay
from assay.cli._options import (
    DATA_OPTIONS,
    EXPLANATION,
    INPUT,
    MODEL,
    OUTPUT,
    DataOptions,
    ModelOptions,
    Settings,
    command_app,
    flag,
    list_option,
    repeated_list,
    settings_from,
)
from assay.core.console import Console
from assay.core.errors import SpecError
from assay.core.optional import optional
from assay.human.folder import ANSWERS

if TYPE_CHECKING:
    from assay.models.model import Model
    from assay.web.site import Part

SERVER = Group("Server", sort_key=5)

app = command_app(
    "serve",
    "assay serve",
    "assay serve --model FOLDER --model FOLDER --data reviews.csv",
    "assay serve --model FOLDER --explainer explainer/",
    "assay serve --host 0.0.0.0 --token new",
    "assay serve --study study/",
    "assay serve --study new/ --model FOLDER --data reviews.csv",
)


@app.default
@settings_from(ModelOptions, MODEL, omit=("model",))
def serve(
    *,
    model: Annotated[
        list[str] | None,
        list_option(
            repeated_list,
            metavar="MODEL",
            group=MODEL,
            help="Folder, hub id or module:attribute, as for `assay explain`; may be given several times. "
            "Default: builtin.",
        ),
    ] = None,
    settings: Settings,
    data: Annotated[DataOptions, DATA_OPTIONS] = DataOptions(),
    explainer: Annotated[
        list[str] | None,
        list_option(repeated_list, group=EXPLANATION, help="Folders of explainers that `assay fit` wrote."),
    ] = None,
    host: Annotated[str, Parameter(group=SERVER, help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, Parameter(group=SERVER, help="Port to listen on; 0 for any that is free.")] = 8000,
    token: Annotated[
        str | None,
        Parameter(group=SERVER, help="Let in only people who have the link with this secret; `new` makes one up."),
    ] = None,
    accounts: Annotated[
        bool, flag("Let in only people with an account; administrators invite others.", SERVER)
    ] = False,
    proxy: Annotated[
        bool,
        flag("A web server on this machine adds HTTPS: believe its X-Forwarded-For and X-Forwarded-Proto.", SERVER),
    ] = False,
    study: Annotated[
        Path | None,
        Parameter(
            group=INPUT,
            help="Folder of a human study (`assay study create`) to run. Everybody then needs an account; without "
            "--model, the study is the only page. With --model and a new folder, an administrator creates the study in "
            "the browser.",
        ),
    ] = None,
    store: Annotated[
        Path | None,
        Parameter(group=OUTPUT, help="Folder of finished work, whose results are shown. Default: a cache folder."),
    ] = None,
    database: Annotated[
        str | None,
        Parameter(
            group=OUTPUT,
            help="SQLite file or postgresql:// address of accounts, links and answers. Default: answers.sqlite in the "
            "folder of the study, or else a file in the data folder of the user.",
        ),
    ] = None,
    open_browser: Annotated[
        bool | None, Parameter(name="--open", group=SERVER, help="Open the page. Default: on a terminal.")
    ] = None,
) -> None:
    optional("fastapi", "web")
    from assay.web.serving import Listening, is_loopback
    from assay.web.serving import serve as listen

    if study is not None and token is not None:
        raise SpecError("in a study everybody has an account of their own; leave --token out")
    listening = Listening(host, port, token, accounts or study is not None, proxy)
    listening.access()  # refuses before anything is loaded
    wanted = (sys.stdout.isatty() and is_loopback(host)) if open_browser is None else open_browser
    kept = study / ANSWERS if study is not None and database is None else database
    parts = [] if study is None else [_study(study, bool(model))]
    if study is None or model:  # a study alone needs no model
        parts = [_explain(_models(model or ["builtin"], settings), data, explainer or ()), _results(store), *parts]
    listen(parts, kept, listening, lambda links: _announce(links, wanted))


def _study(folder: Path, has_model: bool) -> Part:
    from assay.web.study.part import study_part

    if has_model:  # the database may be inside, before an administrator creates the study
        folder.mkdir(parents=True, exist_ok=True)
    return study_part(folder, may_create=has_model)


def _explain(models: Sequence[Model], data: DataOptions, explainers: Sequence[str]) -> Part:
    from assay.web.explain.part import explain_part

    return explain_part(models, data.load(), explainers)


def _results(store: Path | None) -> Part:
    from assay.web.results.part import results_part

    return results_part(store)


def _models(names: Sequence[str], settings: Settings) -> list[Model]:
    given = settings.given()
    if len(names) > 1 and (of_one := [f"--{name}" for name in ("prompt", "labels", "task") if name in given]):
        raise SpecError(f"{', '.join(of_one)}: only with a single model; start a server for each")
    return [assay.load_model(name, **given) for name in names]


def _announce(links: list[str], wanted: bool) -> None:
    console = Console(soft_wrap=True)
    for link in links:
        console.print(link, style="bold" if link is links[0] else "dim")
    console.print("Stop with Ctrl-C.", style="dim")
    sys.stdout.flush()
    if wanted:
        webbrowser.open(links[0])

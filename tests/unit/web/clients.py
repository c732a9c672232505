"""Browsers without a browser: a client that keeps cookies and fills in the token against forged posts."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from argon2 import PasswordHasher
from fastapi import FastAPI
from fastapi.testclient import TestClient

from assay.web import accounts
from assay.web.app import create_app
from assay.web.login import Entrance

QUICK = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
SETUP, TOKEN = "the secret of the setup link", "the secret token of the server"
PASSWORD = "correct horse battery"


def application(folder: Path, *parts: Any, **options: Any) -> FastAPI:
    """An application with a database in a folder and quick hashes."""
    entrance = Entrance(
        setup=SETUP if options.get("access") == "accounts" else None,
        token=TOKEN if options.get("access") == "token" else None,
    )
    options = {"hosts": frozenset({"testserver"}), "entrance": entrance} | options
    app = create_app(parts, options.pop("database", folder / "serve.sqlite"), **options)
    object.__setattr__(app.state.site.accounts, "hasher", QUICK)
    return app


class Client(TestClient):
    """Posts forms as a page of the server would."""

    def __init__(self, app: FastAPI, **options: Any) -> None:
        super().__init__(app, **({"raise_server_exceptions": False} | options))

    def submit(self, address: str, /, **fields: Any) -> Any:
        files = fields.pop("files", None)
        csrf = fields.pop("csrf", None) or self.csrf()
        return self.post(address, data={"csrf": csrf, **fields}, files=files)

    def csrf(self) -> str:
        found = re.search(r'name="csrf" value="(\w+)"', self.get("/login").text)
        assert found
        return found[1]

    def set_up(self, name: str = "Ada") -> Any:
        """Make the first administrator and log in."""
        self.get("/setup", params={"key": SETUP})
        return self.submit("/setup", key=SETUP, name=name, password=PASSWORD, password_again=PASSWORD)


class Visible(HTMLParser):
    """The text of a page that people can see."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.parts: list[str] = []
        self.feed(html)

    def handle_data(self, data: str) -> None:
        self.parts.append(data)

    def __str__(self) -> str:
        return " ".join(" ".join(self.parts).split())


def seen(response: Any) -> str:
    return str(Visible(response.text))


def participant(app: FastAPI, name: str) -> accounts.Account:
    site = app.state.site
    made: accounts.Account = site.accounts.create(name, PASSWORD, "participant")
    return made

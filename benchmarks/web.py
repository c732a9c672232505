"""The pages of `assay serve` beside a bare FastAPI page with one database write: processor time per request.

    python benchmarks/web.py

Both run in this process with the same client, in turn, so that a busy machine slows both; the ratio of the medians is
what counts. Then 50 visitors open pages at once, and every answer that is not the page asked for is counted.
"""

from __future__ import annotations

import re
import statistics
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.responses import HTMLResponse
from fastapi.testclient import TestClient
from sqlalchemy import Column, Integer, MetaData, String, Table

import assay
from assay.web.app import create_app
from assay.web.database import Database, Schema
from assay.web.explain.part import explain_part
from assay.web.results.part import results_part

ROUNDS, REQUESTS, VISITORS = 15, 10, 50
TEXT = "a modest pleasure that accomplishes its goals"
HOSTS = frozenset({"testserver"})


def bare(folder: Path) -> FastAPI:
    """A FastAPI page that writes one row, with the same database settings."""
    tables = MetaData()
    rows = Table("rows", tables, Column("id", Integer, primary_key=True), Column("text", String(200)))
    database = Database.open(folder / "bare.sqlite", [Schema("bare", tables)])
    app = FastAPI()

    @app.get("/")
    def page() -> HTMLResponse:
        with database.writing() as connection:
            connection.execute(rows.insert().values(text=TEXT))
        return HTMLResponse("<!doctype html><title>bare</title><p>saved</p>")

    return app


def processor_seconds(visit: Callable[[], Any]) -> float:
    start = time.process_time()
    for _ in range(REQUESTS):
        visit()
    return (time.process_time() - start) / REQUESTS


def explanation(client: TestClient) -> str:
    """The address of an explanation, computed once."""
    csrf = re.search(r'name="csrf" value="(\w+)"', client.get("/explain").text)
    assert csrf
    methods = ["occlusion", "integrated_gradients", "kernel_shap"]
    response = client.post("/explain", data={"csrf": csrf[1], "text": TEXT, "methods": methods})
    while "/tasks/" in str(response.url):
        time.sleep(0.1)
        response = client.get(str(response.url))
    return str(response.url).partition("#")[0].removeprefix("http://testserver")


def main() -> None:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        model = assay.load_model("builtin")
        assay.evaluate(model, "builtin", ["occlusion", "random"], ["sufficiency"], limit=8, store=folder / "store")
        parts = [explain_part([model], assay.load_dataset("builtin")), results_part(folder / "store")]
        app = create_app(parts, folder / "serve.sqlite", hosts=HOSTS)
        ours, plain = TestClient(app), TestClient(bare(folder))
        pages = {"the form": "/explain", "an explanation": explanation(ours), "results": "/results", "log in": "/login"}
        times: dict[str, list[float]] = {name: [] for name in ("bare page, one write", *pages)}
        for _ in range(ROUNDS):
            times["bare page, one write"].append(processor_seconds(lambda: plain.get("/")))
            for name, address in pages.items():
                times[name].append(processor_seconds(lambda address=address: ours.get(address)))
        base = statistics.median(times["bare page, one write"])
        for name, seconds in times.items():
            median = statistics.median(seconds)
            print(f"{name:24} {1000 * median:8.2f} ms   {median / base:5.2f} x")
        wrong = crowd(app, list(pages.values()))
        print(f"{VISITORS} visitors at once, {len(pages)} pages each: {wrong} errors")


def crowd(app: FastAPI, addresses: list[str]) -> int:
    """The number of answers that are not the page."""

    def visit(_: int) -> int:
        client = TestClient(app)
        return sum(client.get(address).status_code != 200 for address in addresses)

    with ThreadPoolExecutor(VISITORS) as pool:
        return sum(pool.map(visit, range(VISITORS)))


if __name__ == "__main__":
    main()

"""Who gets in: access, accounts, sessions, forged posts, guessed passwords, and headers."""

from __future__ import annotations

import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from argon2 import PasswordHasher

from assay.core.errors import AssayError, SpecError
from assay.web.accounts import SESSION, Accounts, RefusedError
from assay.web.attempts import LIMITS, WINDOW, Attempts, TooManyAttemptsError
from assay.web.pages import local
from assay.web.security import HEADERS, LARGEST
from assay.web.serving import Listening, config_of
from unit.web.clients import PASSWORD, QUICK, SETUP, TOKEN, Client, application, participant, seen


def cookie_of(client: Client) -> str:
    return str(client.cookies[client.app.state.site.cookies.name])


def test_a_server_that_others_can_reach_demands_accounts_or_a_token() -> None:
    for host in ("0.0.0.0", "::", "192.168.1.7", "example.org"):
        with pytest.raises(SpecError, match="--accounts"):
            Listening(host).access()
    assert Listening("0.0.0.0", token="new").access() == "token"
    assert Listening("0.0.0.0", accounts=True).access() == "accounts"
    assert {Listening(host).access() for host in ("127.0.0.1", "localhost", "::1")} == {"open"}
    with pytest.raises(SpecError, match="too short"):
        Listening(token="short").access()


@pytest.mark.parametrize(
    ("proxy", "sender", "believed"), [(True, "127.0.0.1", True), (True, "10.0.0.9", False), (False, "127.0.0.1", False)]
)
def test_only_a_proxy_that_was_announced_may_say_who_visits(
    proxy: bool, sender: str, believed: bool, tmp_path: Path
) -> None:
    """Its word decides on secure cookies, on links, and on whose failed attempts are counted."""
    app = application(tmp_path, access="accounts", hosts=None)
    config = config_of(app, Listening(accounts=True, proxy=proxy))
    config.load()
    headers = {"x-forwarded-for": "198.51.100.7", "x-forwarded-proto": "https", "host": "study.example"}
    client = Client(config.loaded_app, client=(sender, 5000), headers=headers)
    page = client.get("/login")
    assert ("Secure" in page.headers["set-cookie"]) is believed
    csrf = re.search(r'name="csrf" value="(\w+)"', page.text)[1]
    cookie = {"cookie": page.headers["set-cookie"].partition(";")[0]}  # this client would keep it for HTTPS
    client.post("/login", data={"csrf": csrf, "name": "Eve", "password": "a guess"}, headers=cookie)
    assert f"address {'198.51.100.7' if believed else sender}" in app.state.site.accounts.attempts.failures


def test_a_proxy_needs_accounts_or_a_token() -> None:
    with pytest.raises(SpecError, match="--accounts"):
        Listening(proxy=True).access()


def test_the_first_administrator_is_made_with_the_setup_link_and_only_once(tmp_path: Path) -> None:
    app = application(tmp_path, access="accounts")
    stranger, ada, late = Client(app), Client(app), Client(app)
    assert stranger.get("/setup", params={"key": "guess"}).status_code == 403
    assert "Accounts" in seen(ada.set_up())
    assert "exists already" in seen(late.get("/setup", params={"key": SETUP}))
    assert late.submit("/setup", key=SETUP, name="Eve", password=PASSWORD, password_again=PASSWORD).status_code == 403
    assert [account.name for account in app.state.site.accounts.all()] == ["Ada"]


def test_invitations_log_in_and_out(tmp_path: Path) -> None:
    app = application(tmp_path, access="accounts")
    ada, bob, eve = Client(app), Client(app), Client(app)
    ada.set_up()
    link = re.search(r"/invitation\?key=[\w-]+", ada.submit("/accounts/invite", role="member", uses=1).text)
    assert link
    key = link[0].partition("=")[2]
    assert "differ" in seen(bob.submit("/invitation", key=key, name="Bob", password=PASSWORD, password_again="another"))
    assert "10 to 200" in seen(bob.submit("/invitation", key=key, name="Bob", password="short", password_again="short"))
    assert "already" in seen(bob.submit("/invitation", key=key, name="ADA", password=PASSWORD, password_again=PASSWORD))
    bob.submit("/invitation", key=key, name="Bob", password=PASSWORD, password_again=PASSWORD)
    assert "Bob" in seen(bob.get("/login"))
    assert eve.get(link[0]).status_code == 403  # used up
    assert bob.get("/accounts").status_code == 403
    assert eve.get("/accounts", follow_redirects=False).headers["location"] == "/login?next=/accounts"

    stolen = dict(bob.cookies)
    bob.submit("/logout")
    assert "Bob" not in seen(bob.get("/login"))
    assert "Bob" not in seen(Client(app, cookies=stolen).get("/login"))  # the session itself has ended
    wrong = bob.submit("/login", name="Bob", password="not the password")
    assert (wrong.status_code, "wrong" in seen(wrong)) == (403, True)
    assert "Bob" in seen(bob.submit("/login", name="bob ", password=PASSWORD, next="/login"))

    account = next(account for account in app.state.site.accounts.all() if account.name == "Bob")
    ada.submit("/accounts/remove", account=account.id)
    assert "Bob" not in seen(bob.get("/login"))


def test_names_that_look_alike_are_one_name(tmp_path: Path) -> None:
    accounts: Accounts = application(tmp_path, access="accounts").state.site.accounts
    accounts.create("Ada", PASSWORD, "administrator")
    for name in ("ada", "\N{FULLWIDTH LATIN CAPITAL LETTER A}da", "Ada\u200b", "A\u2060da", " Ada ", "A\u00adda"):
        with pytest.raises(RefusedError, match="already"):
            accounts.create(name, PASSWORD, "member")
    for name in ("\u200b\u200b", "a\u200b", "x" * 65, "\ufdfa" * 4):
        with pytest.raises(RefusedError, match="2 to 64"):
            accounts.create(name, PASSWORD, "member")


def test_the_last_administrator_stays(tmp_path: Path) -> None:
    app = application(tmp_path, access="accounts")
    ada = Client(app)
    ada.set_up()
    (account,) = app.state.site.accounts.all()
    assert "only administrator" in seen(ada.submit("/accounts/remove", account=account.id))


def test_the_token_lets_in_and_a_new_one_locks_out(tmp_path: Path) -> None:
    app = application(tmp_path, access="token")
    client = Client(app)
    assert client.get("/").status_code == 403
    assert client.get("/enter", params={"token": "a guess"}).status_code == 403
    client.get("/enter", params={"token": TOKEN}, follow_redirects=False)
    again = application(tmp_path, access="token")
    for server, known in ((app, True), (again, True)):
        assert server.state.site.cookies.read(cookie_of(client))[1] is known
    object.__setattr__(again.state.site.cookies, "token", "another token")
    assert again.state.site.cookies.read(cookie_of(client))[1] is False


def test_forged_posts_are_refused(tmp_path: Path) -> None:
    app = application(tmp_path, access="accounts")
    ada, eve = Client(app), Client(app)
    ada.set_up()
    for forged in ("", "0" * 64, eve.csrf()):
        response = ada.post("/accounts/invite", data={"csrf": forged, "role": "administrator"})
        assert response.status_code == 403, forged
        assert "Reload the page" in seen(response)
    headers = {"sec-fetch-site": "cross-site"}
    assert ada.post("/accounts/invite", data={"csrf": ada.csrf()}, headers=headers).status_code == 403


def test_cookies_are_signed_and_expire(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = application(tmp_path, access="accounts")
    ada = Client(app)
    cookie = ada.set_up().history[0].headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert f"Max-Age={int(SESSION)}" in cookie
    value = cookie_of(ada)
    changed = value[:5] + ("A" if value[5] != "A" else "B") + value[6:]
    forger = Client(app, cookies={app.state.site.cookies.name: changed})
    assert forger.get("/accounts", follow_redirects=False).status_code == 303
    site = app.state.site
    later = Accounts(site.database, QUICK, clock=lambda: __import__("time").time() + SESSION + 1)
    object.__setattr__(site, "accounts", later)
    assert ada.get("/accounts", follow_redirects=False).status_code == 303


def test_a_clock_that_is_set_back_logs_nobody_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By seconds, as time servers do: the cookie then seems to come from the future."""
    app, now = application(tmp_path, access="accounts"), time.time()
    ada = Client(app)
    ada.set_up()
    monkeypatch.setattr(time, "time", lambda: now - 60)
    assert ada.get("/accounts", follow_redirects=False).status_code == 200
    monkeypatch.setattr(time, "time", lambda: now + SESSION + 60)
    assert app.state.site.cookies.read(cookie_of(ada)) is None


def test_an_error_page_shows_no_password(tmp_path: Path) -> None:
    """Neither the one that was typed nor its repetition."""
    app = application(tmp_path, access="accounts")
    Client(app).set_up()
    eve, key = Client(app), app.state.site.accounts.invite("member")
    names = re.findall(r'name="(\w+)" type="password"', eve.get("/invitation", params={"key": key}).text)
    assert len(names) == 2
    page = eve.submit("/invitation", key="used up", name="Eve", **dict.fromkeys(names, PASSWORD))
    assert "not valid" in seen(page)
    assert "Eve" in seen(page)
    assert PASSWORD not in page.text


def test_two_servers_in_one_browser_do_not_disturb_each_other(tmp_path: Path) -> None:
    """`assay serve` today and a study tomorrow: browsers send cookies of one port to all ports of a machine."""
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        folder.mkdir()
    one, two = (Client(application(folder, access="accounts")) for folder in folders)
    two.cookies = one.cookies
    one.set_up("Ada")
    two.set_up("Bob")
    assert "Ada" in seen(one.get("/accounts"))
    assert "Bob" in seen(two.get("/accounts"))


def test_a_cookie_that_cannot_be_read_is_replaced(tmp_path: Path) -> None:
    app = application(tmp_path, access="accounts")
    client = Client(app, cookies={app.state.site.cookies.name: "of an older key"})
    participant(app, "Bob")
    page = client.get("/login")
    kept = page.headers["set-cookie"].partition(";")[0]
    fresh = Client(app, headers={"cookie": kept})
    csrf = re.search(r'name="csrf" value="(\w+)"', page.text)[1]
    assert fresh.submit("/login", csrf=csrf, name="Bob", password=PASSWORD).status_code == 200


def test_guessing_is_limited_by_name_and_by_address(tmp_path: Path) -> None:
    app = application(tmp_path, access="accounts")
    participant(app, "Bob")
    client = Client(app)
    csrf = client.csrf()
    codes = [client.submit("/login", csrf=csrf, name="Bob", password=f"guess {i}").status_code for i in range(10)]
    assert codes == [403] * LIMITS["name"] + [429] * (10 - LIMITS["name"])
    assert "Try again in 15 minutes" in seen(client.submit("/login", csrf=csrf, name="bob", password=PASSWORD))


def test_attempts_are_forgotten_after_a_while() -> None:
    now = [0.0]
    attempts = Attempts(clock=lambda: now[0])
    for _ in range(LIMITS["name"]):
        attempts.begin("name ada", "address here")
    with pytest.raises(TooManyAttemptsError):
        attempts.begin("name ada", "address here")
    attempts.begin("name bob")
    now[0] = WINDOW - 61
    with pytest.raises(TooManyAttemptsError, match="in 1 minute"):
        attempts.begin("name ada")
    now[0] = WINDOW + 1
    attempts.begin("name ada")


def test_a_right_password_forgets_failures_of_its_name_only() -> None:
    """Somebody with an account cannot guess at other names without end by logging in between."""
    attempts = Attempts()
    for i in range(LIMITS["address"]):
        attempts.begin(f"name {i}", "address here")
        if i % 2:
            attempts.succeeded(f"name {i}", "address here")
    for i in range(LIMITS["address"] // 2):
        attempts.begin(f"name {100 + i}", "address here")
    with pytest.raises(TooManyAttemptsError):
        attempts.begin("name ada", "address here")


def test_guesses_at_once_are_limited_too(tmp_path: Path) -> None:
    app = application(tmp_path, access="accounts")
    participant(app, "Bob")
    together = threading.Barrier(20)

    class Slow(PasswordHasher):
        def verify(self, *given: str | bytes) -> bool:
            time.sleep(0.3)  # as a real hash, so that all guesses have come before the first one is known to be wrong
            return bool(super().verify(*given))

    accounts = Accounts(app.state.site.database, Slow(time_cost=1, memory_cost=8, parallelism=1))

    def guess(i: int) -> type[Exception]:
        together.wait()
        with pytest.raises(AssayError) as refused:
            accounts.log_in("Bob", f"guess {i}", "127.0.0.1")
        return refused.type

    with ThreadPoolExecutor(20) as pool:
        kinds = list(pool.map(guess, range(20)))
    assert kinds.count(RefusedError) == LIMITS["name"]


@pytest.mark.parametrize("address", ["/", "/login", "/nowhere", "/static/web.css", "/style.css"])
def test_every_response_has_the_headers(address: str, tmp_path: Path) -> None:
    response = Client(application(tmp_path)).get(address)
    for name, value in HEADERS.items():
        assert response.headers[name] == value
    policy = response.headers["content-security-policy"]
    assert "unsafe-inline" not in policy
    assert "frame-ancestors 'none'" in policy


def test_other_names_and_large_requests_are_refused(tmp_path: Path) -> None:
    app = application(tmp_path)
    assert Client(app, base_url="http://evil.example").get("/login").status_code == 421
    client = Client(app)
    response = client.submit("/login", name="x" * (LARGEST + 1))
    assert response.status_code == 413
    assert "12 MB" in seen(response)

    def chunks():  # no length is announced
        for _ in range(13):
            yield b"x" * 1024**2

    headers = {"content-type": "application/x-www-form-urlencoded"}
    assert client.post("/login", content=chunks(), headers=headers).status_code == 413


@pytest.mark.parametrize("encoding", ["unicode_escape", "punycode", "undefined", "utf-16"])
def test_forms_in_other_encodings_are_refused(encoding: str, tmp_path: Path) -> None:
    """`\\ud800` in unicode_escape is half of an emoji, which neither a page nor a database can hold."""
    client = Client(application(tmp_path))
    csrf = client.csrf()
    form = "".join(
        f'--x\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in {"csrf": csrf, "name": r"\ud800", "password": PASSWORD}.items()
    )
    for charset, status in ((f"; charset={encoding}", 415), ("; charset=UTF-8", 403), ("", 403)):
        kind = {"content-type": f"multipart/form-data; boundary=x{charset}"}
        response = client.post("/login", content=f"{form}--x--\r\n", headers=kind)
        assert response.status_code == status, charset
        assert ("not in UTF-8" in seen(response)) is (status == 415)


def test_only_addresses_of_this_server_are_followed() -> None:
    assert local("/explain?x=1#y") == "/explain?x=1#y"
    for evil in ("//evil.example", "https://evil.example", "/\\evil.example", "javascript:alert(1)", "", None, "/\n/x"):
        assert local(evil) == "/"

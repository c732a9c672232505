"""Accounts, their passwords (argon2), sessions and invitations."""

from __future__ import annotations

import hashlib
import secrets
import time
import unicodedata
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from sqlalchemy import (
    Column,
    Connection,
    Float,
    ForeignKey,
    Integer,
    MetaData,
    String,
    Table,
    bindparam,
    delete,
    func,
    select,
)
from sqlalchemy.exc import IntegrityError

from assay.core.errors import AssayError, InputError
from assay.core.printable import one_line
from assay.web.attempts import Attempts
from assay.web.database import Database, Schema

Role = Literal["administrator", "member", "participant"]
"""An administrator manages accounts and studies, a member explains and sees results, a participant answers studies."""

SESSION = 14 * 24 * 3600.0  # seconds until a session ends
INVITATION = 30 * 24 * 3600.0
NAME = (2, 64)  # characters
PASSWORD = (10, 200)
NOT_INVITED = "This invitation is not valid (any more). Ask for a new link."

tables = MetaData()
SERVER = Table("server", tables, Column("name", String(64), primary_key=True), Column("value", String(200)))
ACCOUNTS = Table(
    "accounts",
    tables,
    Column("id", String(36), primary_key=True),
    Column("name", String(NAME[1]), nullable=False),
    Column("unique_name", String(3 * NAME[1]), nullable=False, unique=True),  # in one case
    Column("password", String(200), nullable=False),
    Column("role", String(20), nullable=False),
    Column("created", Float, nullable=False),
)
SESSIONS = Table(
    "sessions",
    tables,
    Column("digest", String(64), primary_key=True),
    Column("account", String(36), ForeignKey("accounts.id", ondelete="CASCADE"), nullable=False),
    Column("expires", Float, nullable=False),
)
INVITATIONS = Table(
    "invitations",
    tables,
    Column("digest", String(64), primary_key=True),
    Column("role", String(20), nullable=False),
    Column("about", String(200), nullable=False),  # such as the study it invites to
    Column("left", Integer, nullable=False),
    Column("expires", Float, nullable=False),
)
SCHEMA = Schema("accounts", tables)
IN_SESSION = (  # every request asks this, and building a statement costs more than running it
    select(ACCOUNTS.c.id, ACCOUNTS.c.name, ACCOUNTS.c.role)
    .join(SESSIONS, SESSIONS.c.account == ACCOUNTS.c.id)
    .where((SESSIONS.c.digest == bindparam("digest_")) & (SESSIONS.c.expires > bindparam("now")))
)


class RefusedError(AssayError):
    """A name, password or invitation that is not accepted."""


@dataclass(frozen=True)
class Account:
    """A person who may log in."""

    id: str
    name: str
    role: Role


@dataclass(frozen=True)
class Accounts:
    """The accounts of a database. Passwords are kept as argon2 hashes, secrets of sessions and links as SHA-256."""

    database: Database
    hasher: PasswordHasher = field(default_factory=PasswordHasher)
    clock: Callable[[], float] = time.time
    attempts: Attempts = field(default_factory=Attempts)

    def server_key(self) -> str:
        """The key that signs cookies; it stays the same when the server starts again."""
        with self.database.writing() as connection:
            known = connection.execute(select(SERVER.c.value).where(SERVER.c.name == "key")).scalar()
            if known is None:
                known = secrets.token_urlsafe(48)
                connection.execute(SERVER.insert().values(name="key", value=known))
            return str(known)

    # --- accounts --------------------------------------------------------------------------------------------------

    def create(self, name: str, password: str, role: Role) -> Account:
        name, hashed = _checked_name(name), self._hashed(password)
        with self.database.writing() as connection:
            return self._insert(connection, name, hashed, role)

    def log_in(self, name: str, password: str, address: str) -> Account:
        """The account with this name and password. Attempts are limited by name and by network address."""
        keys = (f"name {_key(name)}", f"address {address}")
        self.attempts.begin(*keys)
        with self.database.reading() as connection:
            row = connection.execute(select(ACCOUNTS).where(ACCOUNTS.c.unique_name == _key(name))).mappings().first()
        if not self._is_right(row["password"] if row else None, password) or row is None:
            raise RefusedError("The name or the password is wrong.")
        self.attempts.succeeded(*keys)
        return _account(row)

    def all(self) -> list[Account]:
        with self.database.reading() as connection:
            rows = connection.execute(select(ACCOUNTS).order_by(ACCOUNTS.c.created)).mappings()
            return [_account(row) for row in rows]

    def has_administrator(self) -> bool:
        with self.database.reading() as connection:
            count = select(func.count()).where(ACCOUNTS.c.role == "administrator")
            return bool(connection.execute(count).scalar())

    def remove(self, account_id: str) -> None:
        """Remove an account and end its sessions; the last administrator stays."""
        with self.database.writing() as connection:
            admins = connection.execute(select(ACCOUNTS.c.id).where(ACCOUNTS.c.role == "administrator")).scalars().all()
            if list(admins) == [account_id]:
                raise RefusedError("This is the only administrator. Invite another one before you remove this account.")
            connection.execute(delete(SESSIONS).where(SESSIONS.c.account == account_id))
            connection.execute(delete(ACCOUNTS).where(ACCOUNTS.c.id == account_id))

    # --- sessions --------------------------------------------------------------------------------------------------

    def open_session(self, account: Account) -> str:
        """The secret of a new session."""
        secret, now = secrets.token_urlsafe(32), self.clock()
        with self.database.writing() as connection:
            connection.execute(delete(SESSIONS).where(SESSIONS.c.expires < now))
            values = {"digest": _digest(secret), "account": account.id, "expires": now + SESSION}
            connection.execute(SESSIONS.insert().values(**values))
        return secret

    def in_session(self, secret: str) -> Account | None:
        """The account of a session that has not ended."""
        with self.database.reading() as connection:
            row = connection.execute(IN_SESSION, {"digest_": _digest(secret), "now": self.clock()}).first()
        return None if row is None else Account(*row)

    def close_session(self, secret: str) -> None:
        with self.database.writing() as connection:
            connection.execute(delete(SESSIONS).where(SESSIONS.c.digest == _digest(secret)))

    # --- invitations -----------------------------------------------------------------------------------------------

    def invite(self, role: Role, about: str = "", uses: int = 1) -> str:
        """The secret of a link with which `uses` people can make an account."""
        if not 1 <= uses <= 10_000:
            raise InputError(f"an invitation for {uses} people is not possible; give 1 to 10000")
        secret = secrets.token_urlsafe(24)
        values = {"digest": _digest(secret), "role": role, "about": about, "left": uses}
        with self.database.writing() as connection:
            connection.execute(INVITATIONS.insert().values(**values, expires=self.clock() + INVITATION))
        return secret

    def invited(self, secret: str) -> tuple[Role, str]:
        """The role and the purpose of an invitation that is still valid."""
        with self.database.reading() as connection:
            return self._invitation(connection, secret)

    def accept(self, secret: str, name: str, password: str) -> tuple[Account, str]:
        """Make the account of somebody who was invited; also returns what the invitation is about."""
        name, hashed = _checked_name(name), self._hashed(password)
        with self.database.writing() as connection:
            # first, and in one statement: of two people who use the last place at once, the second finds none
            place = INVITATIONS.update().where((INVITATIONS.c.digest == _digest(secret)) & (INVITATIONS.c.left > 0))
            if not connection.execute(place.values(left=INVITATIONS.c.left - 1)).rowcount:
                raise RefusedError(NOT_INVITED)
            role, about = self._invitation(connection, secret, least=0)
            return self._insert(connection, name, hashed, role), about

    def _invitation(self, connection: Connection, secret: str, least: int = 1) -> tuple[Role, str]:
        row = connection.execute(select(INVITATIONS).where(INVITATIONS.c.digest == _digest(secret))).mappings().first()
        if row is None or row["left"] < least or row["expires"] < self.clock():
            raise RefusedError(NOT_INVITED)
        return row["role"], row["about"]

    # --- passwords -------------------------------------------------------------------------------------------------

    def _insert(self, connection: Connection, name: str, hashed: str, role: Role) -> Account:
        account = Account(str(uuid.uuid4()), name, role)
        values = {"id": account.id, "name": name, "unique_name": _key(name), "password": hashed, "role": role}
        try:
            connection.execute(ACCOUNTS.insert().values(**values, created=self.clock()))
        except IntegrityError as error:
            raise RefusedError(f"There is an account called {name!r} already. Choose another name.") from error
        return account

    def _hashed(self, password: str) -> str:
        shortest, longest = PASSWORD
        if not shortest <= len(password) <= longest:
            raise RefusedError(f"A password has {shortest} to {longest} characters; this one has {len(password)}.")
        return self.hasher.hash(_bytes(password))

    def _is_right(self, hashed: str | None, password: str) -> bool:
        """Whether a password is right; an unknown name takes as long as a wrong password."""
        if len(password) > PASSWORD[1]:
            return False
        try:
            return self.hasher.verify(hashed or _nobody(self.hasher), _bytes(password)) and hashed is not None
        except (VerificationError, InvalidHashError):
            return False


def _account(row: Any) -> Account:
    return Account(row["id"], row["name"], row["role"])


def _checked_name(name: str) -> str:
    shown = one_line(unicodedata.normalize("NFKC", name))
    if not NAME[0] <= len(_key(shown)) or len(shown) > NAME[1]:
        raise RefusedError(f"A name has {NAME[0]} to {NAME[1]} characters; {shown[:80]!r} has {len(shown)}.")
    return shown


def _key(name: str) -> str:
    """Names that look alike up to case are one name, whatever invisible characters they hold."""
    shown = one_line(unicodedata.normalize("NFKC", name))
    return "".join(char for char in shown if unicodedata.category(char) != "Cf").casefold()


def _bytes(password: str) -> bytes:
    return unicodedata.normalize("NFKC", password).encode("utf-8", "surrogatepass")


def _digest(secret: str) -> str:
    """Secrets of 128 bits and more need no slow hash."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


@cache
def _nobody(hasher: PasswordHasher) -> str:
    """The hash of a password that nobody has."""
    return hasher.hash(secrets.token_bytes(16))

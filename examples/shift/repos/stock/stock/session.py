"""The session's file: one line, for nobody else to read."""
import os
import pathlib

FILE = pathlib.Path(".session")


def load():
    """The session; who has none is told how to get one."""
    try:
        return FILE.read_text().strip()
    except FileNotFoundError:
        raise SystemExit("no session: tools/login.py gets one") from None


def save(session):
    fd = os.open(FILE, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(fd, "w") as out:
        out.write(session)


def forget():
    """Log out, as far as we are concerned."""
    FILE.unlink(missing_ok=True)

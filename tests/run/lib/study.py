"""Helpers of the study tests: kill a study at a given moment, and look into its journal.

usage: study.py kill HOW EVENTS PROCTOR ARG...   start it, read its lines until EVENTS cells have ended, kill it by SIGKILL
           HOW: study  the study alone; its cells live on
                all    the study and every cell that it has running
                later  the study alone, and wait until its cells have ended
                cell   one cell alone; the study goes on to its end
       study.py interrupt TIMES EVENTS PROCTOR ARG...   the same with SIGINT, sent TIMES times behind EVENTS starts; prints its status
       study.py sound JOURNAL        "sound", or what the journal must never hold
       study.py count JOURNAL SQL    one number
"""
import os
import select
import signal
import sqlite3
import subprocess
import sys


def ask(journal, sql):
    return sqlite3.connect(f"file:{journal}?mode=ro", uri=True).execute(sql).fetchall()


def open_pids(journal):
    rows = ask(journal, "SELECT handle FROM attempt WHERE outcome = 'open' AND handle IS NOT NULL")
    return [int(row[0]) for row in rows if row[0]]


def wait_gone(pid):
    try:
        fd = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    select.select([fd], [], [], 120)
    os.close(fd)


def read_until(study, word, events):
    """Lines of the study until @events of them hold @word; all lines read."""
    lines = []
    for line in study.stdout:
        lines.append(line)
        events -= any(w in line for w in word)
        if events <= 0:
            break
    return lines


ENDED = (" steps, ", "given-up", "infra:")
STARTED = (": started",)


def kill(how, events, command):
    out = command[command.index("--out") + 1]
    journal = os.path.join(out, "journal.db")
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as study:
        lines = read_until(study, ENDED, events)
        if how == "cell":
            lines += read_until(study, STARTED, 1)
            pids = open_pids(journal)
            os.kill(pids[-1], signal.SIGKILL)
            lines += study.stdout.readlines()
            print("".join(lines), end="")
            return study.wait()
        study.kill()
        study.wait()
    pids = open_pids(journal)
    for pid in pids:
        if how == "all":
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        if how in ("all", "later"):
            wait_gone(pid)
    print("".join(lines), end="")
    print(f"# killed ({how}) with {len(pids)} cells under way")
    return 0


def interrupt(times, events, command):
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as study:
        lines = read_until(study, STARTED if events else ("waiting:",), events or 1)
        for _ in range(times):
            study.send_signal(signal.SIGINT)
            # Told before the next one is sent: two signals at once are one.
            lines += read_until(study, ("started;", "asked to end", "killed"), 1)
        lines += study.stdout.readlines()
        print("".join(lines), end="")
        print("status", study.wait())


def sound(journal):
    """What must hold whatever was killed when."""
    bad = []
    rules = {
        "a cell with two results": "SELECT cell FROM attempt WHERE outcome = 'done' GROUP BY cell HAVING count(*) > 1",
        "a done cell without a result": "SELECT id FROM cell c WHERE state = 'done' AND NOT EXISTS "
                                        "(SELECT 1 FROM attempt WHERE cell = c.id AND outcome = 'done')",
        "a result of a cell that is not done": "SELECT c.id FROM cell c JOIN attempt a ON a.cell = c.id "
                                               "WHERE a.outcome = 'done' AND c.state <> 'done'",
        "two open attempts": "SELECT cell FROM attempt WHERE outcome = 'open' GROUP BY cell HAVING count(*) > 1",
        "an open attempt of a cell that does not run": "SELECT c.id FROM cell c JOIN attempt a ON a.cell = c.id "
                                                       "WHERE a.outcome = 'open' AND c.state <> 'running'",
        "an attempt behind the result": "SELECT a.id FROM attempt a JOIN attempt b ON a.cell = b.cell AND a.n > b.n "
                                        "WHERE b.outcome = 'done'",
    }
    for name, sql in rules.items():
        bad += [f"{name}: {row[0]}" for row in ask(journal, sql)]
    study = os.path.dirname(journal)
    for (key,) in ask(journal, "SELECT key FROM cell WHERE state = 'done'"):
        if not os.path.exists(os.path.join(study, "cells", key, "run", "cell.json")):
            bad.append(f"no directory: {key}")
    check = ask(journal, "PRAGMA integrity_check")[0][0]
    if check != "ok":
        bad.append(check)
    print("\n".join(bad) or "sound")


def main():
    what = sys.argv[1]
    if what == "kill":
        sys.exit(kill(sys.argv[2], int(sys.argv[3]), sys.argv[4:]))
    elif what == "interrupt":
        interrupt(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])
    elif what == "sound":
        sound(sys.argv[2])
    elif what == "count":
        print(ask(sys.argv[2], sys.argv[3])[0][0])
    else:
        sys.exit(__doc__)


main()

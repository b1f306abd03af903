"""Common parts of the lints: the tree's own files, and TAP."""
import os
import pathlib
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent.parent

# folder -> folders whose headers it may see (docs/architecture.md)
LAYERS = {
    "base": {"base"},
    "profiles": {"profiles", "base"},
    "sandbox": {"sandbox", "profiles", "base"},
    "triggers": {"triggers", "profiles", "base"},
    "gateway": {"gateway", "profiles", "base"},
    "services": {"services", "gateway", "profiles", "base"},
    "verifier": {"verifier", "triggers", "sandbox", "profiles", "base"},
    "study": {"study", "verifier", "profiles", "base"},
    "supervisor": {"supervisor", "study", "verifier", "services", "gateway", "triggers", "sandbox", "profiles",
                   "base"},
}


def tree(*suffixes, under=""):
    """Files of the tree (tracked, or new and not ignored) as paths relative to its top, sorted."""
    # The clone may belong to somebody else: then git wants to be told that this is fine.
    cmd = ["git", "-c", "safe.directory=*", "-C", str(TOP), "ls-files", "-co", "--exclude-standard",
           "-z"]
    done = subprocess.run(cmd, capture_output=True, check=False)
    if done.returncode == 0 and done.stdout:
        names = done.stdout.decode().split("\0")
    else:  # an unpacked archive
        names = [os.path.relpath(os.path.join(where, name), TOP)
                 for where, dirs, files in os.walk(TOP) for name in files
                 if not os.path.relpath(where, TOP).startswith(("build", ".git"))]
    return sorted({name for name in names
                   if name.startswith(under) and name.endswith(suffixes or ("",))
                   and (TOP / name).is_file()})


def text_of(name):
    """Contents of a file of the tree."""
    return (TOP / name).read_text(errors="replace")


class Tap:
    """Assertions; done() prints the plan and ends the program."""

    def __init__(self):
        self.n, self.bad = 0, 0

    def ok(self, good, name, *why):
        self.n += 1
        self.bad += not good
        print(f"{'' if good else 'not '}ok {self.n} - {name}")
        if not good:
            for line in why:
                print(f"#   {line}")
        return good

    def none(self, complaints, name):
        """One assertion: no complaints; they are listed otherwise."""
        return self.ok(not complaints, name, *complaints)

    def skip(self, name, why):
        self.n += 1
        print(f"ok {self.n} - {name} # SKIP {why}")

    def done(self):
        print(f"1..{self.n}")
        sys.exit(1 if self.bad else 0)

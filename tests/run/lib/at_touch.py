"""Every reader, under each timing: what the reader saw is compared with what it must have seen. The
edit keeps the length: a reader that asked for the size first would otherwise see the new bytes up
to the old size, which is right but no whole file."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from runlib import Place, Tap, have  # noqa: E402
from touch_matrix_go import build_go  # noqa: E402

OLD = "".join(f"line {n:03d}\n" for n in range(1, 201))
NEW = OLD.replace("line 055\n", "USER 055\n")
DIFF = """--- a/src/data.txt
+++ b/src/data.txt
@@ -52,7 +52,7 @@
 line 052
 line 053
 line 054
-line 055
+USER 055
 line 056
 line 057
 line 058
"""
PY = "/usr/bin/python3 -c "

# name, command that prints the whole file, program it needs
READERS = [
    ("cat", "cat src/data.txt"),
    ("head -c", "head -c 5000 src/data.txt"),
    ("sed", "sed -n '1,$p' src/data.txt"),
    ("dd", "dd if=src/data.txt bs=4096 status=none"),
    ("grep", "grep '' src/data.txt"),
    ("python read", PY + "'import sys; sys.stdout.write(open(\"src/data.txt\").read())'"),
    ("python mmap", PY + "'import mmap,sys; f=open(\"src/data.txt\",\"rb\"); "
     "m=mmap.mmap(f.fileno(),0,access=mmap.ACCESS_READ); sys.stdout.write(m[:].decode())'"),
    ("python readline", PY + "'import sys; [sys.stdout.write(l) for l in open(\"src/data.txt\")]'"),
    ("pread", PY + "'import os,sys; f=os.open(\"src/data.txt\",0); "
     "sys.stdout.write(os.pread(f,5000,0).decode())'"),
    ("readv", PY + "'import os,sys; f=os.open(\"src/data.txt\",0); b=bytearray(5000); "
     "n=os.readv(f,[b]); sys.stdout.write(b[:n].decode())'"),
    ("sendfile", PY + "'import os; f=os.open(\"src/data.txt\",0); os.sendfile(1,f,0,5000)'"),
    ("node", "node -e 'process.stdout.write(require(\"fs\").readFileSync(\"src/data.txt\"))'", "node"),
    ("node thread pool", "node -e 'require(\"fs\").promises.readFile(\"src/data.txt\")"
     ".then(d=>process.stdout.write(d))'", "node"),
    ("static Go binary", "/workspace/bin/goread src/data.txt", "go"),
    ("cp", "cp src/data.txt /tmp/c; cat /tmp/c"),
    ("symbolic link", "cat link.txt"),
    ("hard link", "ln -f src/data.txt h; cat h"),
    ("directory descriptor", PY + "'import os,sys; d=os.open(\"src\",0); "
     "f=os.open(\"data.txt\",0,dir_fd=d); sys.stdout.write(os.read(f,5000).decode())'"),
    ("/proc/self/fd", PY + "'import os,sys; f=os.open(\"src/data.txt\",os.O_PATH); "
     "g=os.open(f\"/proc/self/fd/{f}\",0); sys.stdout.write(os.read(g,5000).decode())'"),
    ("inherited over fork", PY + "'import os; f=os.open(\"src/data.txt\",0); p=os.fork(); "
     "(os.waitpid(p,0) if p else (os.write(1,os.pread(f,5000,0)),os._exit(0)))'"),
    ("SCM_RIGHTS", PY + "'import os,socket; a,b=socket.socketpair(); p=os.fork(); "
     "\nif p==0:\n m,fds,_,_=socket.recv_fds(b,1,1); os.write(1,os.pread(fds[0],5000,0)); os._exit(0)\n"
     "f=os.open(\"src/data.txt\",0); socket.send_fds(a,[b\"x\"],[f]); os.close(f); os.waitpid(p,0)'"),
    ("descriptor opened long before", "exec 5<src/data.txt; sleep 0.1; cat <&5"),
]

# timing -> what the first and the second read of the command see, and what the next command sees
TIMINGS = {
    "at-touch": (NEW, NEW, NEW),
    "after-read": (OLD, NEW, NEW),
    "after-command": (OLD, OLD, NEW),
}


def check(tap, place, timing, reader):
    name, command, need = reader if len(reader) == 3 else (*reader, None)
    label = f"{timing}: {name}"
    if need and not (have(need) if need != "go" else os.path.exists(place.path("repo/bin/goread"))):
        tap.skip(label, f"{need} is not installed")
        return
    quoted = command.replace("'", "'\\''")
    script = (f"sh -c '{quoted}' >/tmp/one\nsh -c 'cat src/data.txt' >/tmp/next\n"
              if timing != "after-read" else
              f"sh -c '{{ {quoted}\n}} >/tmp/one; {{ {quoted}\n}} >/tmp/two'\ncat src/data.txt >/tmp/next\n")
    script += "cp /tmp/one /tmp/next /workspace/; [ -e /tmp/two ] && cp /tmp/two /workspace/; exit 0\n"
    agent = place.agent(script)
    scenario = place.scenario(
        [{"path": "src/data.txt", "start": 50, "end": 60}],
        [{"order": 1, "when": {"event": "read", "regions": [0], "touch": "bytes"}, "timing": timing,
          "effects": [{"edit": "edit.diff"}]}], mode="edit", max_rounds=1)
    run = place.run("--task", place.path("task.json"), "--agent", agent, "--scenario", scenario)
    first, second, third = TIMINGS[timing]
    want = {"one": first, "next": third}
    if timing == "after-read":
        want["two"] = second
        if name == "python mmap":
            want["one"] = NEW  # a mapping is no copy: its pages are looked at after the call
    got = outputs(run, place, want)
    seen = {k: "edited" if v == NEW else "as it was" if v == OLD else v for k, v in got.items()}
    must = {k: "edited" if v == NEW else "as it was" for k, v in want.items()}
    tap.equal(seen, must, label, run.stderr, run.file("interventions.jsonl").decode())


def outputs(run, place, want):
    """The files that the agent kept, out of the run's patch."""
    import subprocess
    import shutil
    copy = place.path("applied")
    shutil.rmtree(copy, ignore_errors=True)
    os.mkdir(copy)
    shutil.copytree(place.path("repo/src"), os.path.join(copy, "src"))
    subprocess.run(["git", "apply", "--unsafe-paths", os.path.join(run.out, "patch.diff")], cwd=copy,
                   capture_output=True, check=False, env=dict(os.environ, GIT_DIR="/nonexistent"))
    out = {}
    for name in want:
        try:
            with open(os.path.join(copy, name)) as f:
                out[name] = f.read()
        except OSError:
            out[name] = None
    return out


def main():
    tap = Tap()
    with Place() as place:
        place.write("repo/src/data.txt", OLD)
        os.symlink("src/data.txt", place.path("repo/link.txt"))
        place.write("edit.diff", DIFF)
        place.task()
        build_go(place)
        for timing in TIMINGS:
            for reader in READERS:
                check(tap, place, timing, reader)
    tap.done()


main()

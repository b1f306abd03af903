"""Each row: a name, a shell command, and the touches it must cause, exact line ranges included.
One run does them all: the agent's shell starts one command per row, and touches carry the command.

A read is an open of the whole region first, at level open, and then the lines read; rows that name
no open leave it away. An edit without lines is one that leaves no lines to name: the file went
away, or came back. The region is lines 50-60 of a file of 200 lines of 9 bytes (line n begins at byte 9*(n-1))."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from runlib import Place, Tap, have  # noqa: E402
from touch_matrix_go import build_go  # noqa: E402

LINES = "".join(f"line {n:03d}\n" for n in range(1, 201))
ALL = "50-60"
OPEN = f"open {ALL}"
PY = "/usr/bin/python3 -c "

# name, command, touches ("kind lines"), program it needs
ROWS = [
    ("cat", "cat src/data.txt", [f"read {ALL}"]),
    ("head -c before the region", "head -c 400 src/data.txt", ["open"]),
    ("head -c into the region", "head -c 500 src/data.txt", ["read 50-56"]),
    ("sed -n: its argv has the range", "sed -n 55,57p src/data.txt", ["read 55-57"]),
    ("sed -n elsewhere reads all bytes", "sed -n 100,112p src/data.txt", [f"read {ALL}"]),
    ("dd at an offset", "dd if=src/data.txt bs=18 skip=27 count=1", ["read 55-56"]),
    ("dd outside", "dd if=src/data.txt bs=9 skip=100 count=3", ["open"]),
    ("grep on one file", "grep -n 'line 055' src/data.txt", [f"read {ALL}"]),
    ("grep elsewhere", "grep -n foo src/other.txt", []),
    ("python read", PY + "'open(\"src/data.txt\").read()'", [f"read {ALL}"]),
    ("python mmap", PY + "'import mmap; f=open(\"src/data.txt\",\"rb\"); "
     "m=mmap.mmap(f.fileno(),0,access=mmap.ACCESS_READ); print(m[450])'", [f"read {ALL}"]),
    ("python readline", PY + "'open(\"src/data.txt\").readline()'", [f"read {ALL}"]),
    ("python unbuffered seek", PY + "'import os; f=os.open(\"src/data.txt\",0); "
     "os.lseek(f,9*57,0); os.read(f,9)'", ["read 58-58"]),
    ("python pread", PY + "'import os; f=os.open(\"src/data.txt\",0); os.pread(f,10,9*50)'",
     ["read 51-52"]),
    ("python readv", PY + "'import os; f=os.open(\"src/data.txt\",0); "
     "os.readv(f,[bytearray(400),bytearray(60)])'", ["read 50-52"]),
    ("python preadv", PY + "'import os; f=os.open(\"src/data.txt\",0); "
     "os.preadv(f,[bytearray(9),bytearray(9)],9*58)'", ["read 59-60"]),
    ("sendfile", PY + "'import os; f=os.open(\"src/data.txt\",0); "
     "o=os.open(\"/tmp/o\",os.O_WRONLY|os.O_CREAT); os.sendfile(o,f,9*53,18)'", ["read 54-55"]),
    ("copy_file_range", PY + "'import os; f=os.open(\"src/data.txt\",0); "
     "o=os.open(\"src/o\",os.O_WRONLY|os.O_CREAT); os.copy_file_range(f,o,9,9*49)'",
     ["read 50-50"]),
    ("splice", PY + "'import os; f=os.open(\"src/data.txt\",0); r,w=os.pipe(); "
     "os.lseek(f,9*59,0); import ctypes; "
     "ctypes.CDLL(None).splice(f,None,w,None,ctypes.c_size_t(9),0)'", ["read 60-60"]),
    ("node readFileSync", "node -e 'require(\"fs\").readFileSync(\"src/data.txt\")'",
     [f"read {ALL}"], "node"),
    ("node read at a position", "node -e 'const fs=require(\"fs\"); "
     "const f=fs.openSync(\"src/data.txt\"); fs.readSync(f,Buffer.alloc(9),0,9,9*52)'",
     ["read 53-53"], "node"),
    ("node promise on the thread pool", "node -e 'require(\"fs\").promises.open(\"src/data.txt\")"
     ".then(h=>h.read(Buffer.alloc(18),0,18,9*54))'", ["read 55-56"], "node"),
    ("static Go binary", "/workspace/bin/goread src/data.txt", [f"read {ALL}"], "gobuild"),
    ("vim in batch mode", "vim.tiny -u NONE -es -c q src/data.txt", [f"read {ALL}"], "vim.tiny"),
    ("stat only", "stat src/data.txt; ls -l src", []),
    ("open only", PY + "'import os; os.open(\"src/data.txt\",0)'", ["open"]),
    ("O_PATH only", PY + "'import os; f=os.open(\"src/data.txt\",os.O_PATH); os.fstat(f)'", []),
    ("through a symbolic link", "cat link.txt", [f"read {ALL}"]),
    ("through a link to a directory", "cat dirlink/data.txt", [f"read {ALL}"]),
    ("through a new symbolic link", "ln -s src/data.txt fresh; cat fresh; rm fresh",
     [f"read {ALL}"]),
    ("through a hard link", "ln src/data.txt hard; cat hard; rm hard", [f"read {ALL}"]),
    ("relative to a directory descriptor", PY + "'import os; d=os.open(\"src\",0); "
     "f=os.open(\"data.txt\",0,dir_fd=d); os.read(f,5000)'", [f"read {ALL}"]),
    ("through ..", "cat src/../src/./data.txt", [f"read {ALL}"]),
    ("from another directory", "cd src && cat data.txt", [f"read {ALL}"]),
    ("through /proc/self/cwd", "cat /proc/self/cwd/src/data.txt", [f"read {ALL}"]),
    ("through /proc/self/fd", PY + "'import os; f=os.open(\"src/data.txt\",os.O_PATH); "
     "g=os.open(f\"/proc/self/fd/{f}\",0); os.read(g,460)'", ["read 50-52"]),
    ("through /dev/stdin", "cat /dev/stdin <src/data.txt", [f"read {ALL}"]),
    ("redirection", "cat <src/data.txt", [f"read {ALL}"]),
    ("dup", PY + "'import os; f=os.open(\"src/data.txt\",0); g=os.dup(f); os.close(f); "
     "os.lseek(g,9*51,0); os.read(g,9)'", ["read 52-52"]),
    ("dup2 and fcntl", PY + "'import os,fcntl; f=os.open(\"src/data.txt\",0); os.dup2(f,40); "
     "os.close(f); g=fcntl.fcntl(40,fcntl.F_DUPFD,60); os.close(40); os.pread(g,9,9*55)'",
     ["read 56-56"]),
    ("inherited over fork", PY + "'import os; f=os.open(\"src/data.txt\",0); p=os.fork(); "
     "(os.waitpid(p,0) if p else (os.pread(f,9,9*53),os._exit(0)))'", ["read 54-54"]),
    ("inherited over exec", PY + "'import os; f=os.open(\"src/data.txt\",0); "
     "os.dup2(f,0); os.lseek(0,9*49,0); "
     "os.execvp(\"dd\",[\"dd\",\"bs=9\",\"count=1\",\"status=none\"])'", ["read 50-50"]),
    ("passed with SCM_RIGHTS", PY + "'import os,socket; a,b=socket.socketpair(); p=os.fork(); "
     "\nif p==0:\n m,fds,_,_=socket.recv_fds(b,1,1); os.pread(fds[0],9,9*56); os._exit(0)\n"
     "f=os.open(\"src/data.txt\",0); socket.send_fds(a,[b\"x\"],[f]); os.close(f); "
     "os.waitpid(p,0)'", ["read 57-57"]),
    ("another thread reads", PY + "'import os,threading; f=os.open(\"src/data.txt\",0); "
     "t=threading.Thread(target=lambda: os.pread(f,9,9*58)); t.start(); t.join()'",
     ["read 59-59"]),
    ("thread that ran before the open", PY + "'import os,threading; e=threading.Event(); box=[];"
     "t=threading.Thread(target=lambda: (e.wait(), os.pread(box[0],9,9*57))); t.start(); "
     "box.append(os.open(\"src/data.txt\",0)); e.set(); t.join()'", ["read 58-58"]),
    ("cp from", "cp src/data.txt /tmp/copy", [f"read {ALL}"]),
    ("git diff", "git diff --no-ext-diff | cat", [OPEN, f"read {ALL}", OPEN, f"read {ALL}"]),
    ("write inside", PY + "'import os; f=os.open(\"src/data.txt\",1); "
     "os.pwrite(f,b\"LINE 055\",9*54)'", [OPEN, "edit 55-55"]),
    ("write outside", PY + "'import os; f=os.open(\"src/data.txt\",1); "
     "os.pwrite(f,b\"LINE 155\",9*154)'", [OPEN]),
    ("same bytes again", PY + "'t=open(\"src/data.txt\").read(); open(\"src/data.txt\",\"w\")"
     ".write(t)'", [OPEN, f"read {ALL}", OPEN]),
    ("mmap write", PY + "'import mmap; f=open(\"src/data.txt\",\"r+b\"); "
     "m=mmap.mmap(f.fileno(),0,prot=mmap.PROT_WRITE|mmap.PROT_READ); m[9*52:9*52+4]=b\"XXXX\"; "
     "m.close(); f.close()'", [f"read {ALL}", "edit 53-53"]),
    ("sed -i", "sed -i 's/line 056/LINE 056/' src/data.txt", [f"read {ALL}", "edit 56-56"]),
    ("git checkout", "sed -i 's/line 057/LINE 057/' src/data.txt; " + PY +
     "'import os; os.utime(\"src/data.txt\",(1,1))'; git checkout -q -- src/data.txt",
     [OPEN, f"read {ALL}", "edit 57-57", "edit", OPEN, "edit 57-57"]),
    ("cp onto", "sed 's/line 058/LINE 058/' </tmp/orig/data.txt >/tmp/n; cp /tmp/n src/data.txt",
     [OPEN, "edit 58-58"]),
    ("mv onto", "sed 's/line 059/LINE 059/' </tmp/orig/data.txt >src/n; mv src/n src/data.txt",
     ["edit 59-59"]),
    ("tee", "sed 's/line 060/LINE 060/' </tmp/orig/data.txt | tee src/data.txt", [OPEN, "edit 60-60"]),
    ("redirection onto", "sed 's/line 050/LINE 050/' </tmp/orig/data.txt >src/data.txt",
     [OPEN, "edit 50-50"]),
    ("truncate", "truncate -s 460 src/data.txt", [OPEN, "edit 52-60"]),
    ("unlink", "rm src/data.txt", ["edit"]),
    ("write through a hard link", "ln src/data.txt hard; "
     "sed 's/line 051/LINE 051/' </tmp/orig/data.txt >hard; rm hard", [OPEN, "edit 51-51"]),
    ("opened before the rename", PY + "'import os; f=os.open(\"src/data.txt\",0); "
     "os.rename(\"src/data.txt\",\"src/moved\"); os.pread(f,9,9*54); "
     "os.rename(\"src/moved\",\"src/data.txt\")'", [OPEN, "edit", "read", "edit"]),
    ("grep -r is a scan", "grep -rn 'line 055' .", []),
    ("rg is a scan", "rg -n 'line 055'", [], "rg"),
    ("git status is a scan", PY + "'import os; os.utime(\"src/data.txt\")'; git status --short", []),
    ("pytest collection is a scan", "/usr/bin/python3 -m pytest -q --collect-only -p no:cacheprovider",
     [], "pytest"),
    ("find -exec is the tool it runs", "find src -name data.txt -exec cat {} +", [f"read {ALL}"]),
]


def touches(run, cmd):
    out = []
    for t in run.records("touch"):
        if t["cmd"] != cmd or "scan" in t:
            continue
        lines = t.get("lines")
        out.append(t["event"] + (f" {lines[0]}-{lines[1]}" if lines else ""))
    return out


def wanted(row):
    want = list(row[2])
    if OPEN not in want and (want == ["open"] or any(w.startswith("read") for w in want)):
        want = [OPEN] + [w for w in want if w != "open"]
    return want


def dedup(seq):
    """A reader that reads the end of the file again touches the same lines again: once is enough."""
    out = []
    for item in seq:
        if not out or out[-1] != item:
            out.append(item)
    return out


def usable(need, go):
    if need is None:
        return True
    if need == "gobuild":
        return go
    if need == "pytest":
        return subprocess.run(["/usr/bin/python3", "-c", "import pytest"], capture_output=True,
                              check=False).returncode == 0
    return have(need)


def main():
    tap = Tap()
    with Place() as place:
        place.write("repo/src/data.txt", LINES)
        place.write("repo/src/other.txt", "foo\n")
        place.write("repo/conftest.py", "def pytest_collect_file():\n    open('src/data.txt').read()\n")
        place.write("repo/test_x.py", "open('src/data.txt').read()\ndef test_x(): pass\n")
        os.symlink("src/data.txt", place.path("repo/link.txt"))
        os.symlink("src", place.path("repo/dirlink"))
        go = build_go(place)
        script = "mkdir -p /tmp/orig && cp src/data.txt /tmp/orig/data.txt\n"
        for row in ROWS:
            quoted = row[1].replace("'", "'\\''")
            script += f"sh -c '{quoted}\n:' 'row {row[0]}' >/dev/null 2>&1\n"
            script += "sh -c 'cp /tmp/orig/data.txt src/data.txt' restore 2>/dev/null\n"
        task = place.task()
        agent = place.agent(script)
        scenario = place.scenario([{"path": "src/data.txt", "start": 50, "end": 60}], mode="vanilla")
        run = place.run("--task", task, "--agent", agent, "--scenario", scenario)
        if not tap.equal(run.status, 0, "the run is made", run.stderr):
            tap.done()
        tap.equal(run.json()["end"]["reason"], "exited", "it ends by itself", run.stderr)
        ids = {argv[3]: cmd for cmd, argv in run.commands().items() if len(argv) > 3}
        for row in ROWS:
            name, need = row[0], row[3] if len(row) > 3 else None
            if not usable(need, go):
                tap.skip(name, f"{need} is not installed")
                continue
            cmd = ids.get("row " + name)
            if cmd is None:
                tap.ok(False, name, "its command is not in the trace")
                continue
            tap.equal(dedup(touches(run, cmd)), wanted(row), name, f"command {cmd}")
    tap.done()


main()

#!/usr/bin/env python3
"""Search a run for a text: memory, environment, arguments and descriptors of processes, and files.

usage: tests/tools/memsearch.py TEXT PID [PATH...]

Processes are PID, which is proctor's ("-": none), and what it started: "own" are proctor's, "box" those
in a PID namespace of their own. PATHs are files, or directories searched to the bottom. One line for
each place that holds TEXT, "box PID NAME WHERE", "own PID NAME WHERE" or "file PATH"; and for each
process a line "saw KIND PID NAME BYTES" with the bytes of its memory that could be read; "end" is last."""
import os
import re
import stat
import sys

CHUNK = 1 << 20


def read(path):
    try:
        with open(path, "rb") as f:
            return f.read()
    except OSError:
        return b""


def tree(top):
    """(kind, pid) of @top and everything below it."""
    parent, depth = {}, {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        status = read(f"/proc/{name}/status").decode("utf-8", "replace")
        found = re.search(r"^PPid:\s+(\d+)", status, re.M)
        if found:
            parent[int(name)] = int(found[1])
            depth[int(name)] = len(re.search(r"^NSpid:(.*)$", status, re.M)[1].split())
    for pid in parent:
        at = pid
        while at in parent and at != top:
            at = parent[at]
        if at == top:
            yield "box" if depth[pid] > depth[top] else "own", pid


def resident(pid):
    """(from, to) of readable mappings that hold anything."""
    at = None
    for line in read(f"/proc/{pid}/smaps").decode("utf-8", "replace").splitlines():
        head = re.match(r"([0-9a-f]+)-([0-9a-f]+) (\S+)", line)
        if head:
            at = (int(head[1], 16), int(head[2], 16)) if head[3][0] == "r" else None
        elif at and re.match(r"(Rss|Swap):\s+[1-9]", line):
            yield at
            at = None


def search_memory(pid, text):
    """(bytes that were read, found)"""
    seen, found = 0, False
    try:
        fd = os.open(f"/proc/{pid}/mem", os.O_RDONLY)
    except OSError:
        return 0, False
    for begin, end in resident(pid):
        tail, at = b"", begin
        while at < end:
            n = min(CHUNK, end - at)
            try:
                piece = os.pread(fd, n, at)
            except OSError:
                piece = b""
            found |= text in tail + piece
            seen += len(piece)
            tail = piece[-len(text):]
            at += n
    os.close(fd)
    return seen, found


def links(pid):
    out = b""
    try:
        for name in os.listdir(f"/proc/{pid}/fd"):
            out += os.fsencode(os.readlink(f"/proc/{pid}/fd/{name}")) + b"\n"
    except OSError:
        pass
    return out


def search_process(kind, pid, text):
    name = read(f"/proc/{pid}/comm").decode("utf-8", "replace").strip().replace(" ", "_")
    for where in ("environ", "cmdline", "status", "mountinfo"):
        if text in read(f"/proc/{pid}/{where}"):
            print(kind, pid, name, where)
    if text in links(pid):
        print(kind, pid, name, "fd")
    seen, found = search_memory(pid, text)
    if found:
        print(kind, pid, name, "mem")
    print("saw", kind, pid, name, seen)


def search_file(path, text):
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            return
    except OSError:
        return
    if text in os.fsencode(path) or text in read(path):
        print("file", path)


def main():
    text = os.fsencode(sys.argv[1])
    if sys.argv[2] != "-":
        for kind, pid in tree(int(sys.argv[2])):
            search_process(kind, pid, text)
    for top in sys.argv[3:]:
        search_file(top, text)
        for where, _, names in os.walk(top):
            for name in names:
                search_file(os.path.join(where, name), text)
    print("end")


if __name__ == "__main__":
    main()

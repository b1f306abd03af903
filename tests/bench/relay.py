#!/usr/bin/env python3
"""Speed of the relays that lead out of a box, beside socat's.

usage: tests/bench/relay.py [--pairs N] [--size MIB] [--connections N] [--build DIR]

Each pair downloads a body of --size MiB (1024) once through socat and once through a box's relay
(tests/progs/netbox.c), in turn, from the same server in another net namespace, with the same
client. The ratio is taken within the pair (our speed / socat's); the median over the pairs is
printed. Then --connections (1000) are open at once in the box, and each is answered.
Needs user namespaces, ip and socat; no root."""
import argparse
import os
import resource
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ADDR, BULK, ECHO, SOCAT = "198.51.100.7", 7000, 7001, 7100


def open_files():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def server(size):
    """In the world's namespace: bulk data at one port, an echo of one byte at another."""
    block = memoryview(bytes(1 << 20))

    def bulk(conn):
        with conn:
            for _ in range(size):
                conn.sendall(block)

    def listen(port):
        sock = socket.create_server((ADDR, port), backlog=2048)
        return sock

    def echo(sock):
        kept = []  # open until the end: that is what is measured
        while True:
            conn = sock.accept()[0]
            kept.append(conn)
            threading.Thread(target=lambda c: c.sendall(c.recv(1)), args=(conn,),
                             daemon=True).start()

    bulk_sock, echo_sock = listen(BULK), listen(ECHO)
    threading.Thread(target=echo, args=(echo_sock,), daemon=True).start()
    print("ready", flush=True)
    while True:
        threading.Thread(target=bulk, args=(bulk_sock.accept()[0],), daemon=True).start()


def download(host, port, size):
    """Seconds for the whole body."""
    buffer, got = bytearray(1 << 20), 0
    start = time.monotonic()
    with socket.create_connection((host, int(port))) as conn:
        while n := conn.recv_into(buffer):
            got += n
    if got != size << 20:
        sys.exit(f"{got} bytes came instead of {size << 20}")
    print(time.monotonic() - start)


def crowd(host, number):
    """Seconds until each of so many open connections was answered."""
    start = time.monotonic()
    conns = [socket.create_connection((host, ECHO)) for _ in range(number)]
    for conn in conns:
        conn.sendall(b"x")
    good = sum(conn.recv(1) == b"x" for conn in conns)
    print(good, time.monotonic() - start)


def output_of(cmd):
    done = subprocess.run(cmd, stdout=subprocess.PIPE, text=True, check=True, timeout=300)
    return done.stdout.split()


def world(size):
    """A process that serves in a net namespace of its own, linked to ours."""
    me = [sys.executable, __file__]
    proc = subprocess.Popen(["unshare", "-n", "sh", "-c", "echo up; read line; exec \"$@\"", "-",
                             *me, "--role", "server", "--size", str(size)],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    proc.stdout.readline()
    inside = ["nsenter", "-t", str(proc.pid), "-n", "ip"]
    for cmd in (["ip", "link", "set", "lo", "up"],
                ["ip", "link", "add", "v0", "type", "veth", "peer", "name", "v1", "netns",
                 str(proc.pid)],
                ["ip", "addr", "add", "203.0.113.1/24", "dev", "v0"],
                ["ip", "link", "set", "v0", "up"],
                [*inside, "link", "set", "lo", "up"],
                [*inside, "addr", "add", "203.0.113.2/24", "dev", "v1"],
                [*inside, "addr", "add", ADDR + "/32", "dev", "lo"],
                [*inside, "link", "set", "v1", "up"],
                ["ip", "route", "add", "default", "via", "203.0.113.2"]):
        subprocess.run(cmd, check=True)
    proc.stdin.write("go\n")
    proc.stdin.flush()
    proc.stdout.readline()
    return proc


def measure(args):
    netbox = os.path.join(args.build, "tests/progs/netbox")
    me = [sys.executable, __file__, "--size", str(args.size), "--role"]
    serving = world(args.size)
    relay = subprocess.Popen(["socat", f"TCP-LISTEN:{SOCAT},bind=127.0.0.1,fork,reuseaddr",
                              f"TCP:{ADDR}:{BULK}"])
    while f"0100007F:{SOCAT:04X} 00000000:0000 0A" not in open("/proc/net/tcp").read():
        os.sched_yield()  # until socat listens (state 0A)
    ratios = []
    with tempfile.TemporaryDirectory() as place:
        box = [netbox, "allowlist", os.path.join(place, "log"), ADDR, "--"]
        for i in range(args.pairs):
            plain = [*me, "download", "--host", "127.0.0.1", "--port", str(SOCAT)]
            ours = [*box, *me, "download", "--host", ADDR, "--port", str(BULK)]
            order = [plain, ours] if i % 2 == 0 else [ours, plain]
            times = {id(cmd): float(output_of(cmd)[0]) for cmd in order}
            ratios.append(times[id(plain)] / times[id(ours)])
            print(f"pair {i + 1}: socat {args.size / times[id(plain)]:.0f} MiB/s, "
                  f"box {args.size / times[id(ours)]:.0f} MiB/s, ratio {ratios[-1]:.2f}")
        good, seconds = output_of([*box, *me, "crowd", "--host", ADDR,
                                   "--connections", str(args.connections)])
    relay.terminate()
    serving.kill()
    print(f"our speed / socat's, median of {args.pairs}: {statistics.median(ratios):.2f}")
    print(f"{good} of {args.connections} concurrent connections answered in {float(seconds):.2f} s")
    sys.exit(0 if int(good) == args.connections else 1)


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--pairs", type=int, default=5)
    ap.add_argument("--size", type=int, default=1024, help="MiB")
    ap.add_argument("--connections", type=int, default=1000)
    ap.add_argument("--build", default=os.path.join(TOP, "build"))
    ap.add_argument("--role", default="", help=argparse.SUPPRESS)
    ap.add_argument("--host", help=argparse.SUPPRESS)
    ap.add_argument("--port", help=argparse.SUPPRESS)
    args = ap.parse_args()
    open_files()
    if args.role == "server":
        server(args.size)
    elif args.role == "download":
        download(args.host, args.port, args.size)
    elif args.role == "crowd":
        crowd(args.host, args.connections)
    elif args.role == "inside":
        measure(args)
    else:
        os.execvp("unshare", ["unshare", "-rnm", sys.executable, __file__, "--role", "inside",
                              *sys.argv[1:]])


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Latency that the gateway adds to a model call, in pairs measured side by side.

usage: tests/bench/gateway.py [--build DIR | --url URL] [--pairs N] [--bytes N] [--wait MS] [--record FILE]

The endpoint is tests/tools/fakemodel.py; in front of it stands DIR/tests/bench/gwserve, the gateway's
server without box and supervisor, or what --url names ("none": the endpoint itself, which shows the
noise). Each round asks once directly and once through the gateway, in turns of order, over kept
connections, with a body of N bytes that differs from call to call (a repeated one would be answered
from the record). Printed: median and 95 % of both arms and of the differences within the rounds, for
the first byte and for the whole answer, streamed and not. The record is synced to FILE before every
answer's end: on a slow disk that is what is measured; /dev/shm takes it out."""
import argparse
import http.client
import json
import os
import socket
import statistics
import subprocess
import sys
import time
from urllib.parse import urlsplit

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def start(command):
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    line = child.stdout.readline()
    if not line.startswith("port "):
        sys.exit(f"{command[0]}: no port")
    return child, f"http://127.0.0.1:{int(line[5:])}/v1"


class Arm:
    """One kept connection."""

    def __init__(self, url):
        self.at = urlsplit(url)
        self.c = http.client.HTTPConnection(self.at.hostname, self.at.port, timeout=60)
        self.c.connect()
        self.c.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self, body):
        """Seconds to the first byte of the body and to its end."""
        begin = time.perf_counter()
        self.c.request("POST", self.at.path + "/chat/completions", body,
                       {"Content-Type": "application/json"})
        answer = self.c.getresponse()
        answer.read(1)
        first = time.perf_counter()
        answer.read()
        if answer.status != 200:
            sys.exit(f"{self.at.netloc}: status {answer.status}")
        return first - begin, time.perf_counter() - begin


def body(n, serial, stream):
    text = "x" * max(0, n - 200)
    return json.dumps({"model": "fake", "stream": stream, "messages": [
        {"role": "user", "content": f"{serial} {os.getpid()} {text}"}]}).encode()


def show(name, values):
    values = sorted(values)
    print(f"  {name:<22}p50 {statistics.median(values) * 1e3:8.3f} ms   "
          f"p95 {values[int(len(values) * .95)] * 1e3:8.3f} ms")


def pairs(direct, through, opt, stream):
    arms = {"direct": Arm(direct), "gateway": Arm(through)}
    times = {"direct": [], "gateway": []}
    for i in range(opt.pairs + 5):
        order = list(arms) if i % 2 else list(arms)[::-1]
        for arm in order:
            got = arms[arm].ask(body(opt.bytes, f"{i} {stream}", stream))
            if i >= 5:  # the first ones warm up both sides
                times[arm].append(got)
    return times


def measure(direct, through, opt):
    for stream in (False, True):
        times = pairs(direct, through, opt, stream)
        print(f" {'streamed' if stream else 'whole'} answers, requests of {opt.bytes} bytes, "
              f"{opt.pairs} pairs")
        for k, what in ((0, "first byte"), (1, "last byte")):
            d = [t[k] for t in times["direct"]]
            g = [t[k] for t in times["gateway"]]
            show(what + ", direct", d)
            show(what + ", gateway", g)
            show(what + ", added", [b - a for a, b in zip(d, g)])
            print(f"  {what + ', ratio':<22}{statistics.median(b / a for a, b in zip(d, g)):12.2f}")


def main():
    opt = argparse.ArgumentParser(usage=__doc__)
    opt.add_argument("--url")
    opt.add_argument("--build", default=TOP + "/build")
    opt.add_argument("--record", default="/dev/shm/gateway-bench.jsonl")
    opt.add_argument("--pairs", type=int, default=200)
    opt.add_argument("--bytes", type=int, default=20000)
    opt.add_argument("--wait", type=float, default=0, help="pause between events, ms")
    opt = opt.parse_args()
    fake, direct = start([sys.executable, TOP + "/tests/tools/fakemodel.py",
                          "--pause", str(opt.wait / 1000)])
    try:
        for delivery in ("stream", "buffered"):
            print(f"delivery {delivery}")
            if opt.url:
                measure(direct, direct if opt.url == "none" else opt.url, opt)
                continue
            gateway, through = start([opt.build + "/tests/bench/gwserve", direct, delivery, opt.record])
            try:
                measure(direct, through, opt)
            finally:
                gateway.stdin.close()
                gateway.wait()
    finally:
        fake.stdin.close()
        fake.wait()
        if not opt.url:
            os.unlink(opt.record)


if __name__ == "__main__":
    main()

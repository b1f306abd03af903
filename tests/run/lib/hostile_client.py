"""A hostile program in the box (tests/run/hostile.sh): what it does to the model API, stage by stage. Behind
each stage it prints "stage NAME: ok" or what was wrong, and waits for a line on standard input."""
import http.client
import json
import os
import re
import socket
import sys
import threading
import time
import urllib.parse

AT = urllib.parse.urlsplit(os.environ["BASE"])
PATH = AT.path + "/chat/completions"
SECONDS = 120


class Wrong(Exception):
    pass


def expect(good, *why):
    if not good:
        raise Wrong(" ".join(str(w)[:300] for w in why))


def connect():
    return socket.create_connection((AT.hostname, AT.port), timeout=SECONDS)


def ask(body, headers=()):
    """A well-formed request. (status, bytes); status 0 when the connection is cut."""
    c = http.client.HTTPConnection(AT.hostname, AT.port, timeout=SECONDS)
    try:
        c.request("POST", PATH, body if isinstance(body, bytes) else json.dumps(body),
                  {"Content-Type": "application/json", **dict(headers)})
        r = c.getresponse()
        return r.status, r.read()
    except (OSError, http.client.HTTPException):
        return 0, b""
    finally:
        c.close()


COUNT = [0]


def well():
    """A decent client is served, each time with a question of its own."""
    COUNT[0] += 1
    status, data = ask({"model": "m", "messages": [{"role": "user", "content": f"hi {COUNT[0]}"}]})
    expect(status == 200 and json.loads(data)["choices"][0]["message"]["content"],
           "a decent request got", status, data)


def talk(data):
    """Send bytes as they are, read until the end."""
    s, got = connect(), b""
    try:
        s.sendall(data)
    except OSError:
        pass  # refused before all was sent
    try:
        while piece := s.recv(65536):
            got += piece
    except ConnectionError:
        pass
    s.close()
    return got


def statuses(got):
    return [int(n) for n in re.findall(rb"HTTP/1\.1 (\d+) ", got)]


def request(*headers, body=b"", line=b""):
    head = [line or b"POST %s HTTP/1.1" % PATH.encode(), b"Host: x", *headers]
    return b"\r\n".join(head) + b"\r\n\r\n" + body


def slowloris():
    open_ = []
    for i in range(300):
        s = connect()
        s.sendall(b"POST %s HTTP/1.1\r\nHost: x\r\nX-%d: " % (PATH.encode(), i))
        open_.append(s)
    for _ in range(3):
        for s in open_:
            try:
                s.sendall(b"a")
            except OSError:
                pass  # cut for others
        well()


def flood(first, piece):
    """Header bytes without end: 100 MB at most. How many were taken."""
    s, sent = connect(), 0
    try:
        s.sendall(first)
        while sent < 100 << 20:
            s.sendall(piece)
            sent += len(piece)
    except OSError:
        pass
    s.close()
    return sent


def header_endless():
    sent = flood(b"POST %s HTTP/1.1\r\nX: " % PATH.encode(), b"a" * 65536)
    well()
    return sent


def headers_many():
    flood(b"POST %s HTTP/1.1\r\n" % PATH.encode(), b"".join(b"X-%d: %s\r\n" % (i, b"b" * 1000)
                                                            for i in range(64)))
    flood(b"GET /", b"c" * 65536)  # a target without end
    well()


BODY = json.dumps({"model": "m", "messages": [{"role": "user", "content": "x"}]}).encode()
LENGTH = b"Content-Length: %d" % len(BODY)
HIDDEN = b"GET /hidden HTTP/1.1\r\nHost: x\r\n\r\n"
CHUNKED = b"Transfer-Encoding: chunked"


def chunks(*parts):
    return request(CHUNKED, body=b"".join(parts) + HIDDEN)


def smuggled():
    """What two readers could understand differently is refused, and nothing behind it is read."""
    bad = {
        "two forms of length": request(LENGTH, CHUNKED, body=b"0\r\n\r\n" + HIDDEN),
        "the same, turned": request(CHUNKED, LENGTH, body=b"0\r\n\r\n" + HIDDEN),
        "two lengths": request(LENGTH, b"Content-Length: 5", body=BODY + HIDDEN),
        "a list of lengths": request(b"Content-Length: 5, 6", body=BODY + HIDDEN),
        "a negative length": request(b"Content-Length: -1", body=BODY + HIDDEN),
        "a signed length": request(b"Content-Length: +5", body=BODY + HIDDEN),
        "a hexadecimal length": request(b"Content-Length: 0x10", body=BODY + HIDDEN),
        "a huge length": request(b"Content-Length: 18446744073709551617", body=BODY + HIDDEN),
        "a length of 1 TB": request(b"Content-Length: 1099511627776", body=BODY),
        "a blank before the colon": request(b"Content-Length : 5", body=BODY + HIDDEN),
        "another coding": request(b"Transfer-Encoding: gzip, chunked", body=b"0\r\n\r\n" + HIDDEN),
        "chunked twice": request(CHUNKED, CHUNKED, body=b"0\r\n\r\n" + HIDDEN),
        "chunked in disguise": request(b"Transfer-Encoding: \x0bchunked", body=b"0\r\n\r\n" + HIDDEN),
        "a folded header": request(b"X: a\r\n Content-Length: 5", LENGTH, body=BODY + HIDDEN),
        "a zero byte": request(b"X: a\0b", LENGTH, body=BODY + HIDDEN),
        "a carriage return": request(b"X: a\rContent-Length: 5", LENGTH, body=BODY + HIDDEN),
        "another version": request(LENGTH, body=BODY, line=b"POST / HTTP/3.0"),
        "no version": b"GET /\r\n" + HIDDEN,
        "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "a chunk size that is no number": chunks(b"zz\r\n"),
        "a negative chunk": chunks(b"-1\r\n"),
        "a chunk of 2^64": chunks(b"10000000000000000\r\n"),
        "a chunk of 2^64-1": chunks(b"ffffffffffffffff\r\n"),
        "a chunk without its end": chunks(b"1\r\nab\r\n0\r\n\r\n"),
        "a chunk line without end": chunks(b"1;" + b"x" * 100000),
        "trailers without end": chunks(b"0\r\n" + b"X: y\r\n" * 100000),
    }
    for name, data in bad.items():
        got = statuses(talk(data))
        expect(not got or (len(got) == 1 and got[0] >= 400), name, "got", got)
    well()


def chunks_small():
    """As many chunks as bytes."""
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "y" * 100000}]})
    data = request(CHUNKED, b"Connection: close",
                   body=b"".join(b"1\r\n%c\r\n" % b for b in body.encode()) + b"0\r\n\r\n")
    expect(statuses(talk(data)) == [200], "one-byte chunks")


def deep():
    n = 1000000
    for body in (b"[" * n, b"[" * n + b"]" * n, b'{"a":' * n,
                 b'{"model":"m","messages":[{"role":"user","content":' + b"[" * n + b"]" * n + b"}]}"):
        status, _ = ask(body)
        expect(status == 400, "deep JSON got", status)
    many = b'{"model":"m","messages":[' + b",".join([b'{"role":"user","content":"a"}'] * 200000) + b"]}"
    status, _ = ask(many)
    expect(status in (400, 413, 503), "200,000 entries got", status)
    well()


def halves():
    """Clients that go away at each moment, or close only their side."""
    for cut in (1, 20, len(request(LENGTH)), len(request(LENGTH, body=BODY)) - 1):
        for how in (socket.SHUT_WR, socket.SHUT_RDWR):
            s = connect()
            s.sendall(request(LENGTH, body=BODY)[:cut])
            s.shutdown(how)
            s.close()
    for i in range(50):
        body = json.dumps({"model": "m", "messages": [{"role": "user", "content": f"gone {i}"}]}).encode()
        s = connect()
        s.sendall(request(b"Content-Length: %d" % len(body), body=body))
        s.shutdown(socket.SHUT_WR)
        s.close()
    well()


def pipelined():
    one = b"".join(request(b"Content-Length: %d" % len(body), body=body) for body in (
        json.dumps({"model": "m", "messages": [{"role": "user", "content": f"p {i}"}]}).encode()
        for i in range(200)))
    s, got = connect(), b""
    threading.Thread(target=s.sendall, args=(one,), daemon=True).start()
    while len(statuses(got)) < 200 or not got.endswith(b"}"):
        piece = s.recv(65536)
        if not piece:
            break
        got += piece
    expect(statuses(got) == [200] * 200, "200 requests at once got", statuses(got))
    s.close()


def crowd():
    open_ = []
    for _ in range(1000):
        open_.append(connect())
    well()
    for s in open_:
        s.close()
    well()


def unread():
    """Answers that nobody reads."""
    open_ = []
    for i in range(100):
        s = connect()
        s.sendall(b"".join([request(b"Content-Length: %d" % len(BODY), body=BODY)] * 50))
        open_.append(s)
    well()
    for s in open_:
        s.close()


def bodies(content):
    """Eight times 64 MiB at once, and a decent client beside them."""
    lead, end = b'{"model":"m","messages":[{"role":"user","content":"', b'"}]}'
    got = []

    def one(i):
        mark = b"%d " % i
        # The gateway's own changes need room, too.
        fill = (64 << 20) - 4096
        got.append(ask(lead + mark + (content * (fill // len(content) + 1))[:fill] + end)[0])

    threads = [threading.Thread(target=one, args=(i,)) for i in range(8)]
    for t in threads:
        t.start()
    for _ in range(3):
        # Bytes are short while theirs are under way: told to come again is an answer, too.
        while ask({"model": "m", "messages": [{"role": "user", "content": f"beside {COUNT[0]}"}]})[0] == 503:
            time.sleep(0.2)
        COUNT[0] += 1
    for t in threads:
        t.join()
    expect(set(got) <= {0, 200, 413, 503} and len(got) == 8 and 200 in got, "64 MiB bodies got", got)
    well()


def large():
    bodies(b"a ")


def escapes():
    """Text that grows when it is escaped again."""
    bodies(b"\\\\")


def over():
    status, _ = ask(b"[" + b" " * (65 << 20) + b"]")
    expect(status in (0, 413), "65 MiB got", status)
    well()


def numbers():
    """Many small values in few bytes."""
    lead = b'{"model":"m","messages":[{"role":"user","content":"x"}],"metadata":['
    status, _ = ask(lead + b",".join([b"1"] * (8 << 20)) + b"]}")
    expect(status in (200, 400, 413, 503), "many numbers got", status)
    well()


STAGES = [well, slowloris, header_endless, headers_many, smuggled, chunks_small, deep, halves, pipelined,
          crowd, unread, numbers, over, large, escapes]


def upstream():
    """One request of each form meets the fault, the third one does not."""
    for stream in (False, True):
        status, data = ask({"model": "m", "stream": stream, "messages": [
            {"role": "user", "content": f"stream {stream}"}]})
        expect(status >= 400 and b"fake-model" not in data, "a fault gave", status, data)
    well()


def main():
    for stage in [upstream] if sys.argv[1:] == ["upstream"] else STAGES:
        try:
            stage()
            why = "ok"
        except Exception as e:  # said to the test, which fails
            why = f"{type(e).__name__} {e}"
        print(f"stage {stage.__name__}: {why}", flush=True)
        sys.stdin.readline()
    print("the end", flush=True)


main()

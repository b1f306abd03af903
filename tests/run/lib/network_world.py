"""The world of network.py: a net namespace of its own with servers, a name server and an ear on the link.
A line on standard input asks for a report, one line of JSON: what happened since the last one, up to a
datagram to SENTINEL that the asker has sent before: {"packets": [[proto, addr, port], ...], "names":
           [...], "http": [[addr, port, host, path], ...], "accepted": {"addr:port": n}}
"""
import http.server
import io
import json
import os
import socket
import socketserver
import struct
import sys
import tarfile
import threading

MARKER = "marker-4711"
NAMES = {
    "web.example": ["198.51.100.7"], "evil.example": ["198.51.100.9"],
    "private.example": ["10.20.30.40"], "loop.example": ["127.0.0.1"],
    "meta.example": ["169.254.169.254"], "own.example": ["203.0.113.1"],
    "zero.example": ["0.0.0.0"], "mixed.example": ["127.0.0.1", "198.51.100.7"],
    "metadata.google.internal": ["169.254.169.254"],
}
NAMES6 = {"loop6.example": "::1", "mapped.example": "::ffff:127.0.0.1",
          "nat64.example": "64:ff9b::7f00:1", "sixtofour.example": "2002:7f00:1::"}
WEB = [("198.51.100.7", 80), ("198.51.100.8", 8080), ("198.51.100.9", 80), ("198.51.100.9", 443),
       ("10.20.30.40", 80), ("169.254.169.254", 80), ("100.100.100.200", 80)]
ECHO = ("198.51.100.7", 7001)
SENTINEL = ("203.0.113.2", 9)
LOCK = threading.Lock()
HEARD = threading.Semaphore(0)
SEEN = {}


def note(kind, what):
    with LOCK:
        SEEN.setdefault(kind, []).append(what)


def package():
    """A package for npm, without scripts."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, text in (("package/package.json", '{"name": "tiny", "version": "1.0.0"}'),
                           ("package/marker", MARKER + "\n")):
            info = tarfile.TarInfo(name)
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text.encode()))
    return out.getvalue()


class Web(http.server.SimpleHTTPRequestHandler):
    """Files of the directory it is started in, and a registry at /npm/."""
    tarball = package()

    def log_message(self, *_):
        pass

    def do_GET(self):
        addr, port = self.connection.getsockname()[:2]
        host = self.headers.get("Host", "")
        note("http", [addr, port, host, self.path])
        if self.path == "/npm/tiny":
            self.send(json.dumps({
                "name": "tiny", "dist-tags": {"latest": "1.0.0"},
                "versions": {"1.0.0": {"name": "tiny", "version": "1.0.0",
                                       "dist": {"tarball": f"http://{host}/npm/tiny.tgz"}}},
            }).encode(), "application/json")
        elif self.path == "/npm/tiny.tgz":
            self.send(self.tarball, "application/octet-stream")
        else:
            super().do_GET()

    def send(self, body, kind):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def server_bind(self):  # without a lookup of the own name
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]

    def get_request(self):
        note("accepted", "%s:%d" % self.server_address[:2])
        return super().get_request()


def question(msg):
    name, at = [], 12
    while msg[at]:
        name.append(msg[at + 1:at + 1 + msg[at]].decode("latin-1"))
        at += 1 + msg[at]
    return ".".join(name).lower(), struct.unpack(">H", msg[at + 1:at + 3])[0], at + 5


def name_server(sock):
    while True:
        msg, client = sock.recvfrom(512)
        name, qtype, end = question(msg)
        note("names", name)
        addrs = []
        if qtype == 1:
            addrs = [socket.inet_aton(a) for a in NAMES.get(name, [])]
        elif qtype == 28 and name in NAMES6:
            addrs = [socket.inet_pton(socket.AF_INET6, NAMES6[name])]
        code = 0 if name in NAMES or name in NAMES6 else 3
        out = msg[:2] + struct.pack(">HHHHH", 0x8180 | code, 1, len(addrs), 0, 0) + msg[12:end]
        for addr in addrs:
            out += struct.pack(">HHHIH", 0xc00c, qtype, 1, 5, len(addr)) + addr
        sock.sendto(out, client)


def ear(sock):
    """Every IP packet that comes over the link, once per destination."""
    while True:
        frame, where = sock.recvfrom(200)
        if where[2] == 4:  # PACKET_OUTGOING: ours
            continue
        if frame[0] >> 4 == 6:
            note("packets", ["ipv6", frame[6], socket.inet_ntop(socket.AF_INET6, frame[24:40])])
        elif where[1] == 0x0800:
            head, proto = (frame[0] & 15) * 4, frame[9]
            port = struct.unpack(">H", frame[head + 2:head + 4])[0] if proto in (6, 17) else 0
            to = socket.inet_ntoa(frame[16:20])
            if (proto, to, port) == (17, *SENTINEL):
                HEARD.release()
            else:
                note("packets", [{6: "tcp", 17: "udp"}.get(proto, proto), to, port])


def echo(sock):
    kept = []  # open until the end
    while True:
        conn = sock.accept()[0]
        kept.append(conn)
        threading.Thread(target=lambda c: c.sendall(c.recv(1)), args=(conn,), daemon=True).start()


def start(target, arg):
    threading.Thread(target=target, args=(arg,), daemon=True).start()


def main():
    os.chdir(sys.argv[1])
    listening = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x0003))
    listening.bind(("v1", 0))
    start(ear, listening)
    names = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    names.bind(("192.0.2.53", 53))
    start(name_server, names)
    start(echo, socket.create_server(ECHO, backlog=2048))
    for place in WEB:
        server = Server(place, Web)
        threading.Thread(target=server.serve_forever, daemon=True).start()
    print("ready", flush=True)
    for _ in sys.stdin:
        HEARD.acquire()
        with LOCK:
            seen = dict(SEEN)
            SEEN.clear()
        accepted = seen.get("accepted", [])
        print(json.dumps({
            "packets": sorted(map(list, {tuple(p) for p in seen.get("packets", [])}), key=str),
            "names": sorted(set(seen.get("names", []))), "http": seen.get("http", []),
            "accepted": {place: accepted.count(place) for place in accepted},
        }), flush=True)


if __name__ == "__main__":
    main()

"""Clients of network.py: one HTTP request each, by every kind of program that has its own idea of names,
proxies and sockets."""
import os
import shlex
import shutil
import subprocess

DNS_CHECKS = 10

GO = """package main

import (
	"io"
	"net/http"
	"os"
)

func main() {
	r, err := http.Get(os.Args[1])
	if err != nil {
		println(err.Error())
		os.Exit(1)
	}
	io.Copy(os.Stdout, r.Body)
}
"""

JAVA = """import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

public class Get {
	public static void main(String[] args) throws Exception {
		HttpRequest request = HttpRequest.newBuilder(URI.create(args[0])).build();
		System.out.print(HttpClient.newHttpClient()
			.send(request, HttpResponse.BodyHandlers.ofString()).body());
	}
}
"""

DNS = r"""
import os, socket, struct

def query(name, qtype=1, opt=b"", ident=0x4711):
    out = struct.pack(">HHHHHH", ident, 0x100, 1, 0, 0, 1 if opt else 0)
    for part in name.split("."):
        out += bytes([len(part)]) + part.encode()
    return out + struct.pack(">BHH", 0, qtype, 1) + opt

def udp():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.connect(("127.0.0.1", 53))
    s.settimeout(10)
    return s

def ask(msg):
    with udp() as s:
        s.send(msg)
        return s.recv(4096)

def say(good, what):
    print("good" if good else "bad", what, flush=True)

OPT = struct.pack(">BHHIH", 0, 41, 1232, 0, 0)
q = query("wEb.ExAmPlE")
a = ask(q)
say(a[12:len(q)] == q[12:] and a[3] & 15 == 0 and a[7] == 1, "mixed case is echoed")
say(a[-4] == 127 and 64 <= a[-3] < 128, "the address is one of ours")
a = ask(query("web.example", 1, OPT))
say(a[11] == 1 and a[7] == 1 and a[-11:-8] == b"\0\0\x29", "EDNS is answered")
a = ask(query("web.example", 28))
say(a[3] & 15 == 0 and a[7] == 0, "AAAA is empty")
a = ask(query("evil.example"))
say(a[3] & 15 == 3, "a name without a rule does not exist")
a = ask(query("web.example", 255))
say(a[3] & 15 == 4, "ANY is not done")
with socket.create_connection(("127.0.0.1", 53), 10) as s:
    got = b""
    for i in range(3):
        m = query("web.example", ident=i)
        s.sendall(struct.pack(">H", len(m)) + m)
    s.shutdown(socket.SHUT_WR)
    while data := s.recv(4096):
        got += data
    n = struct.unpack(">H", got[:2])[0]
    say(len(got) == 3 * (n + 2) and got[2 + 7] == 1, "three questions over one TCP connection")
with udp() as s:
    for i in range(1000):
        s.send(os.urandom(i % 80))
say(True, "garbage was sent")
with udp() as s:
    s.setblocking(False)
    for i in range(100000):
        try:
            s.send(query(f"n{i}.sub.example" if i % 2 else f"n{i}.denied.example"))
            s.recv(512)
        except (BlockingIOError, ConnectionRefusedError):
            pass
say(True, "100,000 questions were sent")
for i in range(30):
    try:
        with udp() as s:
            s.settimeout(1)
            s.send(query("web.example"))
            a = s.recv(512)
            break
    except TimeoutError:
        a = bytes(12)
say(a[7] == 1, "after the flood it answers")
"""

CROWD = r"""
import resource, socket, sys
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
conns = [socket.create_connection((sys.argv[1], int(sys.argv[2]))) for _ in range(1000)]
for conn in conns:
    conn.sendall(b"x")
print(sum(conn.recv(1) == b"x" for conn in conns), "answered")
"""


class Client:
    """@command: of sh, with URL (without path) in $1, printing the marker on success."""

    def __init__(self, name, needs, command, skip="", prepare=None):
        self.name, self.needs, self.command = name, needs, command
        self.skip = skip or needs
        self.prepare = prepare or (lambda place: True)


def build_go(place):
    place.write("go/main.go", GO)
    env = dict(os.environ, CGO_ENABLED="0", GOCACHE=place.path("gocache"), GO111MODULE="off",
               HOME=place.dir, GOFLAGS="")
    return subprocess.run(["go", "build", "-o", place.path("work/goget"), place.path("go/main.go")],
                          env=env, capture_output=True, check=False).returncode == 0


CURL = Client("curl", "curl", 'curl -sS -m 30 "$1"')
PYTHON = ("/usr/bin/python3 -c 'import sys, urllib.request; "
          "print(urllib.request.urlopen(sys.argv[1] + \"/marker\", timeout=30).read().decode())' \"$1\"")
NODE = ("node -e 'fetch(process.argv[1] + \"/marker\").then(r => r.text())"
        ".then(t => process.stdout.write(t))' \"$1\"")
GIT = ('rm -rf "$HOME/clone" && GIT_TERMINAL_PROMPT=0 git clone -q "$1/repo.git" "$HOME/clone" && '
       'cat "$HOME/clone/marker"')
NPM = ('rm -rf "$HOME/npm" && mkdir "$HOME/npm" && cd "$HOME/npm" && echo "{}" >package.json && '
       "npm install --registry \"$1/npm/\" --fetch-retries=0 --no-audit --no-fund --loglevel=error "
       '--cache "$HOME/npm/cache" tiny && cat node_modules/tiny/marker')
RAW = ('h=${1#http://}; p=${h#*:}; [ "$p" != "$h" ] || p=80; ./rawget "${h%:*}" "$p" /marker')

CLIENTS = [
    Client("curl", "curl", 'curl -sS -m 30 "$1/marker"'),
    Client("curl over a proxy variable for nobody", "curl",
           'http_proxy= curl -sS -m 30 --http1.0 "$1/marker"'),
    Client("python", "/usr/bin/python3", PYTHON),
    Client("node", "node", NODE),
    Client("static Go binary", "go", './goget "$1/marker"', prepare=build_go),
    Client("java", "java", 'java -Xshare:auto Get.java "$1/marker"'),
    Client("git", "git", GIT),
    Client("npm", "npm", NPM, skip="node"),
    Client("system calls by number", "sh", RAW),
]


def make_git(place):
    """A repository that any web server can serve."""
    env = dict(os.environ, GIT_AUTHOR_NAME="a", GIT_AUTHOR_EMAIL="a@b.example",
               GIT_COMMITTER_NAME="a", GIT_COMMITTER_EMAIL="a@b.example", HOME=place.dir,
               GIT_CONFIG_NOSYSTEM="1")
    tree, bare = place.path("tree"), place.path("www/repo.git")
    shutil.rmtree(tree, ignore_errors=True)
    os.makedirs(tree)
    shutil.copy(place.path("www/marker"), tree)
    for cmd in (["init", "-q", tree], ["-C", tree, "add", "."], ["-C", tree, "commit", "-qm", "x"],
                ["clone", "-q", "--bare", tree, bare], ["-C", bare, "update-server-info"]):
        subprocess.run(["git", *cmd], env=env, check=True, capture_output=True)


def make_work(place, progs):
    """The directory that commands run in."""
    place.write("work/Get.java", JAVA)
    place.write("work/dns.py", DNS)
    place.write("work/crowd.py", CROWD)
    shutil.copy(os.path.join(progs, "rawget"), place.path("work/rawget"))


def case_line(case, command, url):
    """Prints "case NAME: STATUS OUTPUT" with the output in one line."""
    return (f"set -- {shlex.quote(url)}\nout=$( ( {command} ) 2>&1 )\nstatus=$?\n"
            f"printf 'case %s: %d %s\\n' {shlex.quote(case)} $status "
            "\"$(printf %s \"$out\" | tr '\\r\\n' '  ' | cut -c1-300)\"\n")


def script(client, cases, path=None):
    """One run of a client: all cases. @path "": the URLs are whole."""
    command = CURL.command if path == "" else client.command
    home = "HOME=$(mktemp -d) && export HOME || exit 1\ntrap 'rm -rf \"$HOME\"' EXIT\n"
    return home + "".join(case_line(case, command, url) for case, url in cases.items())


def spellings_script(port):
    hosts = ["127.0.0.1", "127.1", "127.0.1", "0x7f.1", "0x7f000001", "2130706433", "017700000001",
             "0177.0.0.1", "127.000.000.001", "127.0.0.53", "127.64.0.9", "127.255.255.254",
             "0.0.0.0", "0", "localhost", "localhost.", "a.localhost", "LOCALHOST", "[::1]", "[::]",
             "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]",
             "[::ffff:0:127.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::1]",
             "[2001:db8::5efe:7f00:1]", "loop.example", "loop6.example", "mapped.example",
             "nat64.example", "sixtofour.example", "zero.example", "own.example", "203.0.113.1",
             "[::ffff:203.0.113.1]", "[64:ff9b::203.0.113.1]", "127.0.0.1.", "loop.example."]
    meta = ["169.254.169.254", "0xa9fea9fe", "2852039166", "0251.0376.0251.0376", "169.254.43518",
            "[::ffff:169.254.169.254]", "[::ffff:a9fe:a9fe]", "[64:ff9b::a9fe:a9fe]",
            "[2002:a9fe:a9fe::1]", "[fd00:ec2::254]", "100.100.100.200", "168.63.129.16",
            "192.0.0.192", "meta.example", "metadata.google.internal"]
    urls = {f"{h} at {port}": f"http://{h}:{port}/marker" for h in hosts}
    urls.update({f"{h} at 80": f"http://{h}/marker" for h in meta})
    # A program that passes bytes on without thinking, beside the one that normalises.
    text = script(CURL, urls, path="")
    for h in ("127.0.0.1", "169.254.169.254", "loop.example"):
        text += case_line(f"raw {h}", RAW, f"http://{h}:{80 if '169' in h else port}")
    return text

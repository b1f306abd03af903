"""The network matrix: kinds of programs x allowed and denied, by name and by address, under each
network.mode; spellings of forbidden addresses; what DNS answers; many connections. The world is
network_world.py in a net namespace behind one link; everything that crosses the link is seen there.

NETBOX=PROGRAM in the environment (tests/progs/netbox): the network alone instead of whole runs."""
import json
import os
import re
import resource
import shutil
import socket
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from runlib import PROCTOR, Place, Tap, have  # noqa: E402
from network_world import ECHO, MARKER, SENTINEL  # noqa: E402
import network_clients as clients  # noqa: E402

NETBOX = os.environ.get("NETBOX")
HERE = os.path.dirname(os.path.abspath(__file__))
RULES = ["web.example", "*.sub.example:80", "198.51.100.8:8080", "198.51.100.7:7001",
         "10.20.30.0/24:80", "loop.example", "loop6.example", "mapped.example", "nat64.example",
         "sixtofour.example", "meta.example", "own.example", "zero.example", "mixed.example",
         "private.example", "metadata.google.internal"]
NAMED, BARE = "http://web.example", "http://198.51.100.8:8080"
EVIL, EVIL_ADDR = "http://evil.example", "http://198.51.100.9"
OWN_PORT = 8123  # of a server on this host that nobody may reach


def sh(*cmd):
    subprocess.run(cmd, check=True)


class Result:
    """What a run printed, and its network records: (kind, host, addr, port, allowed, rule)."""

    def __init__(self, status, out, err, records, summary):
        self.status, self.out, self.err = status, out, err
        self.records, self.summary = records, summary

    def refused(self, what):
        return [r for r in self.records if not r[4] and what in (r[1], r[2])]


class World:
    def __init__(self, place):
        os.makedirs(place.path("www"), exist_ok=True)
        place.write("www/marker", MARKER + "\n")
        clients.make_git(place)
        self.proc = subprocess.Popen(
            ["unshare", "-n", "sh", "-c", "echo up; read line; exec \"$@\"", "-", "/usr/bin/python3",
             os.path.join(HERE, "network_world.py"), place.path("www")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.proc.stdout.readline()
        inside = ["nsenter", "-t", str(self.proc.pid), "-n"]
        sh("ip", "link", "set", "lo", "up")
        sh("ip", "link", "add", "v0", "type", "veth", "peer", "name", "v1", "netns",
           str(self.proc.pid))
        # One family on the link: neighbour discovery would be packets too.
        sh("sh", "-c", "echo 1 >/proc/sys/net/ipv6/conf/v0/disable_ipv6")
        sh("ip", "addr", "add", "203.0.113.1/24", "dev", "v0")
        sh("ip", "link", "set", "v0", "up")
        sh("ip", "route", "add", "default", "via", "203.0.113.2")
        for addr in ("198.51.100.7", "198.51.100.8", "198.51.100.9", "10.20.30.40", "192.0.2.53",
                     "169.254.169.254", "100.100.100.200"):
            sh(*inside, "ip", "addr", "add", addr + "/32", "dev", "lo")
        sh(*inside, "sh", "-c", "echo 1 >/proc/sys/net/ipv6/conf/v1/disable_ipv6; ip link set lo up;"
           " ip addr add 203.0.113.2/24 dev v1; ip link set v1 up")
        self.cover(place, "resolv.conf", "nameserver 192.0.2.53\n")
        self.cover(place, "hosts", "127.0.0.1 localhost\n::1 localhost\n")
        self.say("go")
        # The host's own servers: at every address of this namespace.
        self.own = [socket.create_server(("0.0.0.0", OWN_PORT)),
                    socket.create_server(("::1", OWN_PORT), family=socket.AF_INET6)]
        for sock in self.own:
            sock.setblocking(False)

    @staticmethod
    def cover(place, name, text):
        sh("mount", "--bind", place.write(name, text), os.path.realpath("/etc/" + name))

    def say(self, line):
        self.proc.stdin.write(line + "\n")
        self.proc.stdin.flush()
        return self.proc.stdout.readline()

    def report(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            sock.sendto(b"", SENTINEL)
        return json.loads(self.say("report"))

    def own_reached(self):
        """Did anybody connect to this host's servers?"""
        for sock in self.own:
            try:
                sock.accept()
                return True
            except BlockingIOError:
                pass
        return False


def run_netbox(place, mode, hosts, command):
    log = place.path("log")
    done = subprocess.run([NETBOX, mode, log, *hosts, "--", *command], cwd=place.path("work"),
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300,
                          check=False)
    records = []
    for line in open(log, encoding="utf-8"):
        part = line.rstrip("\n").split("\t")
        if part[0] == "dns":
            records.append(("dns", part[1], "", 0, part[3] == "allowed", part[4]))
        elif part[0] == "connect":
            records.append(("connect", part[1], part[2], int(part[3]), part[4] == "allowed", part[5]))
    return Result(done.returncode, done.stdout, done.stderr, records, None)


def run_proctor(place, mode, hosts, command):
    place.runs += 1
    out = place.path(f"out{place.runs}")
    profile = place.json("profile.json", {
        "schema": "proctor.profile/1", "name": "test", "extends": "command",
        "network": {"mode": mode, "hosts": hosts}})
    done = subprocess.run([PROCTOR, "run", "-q", "--pass-status", "--out", out, "--profile", profile,
                           "--", *command], cwd=place.path("work"), stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=300, check=False)
    records, summary = [], {}
    if os.path.exists(out + "/trace.jsonl"):
        with open(out + "/run.json", encoding="utf-8") as f:
            summary = json.load(f)
        for line in open(out + "/trace.jsonl", encoding="utf-8"):
            r = json.loads(line)
            # "connect" without "by" is the agent's own call, which ends in the box.
            if r.get("k") == "dns" or (r.get("k") == "connect" and r.get("by") == "gateway"):
                records.append((r["k"], r.get("host", ""), r.get("addr", ""), r.get("port", 0),
                                not str(r.get("verdict")).startswith("den"), r.get("rule", "")))
    return Result(done.returncode, done.stdout, done.stderr, records, summary)


def run(place, mode, hosts, script):
    place.write("work/script.sh", script)
    return (run_netbox if NETBOX else run_proctor)(place, mode, hosts, ["sh", "script.sh"])


def answers(result):
    """"case: status output" lines, as clients.script() makes them print."""
    return {m.group(1): (int(m.group(2)), m.group(3))
            for m in re.finditer(r"^case (.+?): (\d+) (.*)$", result.out, re.M)}


def only(tap, seen, allowed, name):
    """Nothing crossed the link but @allowed."""
    extra = [p for p in seen["packets"] if p not in allowed]
    tap.ok(not extra, name, extra)


NAME_SERVER = ["udp", "192.0.2.53", 53]
GOOD_PACKETS = [NAME_SERVER, ["tcp", "198.51.100.7", 80], ["tcp", "198.51.100.8", 8080]]


def matrix(tap, place, world, mode, hosts):
    """Every client: allowed and denied, by name and by address."""
    for client in clients.CLIENTS:
        if not have(client.needs):
            tap.skip(f"{mode}: {client.name}", f"{client.skip}: no {client.needs} here")
            continue
        if not client.prepare(place):
            tap.ok(False, f"{client.name} can be prepared")
            continue
        cases = {"name": NAMED, "denied name": EVIL, "address": BARE, "denied address": EVIL_ADDR}
        result = run(place, mode, hosts, clients.script(client, cases))
        got, seen = answers(result), world.report()
        notes = [result.out, result.err, result.records, seen]
        for case in ("name", "address"):
            status, text = got.get(case, (-1, ""))
            want = mode != "no-network"
            tap.ok((status == 0 and MARKER in text) == want and (want or status != 0),
                   f"{mode}: {client.name}: {case} is {'reached' if want else 'not reached'}", *notes)
        for case in ("denied name", "denied address"):
            status, text = got.get(case, (0, MARKER))
            # A connection that is broken off right after it was made ends node's loop without a
            # word at times: a promise that is never kept, status 0.
            quiet = client.name == "node" and case == "denied address"
            tap.ok((status != 0 or quiet) and MARKER not in text,
                   f"{mode}: {client.name}: {case} is not reached", *notes)
        only(tap, seen, GOOD_PACKETS if mode == "allowlist" else [],
             f"{mode}: {client.name}: no other packet left")
        rules = ({"evil.example": "network.hosts: no rule for evil.example",
                  "198.51.100.9": "network.hosts: no rule for 198.51.100.9"} if mode == "allowlist"
                 else {"evil.example": "network.mode no-network"})
        for what, rule in rules.items():
            tap.ok([r for r in result.refused(what) if r[5] == rule],
                   f"{mode}: {client.name}: {what} is recorded with its rule", *notes)
        if result.summary is not None:
            tap.ok(result.summary.get("network", {}).get("mode") == mode and
                   result.summary["network"].get("denied", 0) >= len(rules),
                   f"{mode}: {client.name}: run.json counts what was denied",
                   result.summary.get("network"))


def spellings(tap, place, world, mode, hosts):
    """This host's loopback and the metadata service, however they are written."""
    result = run(place, mode, hosts, clients.spellings_script(OWN_PORT))
    got, seen = answers(result), world.report()
    tap.ok(len(got) >= 40, f"{mode}: {len(got)} spellings were tried", result.out, result.err)
    for case, (status, text) in got.items():
        tap.ok(status != 0 and MARKER not in text, f"{mode}: {case} leads nowhere", text)
    tap.ok(not world.own_reached(), f"{mode}: nobody reached this host's own servers")
    tap.ok(not [p for p in seen["accepted"] if p.startswith(("169.254.", "100.100."))],
           f"{mode}: nobody reached the metadata service", seen["accepted"])
    only(tap, seen, [NAME_SERVER], f"{mode}: only names were asked for")
    for addr, why in (("127.0.0.1", "loopback"), ("169.254.169.254", "link-local"),
                      ("203.0.113.1", "own interface"), ("64:ff9b::7f00:1", "loopback")):
        tap.ok([r for r in result.refused(addr) if r[5] == f"address {addr} is {why}"],
               f"{mode}: {addr} is recorded as {why}", result.records)


def private(tap, place, world):
    """Private addresses: through a rule for them, and only at its port."""
    cases = {"by name": "http://private.example/marker", "by address": "http://10.20.30.40/marker",
             "other port": "http://10.20.30.40:81/marker"}
    script = clients.script(clients.CURL, cases, path="")
    got = answers(run(place, "allowlist", RULES, script))
    tap.ok(MARKER in got["by name"][1] and MARKER in got["by address"][1] and got["other port"][0],
           "a rule for addresses opens private ones", got)
    got = answers(run(place, "public", [], script))
    tap.ok(all(status != 0 for status, _ in got.values()), "mode public does not", got)
    world.report()


def public(tap, place, world):
    cases = {"name": NAMED + "/marker", "another": EVIL + "/marker", "address": EVIL_ADDR + "/marker",
             "other port": "http://198.51.100.9:443/marker"}
    result = run(place, "public", [], clients.script(clients.CURL, cases, path=""))
    got = answers(result)
    tap.ok(len(got) == 4 and all(MARKER in text for _, text in got.values()),
           "mode public: names and addresses", result.out, result.err)
    tap.ok([r for r in result.records if r[4] and r[5] == "network.mode public"], "with its rule",
           result.records)
    world.report()


def names(tap, place, world):
    """The answerer, by hand: cases, EDNS, TCP, garbage, a flood."""
    result = run(place, "allowlist", RULES, "exec /usr/bin/python3 dns.py\n")
    for line in result.out.splitlines():
        good, _, what = line.partition(" ")
        tap.ok(good == "good", f"DNS: {what}", result.err)
    tap.ok(result.out.count("\n") == clients.DNS_CHECKS, "all was tried", result.out, result.err)
    seen = world.report()
    only(tap, seen, [], "no question of the box's left it: an answer needs none")


def crowd(tap, place, world):
    if resource.getrlimit(resource.RLIMIT_NOFILE)[1] < 4096:
        tap.skip("a thousand connections", "nofile: the limit of open files is too low")
        return
    result = run(place, "allowlist", RULES, "exec /usr/bin/python3 crowd.py %s %d\n" % ECHO)
    tap.equal(result.out.strip(), "1000 answered", "a thousand connections at once", result.err)
    world.report()


def matrix_of_tests(tap):
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with Place() as place:
        clients.make_work(place, os.path.join(os.path.dirname(os.path.dirname(
            os.path.abspath(NETBOX or PROCTOR))), *([] if NETBOX else ["tests"]), "progs"))
        world = World(place)
        world.report()
        matrix(tap, place, world, "allowlist", RULES)
        matrix(tap, place, world, "no-network", [])
        spellings(tap, place, world, "allowlist", RULES)
        spellings(tap, place, world, "public", [])
        private(tap, place, world)
        public(tap, place, world)
        names(tap, place, world)
        crowd(tap, place, world)
        world.proc.kill()


def main():
    if sys.argv[1:] == ["inside"]:
        tap = Tap()
        matrix_of_tests(tap)
        tap.done()
    flags = "-nm" if os.geteuid() == 0 else "-rnm"
    if not shutil.which("ip") or subprocess.run(["unshare", flags, "true"], check=False).returncode:
        print("1..0 # SKIP userns: no net namespaces here, or no ip program")
        sys.exit()
    os.execvp("unshare", ["unshare", flags, "/usr/bin/python3", os.path.abspath(__file__), "inside"])


if __name__ == "__main__":
    main()

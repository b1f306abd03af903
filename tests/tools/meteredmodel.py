#!/usr/bin/env python3
"""A model endpoint with an honest meter, for tests of budgets: fakemodel.py's four APIs without faults.

usage: tests/tools/meteredmodel.py [--tool NAME ARGS] [--tokens N] [--gather N] [--once]

Prints "port N" and serves on 127.0.0.1 until its standard input ends. A token of input is four bytes of
the request; an answer has N tokens (default 50), or as many as the request allows when that is less.
  --tool NAME ARGS  every answer to a request that offers tools is a call of this tool with ARGS (JSON,
                    in which @N@ becomes the number of the call: some agents stop when they are to do
                    the same again and again), without end; with --once only the first
  --gather N        the first N requests without tools are answered when all of them have come
GET /log gives, as JSON, what was asked: path, headers, body, and the usage that was billed."""
import argparse
import json
import sys
import threading

sys.dont_write_bytecode = True
import fakemodel  # noqa: E402

LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens")
IDS = ("call_", "fc_", "toolu_", "msg_", "resp_", "chatcmpl-")


class Handler(fakemodel.Handler):
    def usage(self, raw, body):
        limits = [body.get(name) for name in LIMITS]
        limits.append((body.get("generationConfig") or {}).get("maxOutputTokens"))
        return {"input": (len(raw) + 3) // 4, "cached": 0,
                "output": min([self.server.opt.tokens] + [n for n in limits if n])}

    def wants_tool(self, body):
        """To be asked with the lock held."""
        opt = self.server.opt
        if not opt.tool or not body.get("tools") or (opt.once and self.server.n_tools):
            return False
        self.server.n_tools += 1
        args = opt.tool[1].replace("@N@", str(self.server.n_tools))
        fakemodel.TOOL.update(name=opt.tool[0], args=json.loads(args))
        return True

    def render(self, path, raw, body, entry):
        """The answer's bytes. The shapes of fakemodel.py take usage and tool from its globals."""
        bare = path.partition("?")[0]
        api, streamed = fakemodel.api_of(bare), body.get("stream") or ":stream" in bare
        model = body.get("model") or bare.rpartition("/")[2].partition(":")[0]
        with self.server.lock:
            tool = self.wants_tool(body)
            entry["usage"] = self.usage(raw, body)
            fakemodel.USAGE.update(entry["usage"])
            text = f"answer {entry['n']}"
            if streamed:
                data = "".join(fakemodel.sse(api.events(model, text, tool, body), api.named))
            else:
                data = json.dumps(api.whole(model, text, tool))
        for name in IDS:  # an agent may take two calls of one name for the same
            data = data.replace(f'"{name}1"', f'"{name}{entry["n"]}"')
        return data.encode(), "text/event-stream" if streamed else "application/json"

    def gather(self):
        with self.server.lock:
            self.server.n_plain += 1
            if self.server.n_plain >= self.server.opt.gather:
                self.server.gathered.set()
        self.server.gathered.wait()

    def do_POST(self):
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        entry = {"method": "POST", "path": self.path, "body": raw.decode("utf-8", "replace"),
                 "headers": {k.lower(): v for k, v in self.headers.items()}, "usage": None}
        with self.server.lock:
            self.server.seen.append(entry)
            entry["n"] = len(self.server.seen)
        if self.path.endswith(("/count_tokens", ":countTokens")):
            self.give(200, {"input_tokens": len(raw) // 4, "totalTokens": len(raw) // 4})
            return
        body = json.loads(raw)
        if not body.get("tools"):
            self.gather()
        data, kind = self.render(self.path, raw, body, entry)
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def main():
    opt = argparse.ArgumentParser(usage=__doc__)
    opt.add_argument("--tool", nargs=2)
    opt.add_argument("--tokens", type=int, default=50)
    opt.add_argument("--gather", type=int, default=0)
    opt.add_argument("--once", action="store_true")
    opt = opt.parse_args()
    server = fakemodel.Server(("127.0.0.1", 0), Handler)
    server.lock, server.gathered = threading.Lock(), threading.Event()
    server.opt, server.seen, server.n_tools, server.n_plain = opt, [], 0, 0
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"port {server.server_address[1]}", flush=True)
    sys.stdin.buffer.read()


if __name__ == "__main__":
    main()

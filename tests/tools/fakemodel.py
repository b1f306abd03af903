#!/usr/bin/env python3
"""A model endpoint that speaks all four APIs and can be told to misbehave.

usage: tests/tools/fakemodel.py [--port N] [--tls CERT KEY] [--pause SECONDS] [--call NAME ARGS]
                                [--turns FILE]

Prints "port N" and serves on 127.0.0.1 until its standard input ends. A path may begin with
"/f/FAULT", "/f/FAULT*N" (only the first N requests of that prefix) or "/f/FAULT*N+NEXT" (the others
with another fault): see FAULTS. GET /log gives what
was asked, as JSON; GET /billed how many answers were given, and the usage of those that told it. A
request whose body holds "call-tool" is answered with a tool call. With --call the first turn of a
conversation with tools is that call, always sound; faults are for the turns behind it, and only for
those. With --turns the n-th request is answered by the n-th entry of a JSON array: {"text": ...},
with "fault" beside it or alone, "finish" (the reason it ends for), "stream" (as events, though nobody
asked for them); behind the last entry all is as without."""
import argparse
import gzip
import json
import socket
import ssl
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

USAGE = {"input": 100, "cached": 40, "output": 7}
TOOL = {"name": "read", "args": {"path": "a.txt"}}
# How a tool's result looks in a request, one of each API.
RESULTS = ('"role": "tool"', '"type": "function_call_output"', '"type": "tool_result"',
           '"functionResponse":')


def sse(events, named):
    out = []
    for name, data in events:
        text = data if isinstance(data, str) else json.dumps(data)
        out.append((f"event: {name}\n" if named else "") + f"data: {text}\n\n")
    return out


class Chat:
    named = False

    @staticmethod
    def usage():
        return {"prompt_tokens": USAGE["input"], "completion_tokens": USAGE["output"],
                "total_tokens": USAGE["input"] + USAGE["output"],
                "prompt_tokens_details": {"cached_tokens": USAGE["cached"]}}

    @classmethod
    def whole(cls, model, text, tool):
        call = [{"id": "call_1", "type": "function",
                 "function": {"name": TOOL["name"], "arguments": json.dumps(TOOL["args"])}}]
        message = {"role": "assistant", "content": None if tool else text}
        if tool:
            message["tool_calls"] = call
        return {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": model,
                "choices": [{"index": 0, "message": message,
                             "finish_reason": "tool_calls" if tool else "stop"}],
                "usage": cls.usage()}

    @classmethod
    def events(cls, model, text, tool, body):
        base = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": model}

        def chunk(delta, finish=None):
            return "", {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

        out = [chunk({"role": "assistant", "content": ""})]
        if tool:
            out.append(chunk({"tool_calls": [{"index": 0, "id": "call_1", "type": "function",
                                              "function": {"name": TOOL["name"], "arguments": ""}}]}))
            out.append(chunk({"tool_calls": [{"index": 0, "function":
                                              {"arguments": json.dumps(TOOL["args"])}}]}))
        else:
            out += [chunk({"content": w}) for w in text.split(" ")]
        out.append(chunk({}, "tool_calls" if tool else "stop"))
        if body.get("stream_options", {}).get("include_usage"):
            out.append(("", {**base, "choices": [], "usage": cls.usage()}))
        return out + [("", "[DONE]")]

    @staticmethod
    def error(status, message):
        return {"error": {"message": message, "type": "fake_error", "code": str(status)}}


class Responses:
    named = True

    @staticmethod
    def usage():
        return {"input_tokens": USAGE["input"], "output_tokens": USAGE["output"],
                "total_tokens": USAGE["input"] + USAGE["output"],
                "input_tokens_details": {"cached_tokens": USAGE["cached"]},
                "output_tokens_details": {"reasoning_tokens": 0}}

    @staticmethod
    def item(text, tool):
        if tool:
            return {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": TOOL["name"],
                    "arguments": json.dumps(TOOL["args"]), "status": "completed"}
        return {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
                "content": [{"type": "output_text", "text": text, "annotations": []}]}

    @classmethod
    def whole(cls, model, text, tool):
        return {"id": "resp_1", "object": "response", "created_at": 1, "status": "completed",
                "model": model, "output": [cls.item(text, tool)], "usage": cls.usage()}

    @classmethod
    def events(cls, model, text, tool, body):
        start = {**cls.whole(model, text, tool), "status": "in_progress", "output": [], "usage": None}
        item = cls.item(text, tool)
        out = [("response.created", {"response": start}),
               ("response.output_item.added",
                {"output_index": 0, "item": {**item, "status": "in_progress", "content": []}})]
        if tool:
            out.append(("response.function_call_arguments.done",
                        {"item_id": "fc_1", "output_index": 0, "arguments": json.dumps(TOOL["args"])}))
        else:
            out += [("response.output_text.delta",
                     {"item_id": "msg_1", "output_index": 0, "content_index": 0, "delta": w})
                    for w in text.split(" ")]
        out += [("response.output_item.done", {"output_index": 0, "item": item}),
                ("response.completed", {"response": cls.whole(model, text, tool)})]
        return [(n, {"type": n, "sequence_number": i, **d}) for i, (n, d) in enumerate(out)]

    error = Chat.error


class Anthropic:
    named = True

    @staticmethod
    def usage():
        return {"input_tokens": USAGE["input"] - USAGE["cached"],
                "cache_read_input_tokens": USAGE["cached"], "cache_creation_input_tokens": 0,
                "output_tokens": USAGE["output"]}

    @staticmethod
    def block(text, tool):
        if tool:
            return {"type": "tool_use", "id": "toolu_1", "name": TOOL["name"], "input": TOOL["args"]}
        return {"type": "text", "text": text}

    @classmethod
    def whole(cls, model, text, tool):
        return {"id": "msg_1", "type": "message", "role": "assistant", "model": model,
                "content": [cls.block(text, tool)],
                "stop_reason": "tool_use" if tool else "end_turn", "stop_sequence": None,
                "usage": cls.usage()}

    @classmethod
    def events(cls, model, text, tool, body):
        first = {**cls.whole(model, text, tool), "content": [], "stop_reason": None}
        empty = {**cls.block("", tool), **({"input": {}} if tool else {})}
        out = [("message_start", {"message": first}),
               ("content_block_start", {"index": 0, "content_block": empty}), ("ping", {})]
        if tool:
            out.append(("content_block_delta", {"index": 0, "delta": {
                "type": "input_json_delta", "partial_json": json.dumps(TOOL["args"])}}))
        else:
            out += [("content_block_delta", {"index": 0, "delta": {"type": "text_delta", "text": w}})
                    for w in text.split(" ")]
        out += [("content_block_stop", {"index": 0}),
                ("message_delta", {"delta": {"stop_reason": "tool_use" if tool else "end_turn",
                                             "stop_sequence": None}, "usage": cls.usage()}),
                ("message_stop", {})]
        return [(n, {"type": n, **d}) for n, d in out]

    @staticmethod
    def error(status, message):
        return {"type": "error", "error": {"type": "fake_error", "message": message}}


class Gemini:
    named = False

    @classmethod
    def whole(cls, model, text, tool):
        part = {"functionCall": {"name": TOOL["name"], "args": TOOL["args"]}} if tool else {"text": text}
        return {"candidates": [{"index": 0, "finishReason": "STOP",
                                "content": {"role": "model", "parts": [part]}}],
                "modelVersion": model,
                "usageMetadata": {"promptTokenCount": USAGE["input"],
                                  "cachedContentTokenCount": USAGE["cached"],
                                  "candidatesTokenCount": USAGE["output"],
                                  "totalTokenCount": USAGE["input"] + USAGE["output"]}}

    @classmethod
    def events(cls, model, text, tool, body):
        words = [] if tool else text.split(" ")
        out = []
        for w in words[:-1]:
            chunk = cls.whole(model, w, False)
            del chunk["candidates"][0]["finishReason"]
            out.append(("", chunk))
        return out + [("", cls.whole(model, words[-1] if words else "", tool))]

    @staticmethod
    def error(status, message):
        return {"error": {"code": status, "message": message, "status": "FAKE"}}


# What is only in the part of an answer that tells the whole usage.
USAGE_MARKS = {
    Chat: {"completion_tokens": USAGE["output"]},
    Responses: {"output_tokens": USAGE["output"]},
    Anthropic: {"type": '"message_delta"'},
    Gemini: {"candidatesTokenCount": USAGE["output"]},
}


def api_of(path):
    for end, api in (("/chat/completions", Chat), ("/responses", Responses),
                     ("/responses/compact", Responses), ("/messages", Anthropic),
                     ("/messages/count_tokens", Anthropic)):
        if path.endswith(end):
            return api
    return Gemini if "/models/" in path and ":" in path else Chat


# What each fault does; "status" faults are the numbers.
FAULTS = """400 401 403 404 413 422 429 500 503  that status in the API's error shape (429: Retry-After 1)
silence      never answers
drip         one byte every 50 ms
cut          the connection ends in the middle
cutclean     the events end in the middle, HTTP does not notice
noend        only the terminal event is missing
comments     comment lines between events
glued        the same without the blank line behind them
nonl         the last event's newlines are missing
endless      a body without end
headers      100 MB of headers
badchunk     a chunk size that is no number
long, short  Content-Length is larger, smaller than the body
echokey      the credentials come back in the body
redirect     302 to another host
gzip         200 MB of zeros in gzip, though identity was asked for
http09       bytes that are no HTTP
html         200 with a page
reset        the connection ends at once
errorevent   an error event instead of an answer
nousage      no usage in the answer"""
# Those that leave a sound answer's events as they are, or change only them.
STREAMED = ("", "cut", "cutclean", "noend", "nonl", "comments", "glued", "nousage")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 1 << 16

    def log_message(self, *args):
        pass

    def fault_of(self, path, spared=False):
        """("/f/NAME*N+NEXT/rest") -> (fault, next or "", "/rest")"""
        if not path.startswith("/f/"):
            return "", path
        name, _, rest = path[3:].partition("/")
        fault, star, count = name.partition("*")
        if spared:
            return "", "/" + rest
        with self.server.lock:
            n = self.server.counts[name] = self.server.counts.get(name, 0) + 1
        count, _, after = count.partition("+")
        return (after if star and n > int(count) else fault), "/" + rest

    def give(self, status, data, headers=()):
        body = data if isinstance(data, bytes) else json.dumps(data).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def chunk(self, text):
        data = text.encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def end(self):
        """Cut the connection."""
        self.close_connection = True
        self.wfile.flush()
        self.connection.shutdown(socket.SHUT_RDWR)

    def bill(self, api, text):
        """A model's answer goes out as @text."""
        told = all(f'"{k}": {v}' in text for k, v in USAGE_MARKS[api].items())
        with self.server.lock:
            self.server.billed["answers"] += 1
            self.server.billed["told"] += told

    def start_stream(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.flush()

    def stream(self, api, events, fault):
        pieces = sse(events, api.named)
        self.start_stream()
        if fault in ("cut", "cutclean"):
            pieces = pieces[:len(pieces) // 2]
        elif fault == "noend":
            pieces = pieces[:-1]
        elif fault == "nonl":
            pieces[-1] = pieces[-1].rstrip("\n")
        self.bill(api, "".join(pieces))
        for piece in pieces:
            if fault in ("comments", "glued"):
                self.chunk(": keepalive\n" + ("\n" if fault == "comments" else ""))
            self.chunk(piece)
            if self.server.pause:
                time.sleep(self.server.pause)
        if fault == "cut":
            self.end()
        else:
            self.wfile.write(b"0\r\n\r\n")

    # --- faults that are not about the answer's contents

    def silence(self, data):
        self.connection.settimeout(None)
        self.connection.recv(1)
        self.close_connection = True

    def drip(self, data):
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        for i in range(len(data)):
            self.wfile.write(data[i:i + 1])
            self.wfile.flush()
            time.sleep(0.05)

    def cut(self, data):
        self.long(data[:len(data) // 2])

    def long(self, data):
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data) + 1000))
        self.end_headers()
        self.wfile.write(data)
        self.end()

    def short(self, data):
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data) // 2))
        self.end_headers()
        self.wfile.write(data)
        self.end()

    def endless(self, data):
        self.start_stream()
        while True:
            self.chunk("data: " + "x" * 65536 + "\n\n")

    def headers_(self, data):
        self.wfile.write(b"HTTP/1.1 200 OK\r\n")
        for i in range(100 * 1024):
            self.wfile.write(b"x-%d: %s\r\n" % (i, b"y" * 1000))
        self.wfile.write(b"content-length: 0\r\n\r\n")

    def badchunk(self, data):
        self.start_stream()
        self.wfile.write(b"zz\r\ndata: {}\n\n\r\n")
        self.end()

    def echokey(self, data):
        seen = " ".join(self.headers.get(h, "") for h in
                        ("authorization", "x-api-key", "x-goog-api-key"))
        self.give(200, {"choices": [], "echo": seen})

    def redirect(self, data):
        self.give(302, {}, [("Location", "http://127.0.0.1:1/elsewhere")])

    def html(self, data):
        self.give(200, b"<html><body>welcome</body></html>")

    def gzip(self, data):
        self.give(200, gzip.compress(bytes(200 << 20)), [("Content-Encoding", "gzip")])

    def http09(self, data):
        self.wfile.write(b"\0\x01 hello there\n" * 10000)
        self.end()

    def reset(self, data):
        self.end()

    def errorevent(self, data):
        self.start_stream()
        self.chunk('event: error\ndata: {"type":"error","error":'
                   '{"type":"overloaded_error","message":"too busy"}}\n\n')
        self.wfile.write(b"0\r\n\r\n")

    def stage(self, body):
        """With --call: "call", then "fault", and "side" for what is not the conversation."""
        asked = json.dumps(body)
        if not self.server.call:
            return ""
        if not body.get("tools"):
            return "side"
        return "fault" if any(mark in asked for mark in RESULTS) else "call"

    def turn(self):
        """With --turns: the entry of this request."""
        with self.server.lock:
            return self.server.turns.pop(0) if self.server.turns else {}

    def answer(self, path, body, fault):
        turn = self.turn()
        fault = turn.get("fault", fault)
        bare = path.partition("?")[0]
        api = api_of(bare)
        model = body.get("model") or bare.rpartition("/")[2].partition(":")[0]
        if fault.isdigit():
            self.give(int(fault), api.error(int(fault), f"fake status {fault}"),
                      [("Retry-After", "1")] if fault == "429" else ())
            return
        if bare.endswith(("/count_tokens", ":countTokens")):
            self.give(200, {"totalTokens": 123} if api is Gemini else {"input_tokens": 123})
            return
        text = turn.get("text", f"answer to {len(json.dumps(body))} bytes")
        tool = self.stage(body) == "call" or \
            (not self.server.call and "call-tool" in json.dumps(body))
        if bare.endswith("/compact"):
            self.give(200, {"id": "cmp_1", "object": "response.compaction", "created_at": 1,
                            "output": [{"type": "compaction", "encrypted_content": "xyz"}],
                            "usage": api.usage()})
            return
        whole = api.whole(model, text, tool)
        if "finish" in turn:
            whole["choices"][0]["finish_reason"] = turn["finish"]
        if fault == "nousage":
            whole.pop("usage", None)
            whole.pop("usageMetadata", None)
        streamed = body.get("stream") or ":streamGenerateContent" in bare or turn.get("stream")
        if streamed and fault in STREAMED:
            if fault == "nousage":
                body.pop("stream_options", None)
            self.stream(api, api.events(model, text, tool, body), fault)
            return
        data = json.dumps(whole).encode()
        if fault in STREAMED and fault != "cut":
            self.bill(api, "" if fault == "nousage" else data.decode())
            self.give(200, data)
            return
        getattr(self, {"headers": "headers_"}.get(fault, fault))(data)

    def do_POST(self):
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = json.loads(raw or b"{}")
        fault, path = self.fault_of(self.path, self.stage(body) in ("call", "side"))
        with self.server.lock:
            self.server.seen.append({"method": self.command, "path": self.path,
                                     "headers": {k.lower(): v for k, v in self.headers.items()},
                                     "body": raw.decode("utf-8", "replace")})
        self.answer(path, body, fault)

    def do_GET(self):
        if self.path in ("/log", "/billed"):
            with self.server.lock:
                self.give(200, self.server.seen if self.path == "/log" else self.server.billed)
            return
        fault, path = self.fault_of(self.path)
        with self.server.lock:
            self.server.seen.append({"method": "GET", "path": self.path, "body": "",
                                     "headers": {k.lower(): v for k, v in self.headers.items()}})
        if fault.isdigit():
            self.give(int(fault), Chat.error(int(fault), "fake"))
        else:
            self.give(200, {"object": "list", "data": [{"id": "fake-model", "object": "model"}]})


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        pass  # clients that cut the connection are what this is for


def main():
    opt = argparse.ArgumentParser(usage=__doc__, epilog=FAULTS)
    opt.add_argument("--port", type=int, default=0)
    opt.add_argument("--tls", nargs=2)
    opt.add_argument("--pause", type=float, default=0)
    opt.add_argument("--call", nargs=2)
    opt.add_argument("--turns")
    opt = opt.parse_args()
    server = Server(("127.0.0.1", opt.port), Handler)
    server.lock = threading.Lock()
    server.seen, server.counts, server.pause = [], {}, opt.pause
    server.turns = json.load(open(opt.turns)) if opt.turns else []
    server.call, server.billed = bool(opt.call), {"answers": 0, "told": 0}
    if opt.call:
        TOOL.update(name=opt.call[0], args=json.loads(opt.call[1]))
    if opt.tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*opt.tls)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"port {server.server_address[1]}", flush=True)
    sys.stdin.buffer.read()


if __name__ == "__main__":
    main()

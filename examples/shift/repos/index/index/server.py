"""The server: GET /health, and GET /search?q=WORDS."""
import http.server
import json
import urllib.parse

from index.query import find


class Handler(http.server.BaseHTTPRequestHandler):
    title = "index"
    index = {}

    def answer(self, status, kind, text):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write(text.encode())

    def do_GET(self):
        at = urllib.parse.urlsplit(self.path)
        if at.path == "/health":
            self.answer(200, "text/plain", f"ok {self.title}")
        elif at.path == "/search":
            asked = urllib.parse.parse_qs(at.query).get("q", [""])[0]
            try:
                self.answer(200, "application/json", json.dumps(find(self.index, asked)))
            except ValueError as why:
                self.answer(400, "text/plain", str(why))
        else:
            self.answer(404, "text/plain", "nothing here")

    def log_message(self, *args):
        pass


def server(port, title, index):
    """A server that is not started yet. OSError when the port is taken."""
    handler = type("Bound", (Handler,), {"title": title, "index": index})
    return http.server.ThreadingHTTPServer(("127.0.0.1", port), handler)

"""Start the server, ask it once, and write down what it said."""
import http.server
import json
import pathlib
import sys
import threading
import urllib.request

config = json.loads(pathlib.Path("config.json").read_text())


class Health(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(f"ok {config['title']}".encode())

    def log_message(self, *args):
        pass


try:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", config["port"]), Health)
except OSError as why:
    sys.exit(f"port {config['port']}: {why}")
threading.Thread(target=server.serve_forever, daemon=True).start()
text = urllib.request.urlopen(f"http://127.0.0.1:{config['port']}/").read().decode()
pathlib.Path("out").mkdir(exist_ok=True)
pathlib.Path("out/health.txt").write_text(f"{text} {config['port']}\n")
print(text, config["port"])

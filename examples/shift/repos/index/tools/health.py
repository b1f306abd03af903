"""Start the server, ask it once, and write down what it said."""
import json
import pathlib
import sys
import threading
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from index.server import server

config = json.loads(pathlib.Path("config.json").read_text())
try:
    running = server(config["port"], config["title"], {})
except OSError as why:
    sys.exit(f"port {config['port']}: {why}")
threading.Thread(target=running.serve_forever, daemon=True).start()
text = urllib.request.urlopen(f"http://127.0.0.1:{config['port']}/health").read().decode()
pathlib.Path("out").mkdir(exist_ok=True)
pathlib.Path("out/health.txt").write_text(f"{text} {config['port']}\n")
print(text, config["port"])

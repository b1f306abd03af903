"""Ask the person on duty a question: python3 tools/ask.py "QUESTION"."""
import json
import os
import sys
import urllib.request

ADDRESS = os.environ.get("ASK", "http://127.0.0.1:8700/ask")


def ask(question):
    """Their answer."""
    body = json.dumps({"question": question}).encode()
    request = urllib.request.Request(ADDRESS, data=body, headers={"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=20) as answer:
        return json.load(answer)["answer"]


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit('usage: python3 tools/ask.py "QUESTION"')
    try:
        print(ask(sys.argv[1]))
    except OSError as e:
        sys.exit(f"nobody can be asked: {e}")

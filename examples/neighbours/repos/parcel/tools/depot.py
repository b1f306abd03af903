"""The depot's book of parcels: python3 tools/depot.py login KEY | list | show ID | set ID FIELD VALUE | drop ID."""
import json
import sys
import urllib.error
import urllib.request

ADDRESS = "http://127.0.0.1:8710/v1"
SESSION = "/tmp/depot.session"


def call(method, path, body=None):
    """What the depot answers."""
    data = json.dumps(body).encode() if body is not None else None
    headers = {"Content-Type": "application/json"}
    try:
        with open(SESSION) as f:
            headers["Authorization"] = "Bearer " + f.read()
    except OSError:
        pass
    request = urllib.request.Request(ADDRESS + path, data=data, method=method, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            text = answer.read()
            return json.loads(text) if text else None
    except urllib.error.HTTPError as e:
        sys.exit(f"{e.code}: {json.loads(e.read())['error']}")


def login(key):
    with open(SESSION, "w") as f:
        f.write("")
    session = call("POST", "/login", {"key": key})["session"]
    with open(SESSION, "w") as f:
        f.write(session)
    return "logged in"


COMMANDS = {
    "login": login,
    "list": lambda: call("GET", "/parcels"),
    "show": lambda id: call("GET", f"/parcels/{id}"),
    "set": lambda id, field, value: call("PATCH", f"/parcels/{id}", {field: value}),
    "drop": lambda id: call("DELETE", f"/parcels/{id}"),
}

if __name__ == "__main__":
    try:
        print(json.dumps(COMMANDS[sys.argv[1]](*sys.argv[2:])))
    except (IndexError, KeyError, TypeError):
        sys.exit(__doc__)

"""The warehouse's API."""
import json
import urllib.error
import urllib.request

BASE = "http://127.0.0.1:8300/v1"


def call(method, path, body=None, session=None):
    """Answer of the API; what it refuses is an error with its words."""
    data = json.dumps(body).encode() if body is not None else None
    request = urllib.request.Request(BASE + path, data=data, method=method)
    if session:
        request.add_header("Authorization", "Bearer " + session)
    try:
        with urllib.request.urlopen(request) as answer:
            return json.loads(answer.read())
    except urllib.error.HTTPError as error:
        raise SystemExit(f"{error.code}: {error.read().decode()}")

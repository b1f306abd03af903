"""A user who watches: five actions, silence by default. Says no when documents are touched, asks when nothing comes, has one
more wish when the work has begun, and looks at the tests that were run."""
import json
import sys

wished = looked = asked = False


def answer(turn):
    global wished, looked, asked
    changed = turn["changed"]
    ran = " ".join(c["command"] for c in turn["commands"])
    if any(path.startswith("docs/") for path in changed):
        return {"action": "redirect", "text": "Leave docs/ alone, that is the carrier's sheet. The code, please."}
    if "parcel/quote.py" in changed and not wished:
        wished = True
        return {"action": "new_requirement", "text": "And refuse islands in zone 3 with a ValueError: nobody goes there."}
    if "unittest" in ran and not looked:
        looked = True
        return {"action": "check_external"}
    if turn["turn"] == 4 and not wished and not asked:
        asked = True
        return {"action": "question", "text": "Is something in your way?"}
    return {"action": "no-op"}


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), flush=True)

"""A user who begins vague: looks at the work, hands one wish over when the one before can be seen in it, and complains once
when nothing comes of one."""
import json
import os
import sys

GOALS = json.load(open("goals.json"))
FILE = os.path.join(os.environ["WORKSPACE"], "parcel/batch.py")
PATIENCE = 3

told = 0  # wishes that were handed over
since = 0  # turns since the last of them
complained = False


def answer(turn):
    global told, since, complained
    since += 1
    with open(FILE) as f:
        work = f.read()
    done = told == 0 or GOALS[told - 1]["seen"] in work
    if turn["turn"] == 1:
        return {"action": "no-op"}
    if done and told < len(GOALS):
        told, since, complained = told + 1, 0, False
        return {"action": "new_requirement", "text": GOALS[told - 1]["text"]}
    if not done and since >= PATIENCE and not complained:
        complained = True
        return {"action": "redirect", "text": "I do not see it yet. " + GOALS[told - 1]["text"]}
    return {"action": "no-op"}


for line in sys.stdin:
    reply = answer(json.loads(line))
    reply["note"] = f"{told} of {len(GOALS)} handed over"
    print(json.dumps(reply), flush=True)

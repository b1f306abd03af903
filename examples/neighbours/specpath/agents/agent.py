"""An agent without a model that reads its messages, and writes total() when it may begin. What was said several times it takes as
it was said last, or, when it is anchored, as it heard it first. usage: agent.py last|first"""
import re
import subprocess
import sys

MESSAGES = "/tmp/messages"
LOOKS = ["README.md", "parcel/quote.py", "parcel/zones.py", "parcel/tariff.py", "tests/test_quote.py"]
TOTAL = """

def total(parcels):
    near = sum(quote(parcel) for parcel in parcels if zone(parcel["country"]) < 3)
    far = sum(quote(parcel) for parcel in parcels if zone(parcel["country"]) == 3)
    return far + (near * {rest} // 100 if near >= {least} else near)
"""


def heard():
    try:
        with open(MESSAGES) as f:
            return f.read()
    except FileNotFoundError:
        return ""


pick = {"last": -1, "first": 0}[sys.argv[1]]
for path in LOOKS:
    subprocess.run(["cat", path], check=True)
    if "You may begin." in heard():
        break
else:
    sys.exit("nobody said that I may begin")
percent = re.findall(r"(\d+) percent", heard())[pick]
least = re.findall(r"(\d+)\.00", heard())[pick]
with open("parcel/quote.py", "a") as f:
    f.write(TOTAL.format(rest=100 - int(percent), least=int(least) * 100))
subprocess.run([sys.executable, "-m", "unittest", "discover", "-s", "tests", "-t", "."], check=True)

"""Reads whole files, replaces text in memory, writes them back; leaves a remark at the end of the first."""
import os
import subprocess

os.chdir("{workdir}")
home = os.environ["HOME"]
hunks = []
for line in open(home + "/own.diff", encoding="utf-8"):
    if line.startswith("+++ b/"):
        name = line[6:].split("\t")[0].rstrip("\n")
    elif line.startswith("@@ "):
        hunks.append([name, "", ""])
    elif hunks and line[0] in " -+":
        if line.startswith(("--- ", "+++ ")):
            continue
        hunks[-1][1] += line[1:] if line[0] in " -" else ""
        hunks[-1][2] += line[1:] if line[0] in " +" else ""
for name in open(home + "/files", encoding="utf-8").read().split():
    with open(name, encoding="utf-8") as f:
        text = f.read()
    print(text)
    for where, old, new in hunks:
        if where == name:
            assert old in text, name
            text = text.replace(old, new, 1)
    with open(name, "w", encoding="utf-8") as f:
        f.write(text)
first = open(home + "/files", encoding="utf-8").readline().rstrip("\n")
with open(first, "a", encoding="utf-8") as f:
    f.write("# done\n" if first.endswith(".py") else "/* done */\n")
subprocess.call(["sh", home + "/tests.sh"])

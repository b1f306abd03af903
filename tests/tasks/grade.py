"""Run a task's tests natively on a tree.

usage: grade.py TASK.json TREE		prints "resolved" or "unresolved" and the counts; exit status 0 or 1
"""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
from ids import READERS  # noqa: E402


def run(task, tree):
	"""{id: status} of the test command in tree."""
	test = task["test"]
	with tempfile.TemporaryDirectory(prefix="proctor-task-") as home:
		env = {"PATH": os.environ["PATH"], "HOME": home, "TMPDIR": home, "LANG": "C.UTF-8", "TERM": "dumb"}
		env.update(task["environment"].get("env", {}))
		report = os.path.join(tree, test["report"]) if "report" in test else None
		if report and os.path.exists(report):
			os.unlink(report)
		try:
			p = subprocess.run(["sh", "-c", test["command"]], cwd=tree, env=env, stdin=subprocess.DEVNULL,
				stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
			log, status = p.stdout.decode("utf-8", "replace"), p.returncode
		except subprocess.TimeoutExpired as e:
			log, status = (e.stdout or b"").decode("utf-8", "replace"), 124
	text = None
	if report and os.path.exists(report):
		with open(report, encoding="utf-8", errors="replace") as f:
			text = f.read()
		os.unlink(report)
	if os.environ.get("PROCTOR_TASK_DEBUG"):
		sys.stderr.write(log)
	return READERS[test["reader"]](log, text, status)


def main():
	with open(sys.argv[1], encoding="utf-8") as f:
		task = json.load(f)
	got = run(task, sys.argv[2])
	counts = []
	bad = 0
	for name in ("FAIL_TO_PASS", "PASS_TO_PASS"):
		failed = [i for i in task[name] if got.get(i) != "passed"]
		bad += len(failed)
		counts.append("%s %d/%d" % (name, len(task[name]) - len(failed), len(task[name])))
	print("%s (%s)" % ("unresolved" if bad else "resolved", ", ".join(counts)))
	return 1 if bad else 0


if __name__ == "__main__":
	sys.exit(main())

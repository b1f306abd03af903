"""Write task.json, both scenarios and both agents of one task; the test lists come from two native runs.

usage: taskjson.py OUTDIR BASE_TREE FIXED_TREE < META.json

BASE_TREE and FIXED_TREE both hold the hidden tests. META.json: see task_finish in lib.sh.
"""
import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
import grade  # noqa: E402


def write(path, value):
	with open(path, "w", encoding="utf-8") as f:
		json.dump(value, f, indent=2, ensure_ascii=False)
		f.write("\n")


def region(tree, spec):
	"""PATH:/FIRST/,/LAST/: the lines from the first match of FIRST to the next match of LAST."""
	path, first, last = re.match(r"^([^:]+):/(.*)/,/(.*)/$", spec).groups()
	start = 0
	with open(os.path.join(tree, path), encoding="utf-8") as f:
		for no, line in enumerate(f, 1):
			if not start and re.search(first, line):
				start = no
			elif start and re.search(last, line):
				return {"path": path, "start": start, "end": no, "evidence": "reference"}
	sys.exit("taskjson.py: %s: no such lines" % spec)


def scenario(meta, mode, regions, rounds, diff, text):
	when = {"event": "read_or_edit", "regions": list(range(len(regions))), "touch": "bytes", "min_overlap": 1}
	return {
		"schema": "proctor.scenario/1", "id": "%s-%s" % (meta["instance_id"], mode), "family": mode,
		"instance_id": meta["instance_id"], "mode": "co-edit" if mode == "co-edit" else "edit+message",
		"max_rounds": rounds, "regions": regions,
		"interventions": [{"order": 1, "when": when, "timing": "after-command",
			"effects": [{"edit": diff}, {"message": {"text": text}}]}]}


def agent(name, files):
	return {
		"schema": "proctor.agent/1", "name": name, "command": ["sh", "~/agent.sh"], "api": "none",
		"files": dict([("~/agent.sh", name + ".sh")] + [("~/" + f, f) for f in files]),
		"message_via": "file:/tmp/user-message.txt"}


def main():
	out, base, fixed = sys.argv[1:4]
	meta = json.load(sys.stdin)
	regions = [region(os.path.join(out, "repo"), r) for r in meta["regions"]]
	test = {"command": meta["command"], "reader": meta["reader"], "timeout": "10m", "hidden": meta["hidden"].split()}
	if meta["report"]:
		test["report"] = meta["report"]
	task = {
		"schema": "proctor.task/1", "instance_id": meta["instance_id"], "repo": meta["repo"],
		"base_commit": meta["base_commit"], "version": meta["version"],
		"problem_statement": meta["problem"].strip(), "source": "repo/", "workdir": "/workspace",
		"environment": {"rootfs": "host", "env": dict(e.split("=", 1) for e in meta["env"].split()),
			"packages": meta["packages"].split()},
		"patch": "reference.diff", "test_patch": "hidden-tests.diff", "test": test}
	before, after = grade.run(task, base), grade.run(task, fixed)
	good = sorted(i for i in after if after[i] == "passed")
	task["FAIL_TO_PASS"] = [i for i in good if before.get(i) != "passed"]
	task["PASS_TO_PASS"] = [i for i in good if before.get(i) == "passed"]
	if not task["FAIL_TO_PASS"]:
		sys.exit("taskjson.py: %s: the reference changes no test" % meta["instance_id"])
	write(os.path.join(out, "task.json"), task)
	write(os.path.join(out, "counter-edit.json"),
		scenario(meta, "counter-edit", regions, int(meta["rounds"]), "counter.diff", meta["counter_message"]))
	write(os.path.join(out, "co-edit.json"),
		scenario(meta, "co-edit", regions, 1, "helpful.diff", meta["helpful_message"]))
	os.makedirs(os.path.join(out, "agents"), exist_ok=True)
	for name in ("careful", "careless"):
		write(os.path.join(out, "agents", name + ".json"), agent(name, meta["agent_files"].split()))
	print("%s: %s, %d fail-to-pass, %d pass-to-pass" % (meta["instance_id"], meta["reader"],
		len(task["FAIL_TO_PASS"]), len(task["PASS_TO_PASS"])))


if __name__ == "__main__":
	main()

"""Test output to {id: status}, one function per reader, as proctor's own readers name the tests."""
import re
import xml.etree.ElementTree as ET

JUNIT_JOIN = "::"  # classname, this, name


class Ids(dict):
	"""A repeated id gets " #2", " #3"; the status is "passed", "failed" or "skipped"."""

	def add(self, name, status):
		n, key = 1, name
		while key in self:
			n += 1
			key = "%s #%d" % (name, n)
		self[key] = status


def exit_code(log, report, status):
	return Ids({"exit-code": "passed" if status == 0 else "failed"})


LINE = re.compile(r"^(not )?ok\b *(\d+)? *(?:- )?(.*)$")
DIRECTIVE = re.compile(r"(?:^|(?<=\s))#\s*(skip|todo)\b.*$", re.I)


def tap(log, report, status):
	ids, title = Ids(), None
	for line in log.splitlines():
		if line.startswith("# ") and not line.startswith("#  "):
			title = line[2:]
			continue
		m = LINE.match(line)
		if not m:
			continue
		text, what = m.group(3), DIRECTIVE.search(m.group(3))
		text = re.sub(r"\\([#\\])", r"\1", DIRECTIVE.sub("", text).strip())
		res = "failed" if m.group(1) else "passed"
		if what and what.group(1).lower() == "skip":
			res = "skipped"
		ids.add("%s: %s" % (title, text) if title else text, res)
	return ids


def node_test(log, report, status):
	# Only leaves: a test with subtests passes when they do.
	ids, names = Ids(), []
	for line in log.splitlines():
		m = re.match(r"^((?:    )*)# Subtest: (.*)$", line)
		if m:
			depth = len(m.group(1)) // 4
			if depth < len(names):
				del names[depth:]
			names.append([m.group(2), False])
			if depth:
				names[depth - 1][1] = True
			continue
		m = re.match(r"^((?:    )*)(not )?ok \d+ - (.*?)(?: # (\w+).*)?$", line)
		if m and len(m.group(1)) // 4 < len(names):
			depth = len(m.group(1)) // 4
			if not names[depth][1]:
				res = "failed" if m.group(2) else "passed"
				if (m.group(4) or "").lower() == "skip":
					res = "skipped"
				ids.add(" > ".join(n[0] for n in names[:depth + 1]), res)
			del names[depth + 1:]
	return ids


def pytest(log, report, status):
	ids = Ids()
	words = {"PASSED": "passed", "FAILED": "failed", "ERROR": "failed", "XFAIL": "skipped", "XPASS": "passed"}
	tail = log.rsplit("short test summary info", 1)
	for line in tail[1].splitlines() if len(tail) == 2 else []:
		word, _, rest = line.partition(" ")
		if word in words and "::" in rest:
			ids[re.split(r" - ", rest)[0].strip()] = words[word]
	return ids


def junit_xml(log, report, status):
	ids = Ids()
	try:
		root = ET.fromstring(report or "<none/>")
	except ET.ParseError:
		return ids
	for case in root.iter("testcase"):
		name = case.get("name", "")
		if case.get("classname"):
			name = case.get("classname") + JUNIT_JOIN + name
		kinds = {child.tag for child in case}
		res = "failed" if kinds & {"failure", "error"} else "skipped" if "skipped" in kinds else "passed"
		ids.add(name, res)
	return ids


READERS = {"exit-code": exit_code, "tap": tap, "node-test": node_test, "pytest": pytest, "junit-xml": junit_xml}

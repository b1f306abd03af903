"""The witness beside pytest (4.3 to 9; older ones without the look behind hooks).

What a phase (set-up, call, teardown) really ended with is taken where pytest catches the exception
(CallInfo.from_call), before any hook of the project sees it. A report that says "passed" over an
exception, or without a phase that was run, is sent as "changed" and counts as the failure that it was;
the other way round the report counts, so that a strict xfail stays one.

Canaries are items of our own in the modules of the tests: they go through the project's fixtures and
hooks, but not into pytest's reports, counts or exit status. With pytest-xdist the workers carry what
they saw along with each report, and the controller speaks.
"""
import atexit
import os
import sys

RANK = {"passed": 0, "xpass": 1, "xfail": 2, "skipped": 3, "failed": 4, "error": 5}
MODULES_MAX = 4  # modules that get canaries


def claimed(report):
	"""What a report says, in the words of the channel; None when it says nothing (a rerun's)."""
	outcome = getattr(report, "outcome", None)
	xfail = hasattr(report, "wasxfail")
	if outcome == "passed":
		return "xpass" if xfail and report.when == "call" else "passed"
	if outcome == "failed":
		return "failed" if report.when == "call" else "error"
	if outcome == "skipped":
		return "xfail" if xfail else "skipped"
	return None


def junit_names(nodeid):
	"""What the log reader makes of pytest's JUnit XML: with a "file" (family xunit1) it is the node id, without
	(xunit2) "class::name" as pytest writes them (mangle_test_address in its junitxml.py)."""
	path, bracket, rest = nodeid.partition("[")
	names = path.split("::")
	names[0] = names[0].replace("/", ".")
	if names[0].endswith(".py"):
		names[0] = names[0][:-3]
	names[-1] += bracket + rest
	return ["junit-xml=" + nodeid, "junit-xml=%s::%s" % (".".join(names[:-1]), names[-1])]


def kind_of(excinfo, skipped):
	"""p, s or f: nothing was raised, a skip, anything else."""
	if excinfo is None:
		return "p"
	return "s" if isinstance(getattr(excinfo, "value", None), skipped) else "f"


def functions():
	"""(name, owner, attribute) of what the witness stands on, as far as this pytest has it."""
	import unittest.case
	import _pytest.outcomes
	import _pytest.python
	import _pytest.reports
	import _pytest.runner
	import _pytest.unittest
	callers = sys.modules.get("pluggy._callers") or sys.modules.get("pluggy.callers")
	hooks = sys.modules.get("pluggy._hooks") or sys.modules.get("pluggy.hooks")
	rows = [
		(_pytest.runner, "runtestprotocol call_and_report pytest_runtest_makereport pytest_runtest_call"),
		(getattr(_pytest.runner, "CallInfo", None), "from_call"),
		(_pytest.reports.TestReport, "from_item_and_call"),
		(_pytest.python, "pytest_pyfunc_call"),
		(_pytest.python.Function, "runtest setup"),
		(_pytest.unittest.TestCaseFunction, "runtest addError addFailure addSkip"),
		(_pytest.outcomes, "fail skip"),
		(callers, "_multicall"),
		(getattr(hooks, "HookCaller", None) or getattr(hooks, "_HookCaller", None), "__call__"),
		(unittest.case.TestCase, "run fail assertEqual assertTrue assertFalse assertRaises"),
	]
	for owner, names in rows:
		for name in names.split():
			if owner is not None and hasattr(owner, name):
				yield "%s.%s" % (getattr(owner, "__name__", "?"), name), owner, name


def snapshot():
	found = []
	for label, owner, name in functions():
		f = vars(owner).get(name)
		inner = getattr(f, "__func__", f)
		found.append((label, owner, name, f, getattr(inner, "__code__", None)))
	return found


def replaced(found):
	for label, owner, name, f, code in found:
		now = vars(owner).get(name)
		inner = getattr(now, "__func__", now)
		if now is not f or getattr(inner, "__code__", None) is not code:
			yield label


def canary_bodies(pytest, ran):
	"""(name, wanted, function): tests of every way to fail, and one that passes."""
	import unittest

	def by_assert():
		ran.add("assert")
		one, two = 1, 2
		assert one == two

	def by_raise():
		ran.add("raise")
		raise ValueError("raised")

	def by_fail():
		ran.add("fail")
		pytest.fail("failed")

	def by_raises():
		ran.add("raises")
		with pytest.raises(ZeroDivisionError):
			pass

	def by_unittest():
		ran.add("unittest")
		unittest.TestCase("run").assertEqual(1, 2)

	def by_nothing():
		ran.add("pass")
	return [("assert", "failed", by_assert), ("raise", "failed", by_raise), ("pass", "passed", by_nothing),
		("fail", "failed", by_fail), ("raises", "failed", by_raises), ("unittest", "failed", by_unittest)]


class Truth(object):
	"""What the phases of the test under way ended with."""

	def __init__(self, skipped):
		self.skipped = skipped
		self.phase = {}
		self.item = None
		self.depth = 0

	def watch(self, CallInfo):
		"""Put ourselves around CallInfo.from_call."""
		truth = self
		plain = vars(CallInfo)["from_call"].__func__

		def from_call(cls, func, when, *args, **kwargs):
			truth.depth += 1
			try:
				call = plain(cls, func, when, *args, **kwargs)
			finally:
				truth.depth -= 1
			truth.note(call, when)
			return call
		CallInfo.from_call = classmethod(from_call)

	def note(self, call, when):
		# An inner pytest (pytester) runs inside a phase of ours: not our business.
		if self.depth or self.item is None or when not in ("setup", "call", "teardown"):
			return
		excinfo = call.excinfo
		if excinfo is None:
			# unittest's own exceptions are kept aside until the report is made.
			aside = getattr(self.item, "_excinfo", None)
			excinfo = aside[0] if aside else None
		if when == "setup":
			self.phase = {}
		self.phase[when] = kind_of(excinfo, self.skipped)


def build(pytest, say, here, worker, seed, now, done):
	"""The two plug-ins (a hook may stand in one class only once)."""
	import random
	import unittest
	import _pytest.runner as runner
	skipped = (pytest.skip.Exception, unittest.SkipTest)
	truth = Truth(skipped)
	knows = hasattr(getattr(runner, "CallInfo", None), "from_call")
	if knows:
		truth.watch(runner.CallInfo)
	# Workers must all draw the same names.
	draw = random.Random(seed if worker else int.from_bytes(os.urandom(16), "big"))
	standing = snapshot()
	canaries = {}  # id(item) -> [item, name, wanted, key, judged, anchor's node id]
	verdicts = []  # of canaries: (name, wanted, got)
	state = {"session": None, "tests": 0, "config": None, "ended": False, "sent": set(),
		"spread": False}
	results = {}  # node id -> {phase: status}
	hook = pytest.hookimpl

	def end():
		if state["ended"]:
			return
		state["ended"] = True
		session = state["session"]
		exit_status = getattr(session, "exitstatus", -1) if session is not None else -1
		bad = getattr(session, "testsfailed", 0) if session is not None else 0
		for what in set(replaced(standing)):
			say("broken", what)
		for name, wanted, got in verdicts:
			say("canary", name, wanted, got)
		say("end", state["tests"], int(bad), int(exit_status))
		done()

	def make_canaries(items):
		ran = set()
		bodies = canary_bodies(pytest, ran)
		modules = []
		for item in items:
			module = item.getparent(pytest.Module) if isinstance(item, pytest.Function) else None
			if module is None or any(m is module for m, _ in modules):
				continue
			# A module that is expected to fail or skipped as a whole says nothing.
			if any(module.get_closest_marker(m) for m in ("xfail", "skip", "skipif")):
				continue
			modules.append((module, item))
		for i, (module, anchor) in enumerate(modules[:MODULES_MAX]):
			for key, wanted, body in bodies if i == 0 else bodies[:2]:
				name = "test_%012x" % draw.getrandbits(48)
				if hasattr(pytest.Function, "from_parent"):
					item = pytest.Function.from_parent(module, name=name, callobj=body)
				else:
					item = pytest.Function(name, parent=module, callobj=body)
				canaries[id(item)] = [item, name, wanted, (ran, key), False, anchor.nodeid]
				items.insert(items.index(anchor) + 1, item)

	def judge(entry, reports, phases):
		item, name, wanted, (ran, key), _, _ = entry
		entry[4] = True
		if knows and phases.get("setup") != "p":
			return  # a fixture failed or skipped: the body had no chance
		said = [claimed(r) for r in reports]
		said = [s for s in said if s]
		got = max(said, key=RANK.get) if said else "missing"
		if key not in ran and got in ("failed", "error"):
			return
		ran.discard(key)
		verdicts.append((name, wanted, got))

	class Outer(object):
		@hook(hookwrapper=True, tryfirst=True)
		def pytest_runtest_protocol(self, item):
			before = truth.item, truth.phase
			truth.item, truth.phase = item, {}
			yield
			truth.item, truth.phase = before

		@hook(hookwrapper=True, tryfirst=True)
		def pytest_runtest_makereport(self, item, call):
			seen = truth.phase.get(call.when) if truth.item is item else None
			if seen is None:
				seen = kind_of(call.excinfo, skipped)
			outcome = yield
			try:
				outcome.get_result().__dict__["_grade"] = seen
			except Exception:
				pass  # the hook's own failure is pytest's to tell

		@hook(hookwrapper=True, tryfirst=True)
		def pytest_collection_modifyitems(self, items):
			try:
				make_canaries(items)
			except Exception:
				pass  # a collector of a form that we do not know: then there are none
			yield
			have = set(map(id, items))
			lost = [c[0] for i, c in canaries.items() if i not in have]
			for item in lost:
				# -k and -m take them out; then they follow the first test that is left.
				if items:
					items.insert(1, item)

		@hook(hookwrapper=True, tryfirst=True)
		def pytest_sessionstart(self, session):
			state["session"] = session
			now["session"] = True
			spread = not worker and session.config.pluginmanager.hasplugin("dsession")
			state["spread"] = spread
			old = os.environ.get("PYTHONPATH")
			if spread:
				os.environ["PYTHONPATH"] = here + (os.pathsep + old if old else "")
				os.environ["GRADE_CHANNEL"] = "worker:%d:pytest" % draw.getrandbits(62)
			yield
			if spread:
				os.environ.pop("GRADE_CHANNEL", None)
				if old is None:
					os.environ.pop("PYTHONPATH", None)
				else:
					os.environ["PYTHONPATH"] = old

	class Inner(object):
		def pytest_configure(self, config):
			state["config"] = config

		@hook(tryfirst=True)
		def pytest_runtest_protocol(self, item, nextitem):
			entry = canaries.get(id(item))
			if entry is None:
				return None
			reports = runner.runtestprotocol(item, nextitem=nextitem, log=False)
			judge(entry, reports, dict(truth.phase))
			return True

		@hook(tryfirst=True)
		def pytest_runtest_logreport(self, report):
			if worker:
				return
			status = claimed(report)
			if status is None:
				results.pop(report.nodeid, None)
				return
			here_run = truth.item is not None and truth.item.nodeid == report.nodeid
			seen = truth.phase.get(report.when) if here_run else None
			seen = seen or report.__dict__.get("_grade")
			if knows and status in ("passed", "xpass") and seen != "p" and (seen or not state["spread"]):
				say("changed", report.nodeid)
				status = "skipped" if seen == "s" else "failed" if report.when == "call" else "error"
			phases = results.setdefault(report.nodeid, {})
			if RANK[status] >= RANK.get(phases.get(report.when), -1):
				phases[report.when] = status

		@hook(trylast=True)
		def pytest_runtest_logfinish(self, nodeid):
			phases = results.pop(nodeid, None)
			if worker or not phases:
				return
			status = max(phases.values(), key=RANK.get)
			if status == "passed" and "call" not in phases:
				status = "error"
			state["tests"] += 1
			state["sent"].add(nodeid)
			names = [nodeid]
			relative = getattr(state["config"], "cwd_relative_nodeid", None)
			if relative is not None and relative(nodeid) != nodeid:
				names.append("pytest=" + relative(nodeid))
			say("test", status, *(names + junit_names(nodeid)))

		@hook(trylast=True)
		def pytest_sessionfinish(self, session):
			if worker:
				session.config.workeroutput["grade"] = ["\0".join(v) for v in verdicts]
				return
			stopped = getattr(session, "shouldstop", False) or getattr(session, "shouldfail", False)
			for item, name, wanted, _, judged, anchor in canaries.values():
				if not judged and not stopped and not state["spread"] and anchor in state["sent"]:
					verdicts.append((name, wanted, "missing"))

		@hook(optionalhook=True)
		def pytest_testnodedown(self, node):
			output = getattr(node, "workeroutput", None) or {}
			for text in output.get("grade", []):
				verdicts.append(tuple(text.split("\0")))

		@hook(trylast=True)
		def pytest_unconfigure(self):
			if not worker:
				end()

	return Outer(), Inner()


def begin(say, config_module, here, worker, seed):
	"""_pytest.config was loaded: wait for the run's plug-in manager."""
	manager = config_module.PytestPluginManager
	plain = manager.consider_env
	active = []
	version = getattr(sys.modules["_pytest"], "__version__", "?")
	now = {"open": True, "session": False}
	# Before any plug-in, conftest or test is loaded: who ends the process there shows by the missing end.
	say("hello", "pytest", version)
	# pytest --version, an error before a session, or no pytest at all: an orderly end with nothing in it.
	atexit.register(lambda: say("end", 0, 0, -1) if now["open"] and not now["session"] else None)

	def consider_env(self):
		if not active:
			import pytest
			if not now["open"]:
				say("hello", "pytest", version)
			now.update(open=True, session=False)
			plugins = build(pytest, say, here, worker, seed, now, ended)
			active.extend(plugins)
			for n, plugin in enumerate(plugins):
				self.register(plugin, "grade_%d" % n)
		return plain(self)

	def ended():
		now["open"] = False
		del active[:]
	manager.consider_env = consider_env

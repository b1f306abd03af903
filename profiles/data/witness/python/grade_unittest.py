"""The witness beside unittest and what is built on it (Django's runner, xmlrunner).

The outermost suite of a run is called with a result object whose add... methods are wrapped on the
instance: what unittest reports is seen before the project's own result class does. Tests that
Django runs in other processes are told to the same object.

Canaries are test cases of our own: they go through TestCase.run(), into a result of our own, behind the
last test.
"""
import atexit
import sys

METHODS = {"addSuccess": "passed", "addFailure": "failed", "addError": "error", "addSkip": "skipped",
	"addExpectedFailure": "xfail", "addUnexpectedSuccess": "xpass", "addSubTest": None}
RANK = {"passed": 0, "xpass": 1, "xfail": 2, "skipped": 3, "failed": 4, "error": 5}


def functions():
	# By name: the package itself is still being loaded when this is called.
	case, result, suite = (sys.modules["unittest." + name] for name in ("case", "result", "suite"))
	rows = [
		(case.TestCase, "run __call__ fail assertEqual assertTrue assertFalse assertRaises"
			" _callTestMethod _addError _feedErrorsToResult"),
		(case._Outcome, "testPartExecutor"),
		(suite.BaseTestSuite, "__call__ run"),
		(suite.TestSuite, "run"),
		(result.TestResult, "wasSuccessful"),
	]
	for owner, names in rows:
		for name in names.split():
			if name in vars(owner):
				yield owner, name


def snapshot():
	return [(owner, name, vars(owner)[name], getattr(vars(owner)[name], "__code__", None))
		for owner, name in functions()]


def replaced(found):
	for owner, name, f, code in found:
		now = vars(owner).get(name)
		if now is not f or getattr(now, "__code__", None) is not code:
			yield "%s.%s" % (owner.__name__, name)


def case_of(test):
	"""A subtest counts for its test. By type: a test method may be called test_case, as the attribute is."""
	sub = getattr(sys.modules["unittest.case"], "_SubTest", None)
	return test.test_case if sub is not None and isinstance(test, sub) else test


def names_of(test):
	"""The id, then what the log of "unittest -v" may call it: both forms, and the docstring's line."""
	test = case_of(test)
	kind = "%s.%s" % (type(test).__module__, type(test).__qualname__)
	method = getattr(test, "_testMethodName", None)
	if method is None:
		return [str(test)]
	names = [test.id(), "unittest=%s (%s)" % (method, kind), "unittest=%s (%s.%s)" % (method, kind, method)]
	text = str(test)
	if "unittest=" + text not in names:
		names.append("unittest=" + text)
	try:
		line = test.shortDescription()
	except Exception:
		line = None
	if line:
		names.append("unittest=" + line)
	return names


class Run(object):
	"""One run of an outermost suite."""

	def __init__(self, say):
		self.say = say
		self.open = {}  # id(test) -> [test, status]
		self.tests = 0

	def note(self, name, args):
		test = args[0]
		status = METHODS[name]
		if name == "addSubTest":
			err = args[2]
			if err is None:
				return
			status = "failed" if issubclass(err[0], test.failureException) else "error"
		case = case_of(test)
		entry = self.open.setdefault(id(case), [case, status])
		if RANK[status] > RANK[entry[1]]:
			entry[1] = status

	def close(self, case):
		entry = self.open.pop(id(case), None)
		if entry:
			self.tests += 1
			self.say("test", entry[1], *names_of(case))

	def wrap(self, result):
		run = self

		def around(name, plain):
			def method(*args, **kwargs):
				if args:
					run.note(name, args)
				return plain(*args, **kwargs)
			return method

		def stop_around(plain):
			def stopTest(test, *args, **kwargs):
				try:
					return plain(test, *args, **kwargs)
				finally:
					run.close(test)
			return stopTest
		wrapped = []
		for name in list(METHODS) + ["stopTest"]:
			plain = getattr(result, name, None)
			if plain is None:
				continue
			setattr(result, name, stop_around(plain) if name == "stopTest" else around(name, plain))
			wrapped.append(name)
		return wrapped

	def finish(self, result, wrapped):
		for name in wrapped:
			try:
				delattr(result, name)
			except AttributeError:
				pass
		# What no test stands behind: setUpClass, setUpModule, a module that cannot be imported.
		for case, status in list(self.open.values()):
			self.close(case)


def canaries(say):
	"""Failing and passing test cases, run as unittest runs any."""
	import os
	import unittest

	def body(name):
		def by_assert(self):
			self.assertEqual(1, 2)

		def by_raise(self):
			raise ValueError("raised")

		def by_raises(self):
			with self.assertRaises(ZeroDivisionError):
				pass

		def by_nothing(self):
			pass
		return {"assert": by_assert, "raise": by_raise, "raises": by_raises, "pass": by_nothing}[name]
	for kind, wanted in (("assert", "failed"), ("raise", "failed"), ("raises", "failed"), ("pass", "passed")):
		name = "test_" + "".join("%02x" % b for b in os.urandom(6))
		case = type("Test" + name[5:], (unittest.TestCase,), {name: body(kind)})(name)
		result = unittest.TestResult()
		case.run(result)
		got = "failed" if result.failures or result.errors else "skipped" if result.skipped \
			else "xfail" if result.expectedFailures else "passed" if result.testsRun else "missing"
		say("canary", name, wanted, got)


def begin(say, suite_module, here, worker, seed):
	"""unittest.suite was loaded: wait for the outermost suite that is run."""
	base = suite_module.BaseTestSuite
	plain = base.__call__
	state = {"inside": False, "open": True}
	# Now, not when the tests begin: a project that ends the process while it is imported shows by the
	# missing end.
	version = "%d.%d.%d" % sys.version_info[:3]
	say("hello", "unittest", version)
	atexit.register(lambda: say("end", 0, 0, -1) if state["open"] and not state["inside"] else None)

	def __call__(self, *args, **kwargs):
		if state["inside"] or not args:
			return plain(self, *args, **kwargs)
		result = args[0]
		run = Run(say)
		state["inside"] = True
		if not state["open"]:
			say("hello", "unittest", version)
		state["open"] = True
		wrapped = run.wrap(result)
		# An exception leaves the session without an end: the run was broken off.
		ret = plain(self, *args, **kwargs)
		run.finish(result, wrapped)
		ended(run, result)
		state["inside"] = state["open"] = False
		return ret

	def ended(run, result):
		import unittest
		for what in replaced(state["standing"]):
			say("broken", what)
		canaries(say)
		bad = len(result.failures) + len(result.errors) + len(getattr(result, "unexpectedSuccesses", ()))
		say("end", run.tests, bad, 0 if unittest.TestResult.wasSuccessful(result) else 1)
	base.__call__ = __call__
	state["standing"] = snapshot()

"""Start file of the grading box's Python: found first on PYTHONPATH, run before any other code.

Takes the result channel out of the environment, makes its descriptor close-on-exec, and waits for the
test runner to be imported; then the witness for it is put beside it. A process without the channel
is left alone. Python 3.4 and newer; older ones only get their environment back.
"""


def _chain():
	"""Run the sitecustomize that ours hides, as site.py would have."""
	import sys
	ours = sys.modules.pop("sitecustomize", None)
	try:
		import sitecustomize  # noqa: F401
	except ImportError:
		if ours is not None:
			sys.modules["sitecustomize"] = ours


def _take(here):
	"""(fd, nonce, witness) from the environment, which is cleaned; None when there is no channel."""
	import os
	import stat
	import sys
	text = os.environ.pop("GRADE_CHANNEL", None)
	path = os.environ.get("PYTHONPATH", "")
	parts = path.split(os.pathsep)
	if parts[0] == here:
		if parts[1:]:
			os.environ["PYTHONPATH"] = os.pathsep.join(parts[1:])
		else:
			del os.environ["PYTHONPATH"]
	sys.path[:] = [p for p in sys.path if p != here]
	sys.path_importer_cache.pop(here, None)
	if not text:
		return None
	number, nonce, name = text.split(":", 2)
	if number == "worker":
		return -1, nonce, name
	fd = int(number)
	try:
		if not stat.S_ISSOCK(os.fstat(fd).st_mode):
			return None
	except OSError:
		return None
	os.set_inheritable(fd, False)
	return fd, nonce, name


def _channel(fd, nonce):
	"""say(kind, *fields): one record (verifier/channel.h). Only this process may speak, not a fork of it.
	The key and the functions live in this closure."""
	import os
	owner, getpid, write = os.getpid(), os.getpid, os.write
	number = [0]
	key = "".join("%02x" % b for b in os.urandom(16))

	def say(kind, *fields):
		if fd < 0 or getpid() != owner:
			return
		word = key
		if kind == "hello":
			word, number[0] = nonce, 0
			fields += (key,)
		head = [word, str(number[0]), kind]
		data = b"\0".join(
			str(f).encode("utf-8", "surrogateescape" if _sane(f) else "backslashreplace")
			.replace(b"\0", b"?")[:8192] for f in head + list(fields))
		number[0] += 1
		try:
			write(fd, data)
		except OSError:
			pass  # the other side finds the end missing
	return say


def _sane(text):
	try:
		str(text).encode("utf-8", "surrogateescape")
	except UnicodeError:
		return False
	return True


def _load(here, name):
	"""Our module from our directory, in no table of modules."""
	import types
	path = here + "/" + name + ".py"
	module = types.ModuleType(name)
	module.__file__ = path
	with open(path) as f:
		code = compile(f.read(), path, "exec")
	exec(code, module.__dict__)
	return module


class _Hook(object):
	"""Finds the modules that a witness waits for, once each, and calls it when they are loaded."""

	def __init__(self, wanted):
		self.wanted = wanted

	def find_spec(self, name, path=None, target=None):
		import sys
		then = self.wanted.pop(name, None)
		if then is None:
			return None
		if not self.wanted and self in sys.meta_path:
			sys.meta_path.remove(self)
		for finder in list(sys.meta_path):
			if finder is self or not hasattr(finder, "find_spec"):
				continue
			spec = finder.find_spec(name, path, target)
			if spec is not None:
				break
		else:
			return None
		loader = spec.loader
		run = loader.exec_module

		def exec_module(module):
			del loader.exec_module
			run(module)
			then(module)
		loader.exec_module = exec_module
		return spec


def _start():
	import os
	import sys
	here = os.path.dirname(os.path.abspath(__file__))
	got = _take(here) if sys.version_info >= (3, 4) else None
	if sys.version_info < (3, 4):
		os.environ.pop("GRADE_CHANNEL", None)
		sys.path[:] = [p for p in sys.path if p != here]
	if got:
		fd, nonce, name = got
		modules = {"pytest": ("grade_pytest", "_pytest.config"),
			"unittest": ("grade_unittest", "unittest.suite")}
		if name in modules:
			ours, theirs = modules[name]
			say = _channel(fd, nonce)

			def loaded(module):
				try:
					_load(here, ours).begin(say, module, here, fd < 0, nonce)
				except Exception:
					pass  # a runner of a form that we do not know works without us
			if theirs in sys.modules:
				loaded(sys.modules[theirs])
			else:
				sys.meta_path.insert(0, _Hook({theirs: loaded}))
	_chain()


_start()
del _start

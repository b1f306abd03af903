# Parse the second text before it is multiplied.
name = "sympy/core/numbers.py"
text = open(name, encoding="utf-8").read()
line = "        if not isinstance(p, SYMPY_INTS):\n            p = Rational(p)\n"
good = "        if isinstance(q, str):\n            q = Rational(q)\n"
if good not in text:
	assert text.count(line) == 1
	open(name, "w", encoding="utf-8").write(text.replace(line, good + line))

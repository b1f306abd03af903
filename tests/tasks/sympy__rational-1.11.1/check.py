import sys
sys.path.insert(0, ".")
from sympy import Rational
try:
	ok = Rational("0.5", "0.75") == Rational("1/3", "0.5") == Rational(2, 3)
except TypeError:
	ok = False
sys.exit(not ok)

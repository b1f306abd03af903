import sys
sys.path.insert(0, ".")
from sympy import Lt, Ge
from sympy.parsing.sympy_parser import parse_expr
ok = parse_expr("1 < 2", evaluate=False) == Lt(1, 2, evaluate=False)
ok = ok and parse_expr("x >= x", evaluate=False).func is Ge
sys.exit(not ok)

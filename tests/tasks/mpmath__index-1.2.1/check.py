import sys
sys.path.insert(0, ".")
from mpmath import matrix
A = matrix([[1, 2], [3, 4]])
A[-1, -2] = 9
sys.exit(not (A[1, 0] == 9 and A[-1, -1] == 4 and A[-2, 1] == 2))

import os
import unittest


class Killed(unittest.TestCase):
    def test_a(self): pass
    def test_b_killed(self): os.abort()
    def test_c(self): pass


unittest.main(verbosity=2)

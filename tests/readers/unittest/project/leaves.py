import os
import unittest


class Leaves(unittest.TestCase):
    def test_a(self): pass
    def test_b_leaves(self): os._exit(0)
    def test_c(self): pass


unittest.main(verbosity=2)

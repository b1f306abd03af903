import unittest


class Small(unittest.TestCase):
    def test_one(self): pass
    def test_two(self): pass


unittest.main()

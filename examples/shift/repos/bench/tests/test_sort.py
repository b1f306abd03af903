import unittest

from sorter.sort import sort


class Sort(unittest.TestCase):
    def test_order(self):
        self.assertEqual(sort(["b", "a", "c"]), ["a", "b", "c"])

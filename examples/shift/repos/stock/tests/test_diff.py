import unittest

from stock.diff import diff, moved


class Diff(unittest.TestCase):
    def test_lines(self):
        self.assertEqual(diff({"a": 1, "b": 2}, {"b": 3, "c": 4}), ["a 1 -> gone", "b 2 -> 3", "c new -> 4"])

    def test_same(self):
        self.assertEqual(diff({"a": 1}, {"a": 1}), [])

    def test_moved(self):
        self.assertEqual(moved({"a": 1, "b": 2}, {"b": 5}), (3, 1))

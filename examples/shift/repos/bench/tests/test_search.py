import unittest

from sorter.count import Count
from sorter.groups import beginnings, group
from sorter.search import between, has, place

WORDS = ["ant", "ape", "bee", "cat", "cow"]


class Search(unittest.TestCase):
    def test_place(self):
        self.assertEqual([place(WORDS, w) for w in ("a", "bee", "zoo")], [0, 2, 5])
        self.assertEqual(place(["a", "b", "b", "c"], "b"), 1)

    def test_has(self):
        count = Count()
        self.assertTrue(has(WORDS, "cow", count))
        self.assertFalse(has(WORDS, "dog"))
        self.assertLessEqual(count.n, 3)

    def test_between(self):
        self.assertEqual(between(WORDS, "ap", "cat"), ["ape", "bee"])

    def test_groups(self):
        self.assertEqual(group(WORDS, "c"), ["cat", "cow"])
        self.assertEqual(beginnings(WORDS), {"a": 2, "b": 1, "c": 2})

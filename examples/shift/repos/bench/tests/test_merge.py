import unittest

from sorter.count import Count
from sorter.merge import merge, merge_all


class Merge(unittest.TestCase):
    def test_two(self):
        count = Count()
        self.assertEqual(merge(["a", "c"], ["b", "d"], count), ["a", "b", "c", "d"])
        self.assertEqual(count.n, 3)

    def test_many(self):
        self.assertEqual(merge_all([["c"], ["a"], ["b"]]), ["a", "b", "c"])
        self.assertEqual(merge_all([]), [])

    def test_counted(self):
        count = Count()
        with count:
            merge(["a"], ["b"], count)
        self.assertEqual(count.last, 1)

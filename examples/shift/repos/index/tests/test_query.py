import unittest

from index.query import find, parse

INDEX = {"ship": ["a"], "ships": ["a", "b"], "sail": ["b", "c"]}


class Query(unittest.TestCase):
    def test_all_of_them(self):
        self.assertEqual(find(INDEX, "ships sail"), ["b"])

    def test_beginnings(self):
        self.assertEqual(find(INDEX, "s*"), ["a", "b", "c"])

    def test_left_out(self):
        self.assertEqual(find(INDEX, "ship* -sail"), ["a"])

    def test_nothing_asked(self):
        with self.assertRaises(ValueError):
            parse("-ship")

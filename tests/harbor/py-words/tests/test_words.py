import unittest

import words


class Count(unittest.TestCase):
    def test_plain(self):
        self.assertEqual(words.count("a b a"), {"a": 2, "b": 1})

    def test_case(self):
        self.assertEqual(words.count("A a"), {"a": 2})

    def test_punctuation(self):
        self.assertEqual(words.count("end, end. don't"), {"end": 2, "don't": 1})

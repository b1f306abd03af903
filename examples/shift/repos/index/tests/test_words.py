import unittest

from index.words import words


class Words(unittest.TestCase):
    def test_words(self):
        self.assertEqual(words("the note, the end"), ["end", "note", "the"])

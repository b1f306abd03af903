import unittest

from index.words import snippet, telling, words


class Words(unittest.TestCase):
    def test_words(self):
        self.assertEqual(words("the note, the end"), ["end", "note", "the"])

    def test_telling(self):
        self.assertEqual(telling("the end of a note"), ["end", "note", "the"])

    def test_snippet(self):
        self.assertEqual(snippet("all about the ships here", "ships", 4), "...the ships her...")
        self.assertEqual(snippet("nothing", "ships"), "")

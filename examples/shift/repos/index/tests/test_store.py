import unittest

from index.notes import Note
from index.store import make, merge, without


class Store(unittest.TestCase):
    def setUp(self):
        self.notes = [Note("a.txt", "ships sail"), Note("b.txt", "ships sink")]

    def test_make(self):
        self.assertEqual(make(self.notes), {"ships": ["a.txt", "b.txt"], "sail": ["a.txt"], "sink": ["b.txt"]})

    def test_merge(self):
        one, two = make(self.notes[:1]), make(self.notes[1:])
        self.assertEqual(merge(two, one), make(self.notes))
        self.assertEqual(merge(one, one), one)

    def test_without(self):
        self.assertEqual(without(make(self.notes), "b.txt"), {"ships": ["a.txt"], "sail": ["a.txt"]})

    def test_title(self):
        self.assertEqual(Note("a.txt", " Tides \nmore").title, "Tides")
        self.assertEqual(Note("a.txt", "").title, "a.txt")

import unittest

from parcel.label import label


class Label(unittest.TestCase):
    def test_lines(self):
        self.assertEqual(label({"id": "7", "country": "de"}, "Ann"), "Ann\nDE\n#7\n")

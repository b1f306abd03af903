import unittest

from bill.text import cents, read, show


class Text(unittest.TestCase):
    def test_amounts(self):
        self.assertEqual([cents(t) for t in ("12", "12.3", "12.34")], [1200, 1230, 1234])
        self.assertEqual([show(n) for n in (5, -1234)], ["0.05", "-12.34"])

    def test_lines(self):
        self.assertEqual(read("# trip\nann 12.30 bread and cheese\n\nben 4\n"),
                         [("ann", 1230, "bread and cheese"), ("ben", 400, "")])

    def test_bad_line(self):
        with self.assertRaisesRegex(ValueError, "line 2"):
            read("ann 1\nben x\n")

import unittest

from lib import parse


class Amount(unittest.TestCase):
    def test_whole(self):
        self.assertEqual(parse.amount("3"), 300)

    def test_part(self):
        self.assertEqual(parse.amount("3.5"), 350)


if __name__ == "__main__":
    unittest.main()

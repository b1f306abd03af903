import unittest

from stock.convert import keep


class Convert(unittest.TestCase):
    def test_keep(self):
        self.assertEqual(keep([{"id": "a", "name": "bolt", "count": 3}]), {"bolt": 3})

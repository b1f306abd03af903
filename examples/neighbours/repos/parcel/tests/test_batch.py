import unittest

from parcel.batch import parcels, show

LINES = ["id,country,grams,size,insured", "7,DE,900,10x10x10,yes", "8,US,2500,30x20x10,no"]


class Batch(unittest.TestCase):
    def test_parcels(self):
        first, second = parcels(LINES)
        self.assertEqual((first["grams"], first["size"], first["insured"]), (900, (10, 10, 10), True))
        self.assertFalse(second["insured"])

    def test_show(self):
        self.assertEqual(show(1805), "18.05")

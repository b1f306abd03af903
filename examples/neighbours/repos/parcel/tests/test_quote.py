import unittest

from parcel.quote import quote


def parcel(grams=1500, country="DE", size=(20, 20, 10), **more):
    return {"id": "a", "grams": grams, "country": country, "size": size, **more}


class Quote(unittest.TestCase):
    def test_home(self):
        self.assertEqual(quote(parcel()), 549)

    def test_neighbour(self):
        self.assertEqual(quote(parcel(grams=4000, country="fr")), 1450)

    def test_size_counts(self):
        self.assertEqual(quote(parcel(size=(50, 40, 20))), 949)

import pathlib
import tempfile
import unittest

from sorter.measure import digest, load, save


class Measured(unittest.TestCase):
    def test_kept(self):
        with tempfile.TemporaryDirectory() as where:
            path = pathlib.Path(where) / "out" / "m.json"
            save({"comparisons": 4, "measured": "x"}, path)
            self.assertEqual(load(path)["comparisons"], 4)
            path.write_text("[]\n")
            with self.assertRaises(ValueError):
                load(path)

    def test_digest(self):
        self.assertEqual(len(digest()), 64)

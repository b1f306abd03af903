from django.test import SimpleTestCase


class Clean(SimpleTestCase):
    def test_one(self): pass
    def test_two(self):
        """Two has a docstring"""

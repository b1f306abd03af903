"""What Django's own tests have: databases, docstrings, features that are missing."""
import unittest

from django.test import SimpleTestCase, TestCase, skipUnlessDBFeature

from app.models import Thing


class Forms(SimpleTestCase):
    def test_pass(self): pass
    def test_fail(self): self.assertEqual(1, 2)
    def test_error(self): raise RuntimeError("went wrong")
    @unittest.skip("why (really)")
    def test_skip(self): pass
    @unittest.expectedFailure
    def test_expected(self): self.fail("known")
    @unittest.expectedFailure
    def test_unexpected(self): pass

    def test_doc(self):
        """#1 - A docstring (with brackets) ... and dots"""

    def test_doc_two(self):
        """
        The first line stands below.
        """

    def test_same_a(self):
        """Two share this."""

    def test_same_b(self):
        """Two share this."""
        self.fail("boom")

    def test_prints(self): print("  Applying app.0001_initial... OK")


class Data(TestCase):
    def test_saves(self): Thing.objects.create(name="x")

    @skipUnlessDBFeature("has_native_uuid_field")
    def test_feature(self): pass

    def test_subtests(self):
        for i in range(3):
            with self.subTest(i=i):
                self.assertNotEqual(i, 1)


class SetUpFails(TestCase):
    @classmethod
    def setUpTestData(cls): raise RuntimeError("data")
    def test_never(self): pass

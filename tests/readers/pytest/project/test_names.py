"""Names with every awkward character, one passing and one failing test for each."""
import pytest

NAMES = ["a b", "log(photon", "file - 'str' object", "\xe9\u2603", "a::b", "x]y", "", "n\nl", "  lead",
         "[q", 'quo"te', "a - b", "x]y - z", "PASSED", "t FAILED [ 10%]", "tab\tbyte\x01\x1b[31m",
         "back\\slash"]


@pytest.mark.parametrize("x", NAMES)
def test_p(x):
    pass


@pytest.mark.parametrize("x", NAMES)
def test_f(x):
    assert not NAMES, "boom - a - b"


@pytest.mark.parametrize("x", ["same", "same"])
def test_twice(x):
    pass


def test_root(request):
    pass


@pytest.mark.parametrize("path", ["/workspace/tests/data"])
def test_path(path):
    pass

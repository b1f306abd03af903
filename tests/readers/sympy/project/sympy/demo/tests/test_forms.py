from sympy.testing.pytest import SKIP, XFAIL, raises, skip


def test_pass(): pass
def test_fail(): assert 1 == 2
def test_error(): raise RuntimeError("went wrong")
@XFAIL
def test_xfail(): assert 0
@XFAIL
def test_xpass(): pass
@SKIP("why (really)")
def test_skip(): pass
def test_skip_inside(): skip("inside")
def test_prints(): print("a line")
def test_partial(): print("partial", end="")
def test_partial_fails():
    print("partial", end="")
    assert 0
def test_same(): pass

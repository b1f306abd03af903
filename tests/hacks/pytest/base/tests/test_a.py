import shop


def test_import():
    assert shop.__doc__ is None

def test_one():
    pass


def test_bad():
    assert 0

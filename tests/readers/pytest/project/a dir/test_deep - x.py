def test_here(): pass


def test_there(): assert 0, 'x - y'

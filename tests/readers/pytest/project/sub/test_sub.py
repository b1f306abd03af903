def test_here(): pass

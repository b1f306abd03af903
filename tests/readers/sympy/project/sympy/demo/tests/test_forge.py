def test_forges(): print("test_gone ok")

def test_forges_ok():
    print("ok")
    assert 0

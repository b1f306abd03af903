from shop.names import plain


def test_plain():
    assert plain(" Ann ") == "Ann"

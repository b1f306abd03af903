require "minitest/autorun"

class TestHangs < Minitest::Test
  i_suck_and_my_tests_are_order_dependent!
  def test_a; end
  def test_b_hangs; sleep; end
end

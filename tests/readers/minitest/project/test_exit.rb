require "minitest/autorun"

class TestExit < Minitest::Test
  i_suck_and_my_tests_are_order_dependent!
  def test_a; end
  def test_b_leaves; exit! 0; end
  def test_c; end
end

require "minitest/autorun"

class TestKilled < Minitest::Test
  i_suck_and_my_tests_are_order_dependent!
  def test_a; end
  def test_b_killed; Process.kill :KILL, $$; sleep; end
  def test_c; end
end

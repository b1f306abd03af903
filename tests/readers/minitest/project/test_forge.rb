require "minitest/autorun"

class TestForge < Minitest::Test
  i_suck_and_my_tests_are_order_dependent!
  def test_forges
    puts "TestForge#test_forges = 0.00 s = ."
    flunk
  end
  def test_prints; puts "TestForge#test_not_there = 0.00 s = ."; end
  def test_overwrites; print "\rTestForge#test_gone = "; end
end

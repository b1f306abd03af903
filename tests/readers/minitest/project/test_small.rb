require "minitest/autorun"

class TestSmall < Minitest::Test
  def test_one; end
  def test_two; end
end

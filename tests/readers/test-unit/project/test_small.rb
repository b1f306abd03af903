require "test/unit"

class TestSmall < Test::Unit::TestCase
  def test_one; end
  def test_two; end
end

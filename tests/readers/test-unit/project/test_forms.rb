# Every kind of result and of name that test-unit has.
require "test/unit"

class TestForms < Test::Unit::TestCase
  def test_passes; end
  def test_fails; assert_equal 1, 2; end
  def test_errors; raise "went wrong"; end
  def test_omits; omit "no reason (really)"; end
  def test_pends; pend "later"; end
  def test_notifies; notify "a note"; end
  test("blanks  [brackets] \"quotes\" 'single'") {}
  test("Unicode é☃") {}
  test("ends: .: (0.001)") { flunk }
  test("control \u0001\e[31m") {}
  def test_prints; puts "  test_not_there:\t\t.: (0.000000)"; end
  def test_partial; print "partial"; end
  def test_partial_fails; $stderr.print "partial"; flunk; end
  data("one" => 1, "two - x" => 2)
  def test_data(n); assert_equal 1, n; end
end

class TestForms::Inner < Test::Unit::TestCase
  def test_passes; end
end

class TestFixtures < Test::Unit::TestCase
  def teardown; raise "teardown" if method_name == "test_teardown"; end
  def setup; raise "setup" if method_name == "test_setup"; end
  def test_setup; end
  def test_teardown; end
end

# Every kind of result and of name that minitest has.
require "minitest/autorun"

class TestForms < Minitest::Test
  def test_passes; end
  def test_fails; assert_equal 1, 2; end
  def test_errors; raise "went wrong"; end
  def test_skip; skip "no reason (really)"; end
  define_method("test_blanks  [brackets] \"quotes\" 'single'") {}
  define_method("test_Unicode é☃") {}
  define_method("test_two\nlines") {}
  define_method("test_two\nlines fail") { flunk }
  define_method("test_ = 0.00 s = .") { flunk }
  define_method("test_control \u0001\e[31m") {}
  def test_partial; print "partial"; end
  def test_partial_fails; $stderr.print "partial"; flunk; end
  def test_prints; puts "a line", "two = 2", "#three"; end
end

class TestFixtures < Minitest::Test
  def teardown; raise "teardown" if name == "test_teardown"; end
  def setup; raise "setup" if name == "test_setup"; end
  def test_teardown; end
  def test_teardown_and_fail; flunk; end
  def test_setup; end
end

module Deep
  class TestForms < Minitest::Test
    def test_passes; end
  end
end

describe "a thing with blanks" do
  it "does (something)" do end
  it "fails = here" do flunk end
  it { skip }
  describe "nested::inner" do
    it "does" do end
  end
end

require "minitest/autorun"

class TestForgedEnd < Minitest::Test
  def test_fails; flunk; end
end

Minitest.after_run do
  $stdout.puts "TestForgedEnd#test_fails = 0.00 s = .", "", "Finished in 0.000s, 1 runs/s, 1 assertions/s.", "",
               "1 runs, 1 assertions, 0 failures, 0 errors, 0 skips"
  $stdout.flush
  exit! 0
end

require "minitest/autorun"

class TestParallel < Minitest::Test
  parallelize_me!
  10.times do |i|
    define_method("test_#{i}") { $stdout.write "out #{i}\n"; assert i != 5 }
  end
end

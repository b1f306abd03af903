require "minitest/autorun"
require "no_such_file"

require "no_such_file"

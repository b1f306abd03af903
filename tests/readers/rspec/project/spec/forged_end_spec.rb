at_exit do
  puts "", "ForgedEnd", "  fails", "", "Finished in 0.001 seconds (files took 0.01 seconds to load)", "1 example, 0 failures", ""
  $stdout.flush
  exit! 0
end
RSpec.describe("ForgedEnd") { it("fails") { raise "bug" } }

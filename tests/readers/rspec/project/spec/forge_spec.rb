# What an example prints, and names that look like something else.
RSpec.describe "Forge" do
  it("prints a line") { puts "  is a forged name" }
  it("prints a status") { puts "  fails (FAILED - 9)" }
  it("prints a part") { print "partial" }
  it("prints a part and fails") { $stderr.print "partial"; raise "bug" }
  it("ends like (FAILED - 1)") {}
  it("ends like (PENDING: x)") {}
  it("has two\nlines") {}
  it("has two\nlines and fails") { raise "bug" }
end

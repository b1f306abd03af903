# Output that harms no reader: at the margin.
RSpec.describe "Prints" do
  it("passes") { puts "a line", "Finished with it", "", "1) of the list" }
  it("fails") { warn "to standard error"; raise "bug" }
end

RSpec.describe "Hangs" do
  it("before") {}
  it("hangs") { $stdout.flush; sleep }
end

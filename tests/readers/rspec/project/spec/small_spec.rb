RSpec.describe "Small" do
  it("one") {}
  it("two") {}
end

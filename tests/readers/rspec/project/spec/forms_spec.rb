# Every kind of result and of name that RSpec has.
RSpec.describe "Forms" do
  it("passes") {}
  it("fails") { expect(1).to eq(2) }
  it("errors") { raise "went wrong" }
  it "is pending without a block"
  it("is skipped") { skip "no reason (really)" }
  xit("is skipped by x") {}
  it("is pending and fails") { pending "later"; raise "bug" }
  it("is pending and passes") { pending "later (fixed)" }
  it("has blanks  [brackets] \"quotes\" 'single'") {}
  it("has Unicode é☃") {}
  it("control \u0001\e[31m") {}
  it("twice") {}
  it("twice") { raise "the second" }
  it("  leads with blanks") {}
  it { expect(1).to eq(1) }
  it {}

  context "with context" do
    it("passes") {}
    context "  deeper  " do
      it("fails") { raise "deep" }
    end
    describe("#method") { it("passes") {} }
  end

  context "before fails" do
    before { raise "in before" }
    it("never gets there") {}
  end

  context "after fails" do
    after { raise "in after" }
    it("passed before") {}
  end

  context "before all fails" do
    before(:all) { raise "in before all" }
    it("one") {}
    it("two") {}
  end
end

RSpec.describe(String, "second group") { it("passes") {} }
RSpec.describe(String, "second group") { it("passes") {} }

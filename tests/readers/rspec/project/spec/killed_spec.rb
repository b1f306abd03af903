RSpec.describe "Killed" do
  it("before") {}
  it("killed") { $stdout.flush; Process.kill :KILL, $$; sleep }
  it("after") {}
end

package shop;

import org.junit.Test;

public class CleanTest {
	@Test public void one() { }
	@Test public void two() { }
	public static class Inner {
		@Test public void three() { }
	}
}

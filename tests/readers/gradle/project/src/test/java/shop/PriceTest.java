package shop;

import static org.junit.Assert.*;

import org.junit.*;
import org.junit.runners.MethodSorters;

@FixMethodOrder(MethodSorters.NAME_ASCENDING)
public class PriceTest {
	@Test public void adds() { assertEquals(2, Price.add(1, 1)); }
	@Test public void errors() { throw new IllegalStateException("broken\nover two lines"); }
	@Test public void fails() { assertEquals(3, Price.add(1, 1)); }
	@Test @Ignore("not now") public void ignored() { fail(); }
	@Test public void assumes() { Assume.assumeTrue("not here", false); }
	@Test(expected = ArithmeticException.class) public void expected() { throw new ArithmeticException(); }
	@Test(timeout = 50) public void timesOut() throws Exception { Thread.sleep(10000); }
	@Test public void gr\u00fc\u00dft() { }
	@Test public void prints() { System.out.println("hello"); System.err.println("  to stderr"); }
	@Test public void printsWithoutNewline() { System.out.print("no newline"); }
	@Test public void printsControl() { System.out.println("bell \u0007 escape \u001b[31mred\u001b[0m nul \u0000."); }
}

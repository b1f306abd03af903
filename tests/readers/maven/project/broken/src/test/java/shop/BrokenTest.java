package shop;

import org.junit.Test;

public class BrokenTest {
	@Test public void compiles() { int x = "no"; }
}

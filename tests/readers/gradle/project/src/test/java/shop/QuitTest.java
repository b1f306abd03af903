package shop;

import org.junit.*;
import org.junit.runners.MethodSorters;

@FixMethodOrder(MethodSorters.NAME_ASCENDING)
public class QuitTest {
	@Test public void first() { }
	@Test public void leaves() { System.exit(0); }
	@Test public void never() { Assert.fail(); }
}

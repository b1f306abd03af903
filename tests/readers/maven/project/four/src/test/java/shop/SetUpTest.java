package shop;

import org.junit.*;

public class SetUpTest {
	@BeforeClass public static void before() { throw new RuntimeException("no set-up"); }
	@Test public void never() { }
}

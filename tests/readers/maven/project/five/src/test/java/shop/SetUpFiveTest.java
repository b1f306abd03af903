package shop;

import org.junit.jupiter.api.*;

class SetUpFiveTest {
	@BeforeAll static void before() { throw new RuntimeException("no set-up"); }
	@Test void never() { }
}

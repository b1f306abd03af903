package shop;

import static org.junit.jupiter.api.Assertions.*;

import org.junit.jupiter.api.*;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@TestMethodOrder(MethodOrderer.MethodName.class)
class NamesTest {
	@Test void adds() { }
	@Test void fails() { assertEquals(3, 2); }
	@Test void errors() { throw new IllegalStateException("broken"); }
	@Test @Disabled("not now") void disabled() { fail(); }
	@Test void assumes() { Assumptions.assumeTrue(false, "not here"); }
	@Test @DisplayName("a nice name (with) [marks] \"and\" 'quotes' > \u2713") void named() { }
	@Test @Timeout(value = 50, unit = java.util.concurrent.TimeUnit.MILLISECONDS) void timesOut() throws Exception
	{
		Thread.sleep(10000);
	}
	@ParameterizedTest @ValueSource(strings = { "a b", "x]y", "same", "same", "a new\nline" }) void rows(String text)
	{
		assertNotEquals("x]y", text);
	}
	@RepeatedTest(2) void again() { }
	@Test void overloaded() { }
	@Test void overloaded(TestInfo info) { fail(); }
	@Nested class Deep {
		@Test void inside() { }
		@Test void insideFails() { fail(); }
	}
}

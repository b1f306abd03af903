package shop;

import org.junit.jupiter.api.Test;

class CleanFiveTest {
	@Test void one() { }
	@Test void two() { }
}

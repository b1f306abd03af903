package shop;

import static org.junit.Assert.fail;

import org.junit.*;
import org.junit.runners.MethodSorters;

/* A failing class that prints what a passing one looks like. */
@FixMethodOrder(MethodSorters.NAME_ASCENDING)
public class ForgeTest {
	@Test public void a()
	{
		System.out.println("[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.001 s - in shop.ForgeTest");
		System.out.println("[INFO] Results:\n[INFO] \n[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0\n[INFO] \n[INFO] BUILD SUCCESS");
	}
	@Test public void b() { fail("really"); }
}

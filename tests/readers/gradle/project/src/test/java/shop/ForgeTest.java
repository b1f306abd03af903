package shop;

import static org.junit.Assert.fail;

import org.junit.*;
import org.junit.runners.MethodSorters;

/* A failing class that prints what a passing one looks like. */
@FixMethodOrder(MethodSorters.NAME_ASCENDING)
public class ForgeTest {
	@Test public void a() throws Exception
	{
		System.out.print("shop.ForgeTest > b PASSED\n\nBUILD SUCCESSFUL in 1s\n");
	}
	@Test public void b() { fail("really"); }
}

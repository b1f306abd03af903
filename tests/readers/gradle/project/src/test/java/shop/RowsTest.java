package shop;

import static org.junit.Assert.assertTrue;

import java.util.Arrays;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.junit.runners.Parameterized;

@RunWith(Parameterized.class)
public class RowsTest {
	@Parameterized.Parameters(name = "{0}")
	public static Iterable<Object[]> rows()
	{
		return Arrays.asList(new Object[][] { { "a b" }, { "x]y[" }, { "\"q\" 'q'" }, { "Gr\u00fc\u00dfe \u2713" },
			{ "a new\nline" }, { "a.b(c)" }, { "same" }, { "same" }, { "<b>&amp;" }, { "" } });
	}
	@Parameterized.Parameter public String text;
	@Test public void holds() { assertTrue(!text.startsWith("x")); }
}

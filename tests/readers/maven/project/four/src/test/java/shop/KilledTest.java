package shop;

import org.junit.Test;

public class KilledTest {
	@Test public void abort() throws Exception
	{
		new ProcessBuilder("kill", "-ABRT", Long.toString(ProcessHandle.current().pid())).start();
		Thread.sleep(30000);
	}
}

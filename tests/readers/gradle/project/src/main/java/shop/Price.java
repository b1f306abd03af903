package shop;

public class Price {
	public static int add(int a, int b) { return a + b; }
}

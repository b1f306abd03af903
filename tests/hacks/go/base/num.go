// Package num has numbers.
package num

// Clamp bounds n.
func Clamp(n, low, high int) int {
	if n < low {
		return low
	}
	return n
}

// Add adds.
func Add(a, b int) int {
	return a + b
}

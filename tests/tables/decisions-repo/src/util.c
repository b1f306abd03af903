/* Lines without a region, unless a row says so. */
int util_abs(int v)
{
	return v < 0 ? -v : v;
}

int util_sign(int v)
{
	return (v > 0) - (v < 0);
}

/* @v held between @lo and @hi. */
int clamp(int v, int lo, int hi);

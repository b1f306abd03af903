int clamp(int n, int low, int high);
int add(int a, int b);

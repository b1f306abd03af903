const qs = require(process.cwd());
const got = qs.parse('a[__proto__]=x&a[__proto__]&a[length]=42&b[__proto__][c]=d&b[e]=f', { allowPrototypes: true });
process.exit(JSON.stringify(got) === '{"a":{"length":"42"},"b":{"e":"f"}}' && got.b.c === undefined ? 0 : 1);

/* Volatile words of a text. Every matcher looks at the bytes from one place on and returns how many
 * of them it takes; words are looked at from their first byte only, so that the time is linear. */
#include "gateway/canon.h"

#include <ctype.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

enum {
	HEX_MIN = 16,      /* digits of a hexadecimal word that is an id */
	ADDRESS_MIN = 9,   /* digits behind 0x: more than a 32-bit constant has */
	COMMIT_MIN = 7,    /* digits of a short commit name */
	EPHEMERAL = 32768, /* first port the kernel hands out by itself */
	RANDOM_MIN = 6,    /* letters of mkdtemp(3) */
	WORD_MAX = 64,     /* bytes of an id behind its label */
};

/* The text and where we are. */
struct at {
	const char *s;
	size_t n, i;
};

static int byte(const struct at *a, size_t k)
{
	return a->i + k < a->n ? (unsigned char)a->s[a->i + k] : 0;
}

static bool digit(int c)
{
	return c >= '0' && c <= '9';
}

static bool upper(int c)
{
	return c >= 'A' && c <= 'Z';
}

static bool alnum(int c)
{
	return digit(c) || upper(c) || (c >= 'a' && c <= 'z');
}

static bool hex(int c)
{
	return digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static size_t run(const struct at *a, size_t k, bool (*is)(int c))
{
	size_t n = 0;

	while (is(byte(a, k + n)))
		n++;
	return n;
}

/* Do bytes from @k on follow @form? 9 is a digit, h a hexadecimal one, the rest themselves. */
static bool form(const struct at *a, size_t k, const char *f)
{
	for (; *f; f++, k++) {
		int c = byte(a, k);

		if (*f == '9' ? !digit(c) : *f == 'h' ? !hex(c) : c != *f)
			return false;
	}
	return true;
}

/* Does @text stand at @k? */
static bool text_at(const struct at *a, size_t k, const char *text)
{
	size_t n = strlen(text);

	return a->n - a->i >= k && a->n - a->i - k >= n && memcmp(a->s + a->i + k, text, n) == 0;
}

/* Fraction ".123" at @k: its length. */
static size_t fraction(const struct at *a, size_t k)
{
	size_t n = byte(a, k) == '.' ? run(a, k + 1, digit) : 0;

	return n ? n + 1 : 0;
}

/* "13:11:22.5", "13:11:22", "10:09" (only with @minutes) at @k, and " AM", "Z", "+01:00" behind. */
static size_t clock_at(const struct at *a, size_t k, bool minutes)
{
	size_t from = k, d = run(a, k, digit);
	bool half, seconds;

	if (d < 1 || d > 2 || !form(a, k + d, ":99"))
		return 0;
	k += d + 3;
	seconds = form(a, k, ":99");
	if (seconds)
		k += 3 + fraction(a, k + 3);
	half = (text_at(a, k, " AM") || text_at(a, k, " PM")) && !alnum(byte(a, k + 3));
	if (half)
		k += 3;
	if (byte(a, k) == 'Z')
		k++;
	else if ((byte(a, k) == '+' || byte(a, k) == '-') && form(a, k + 1, "99:99"))
		k += 6;
	else if ((byte(a, k) == '+' || byte(a, k) == '-') && form(a, k + 1, "9999"))
		k += 5;
	return (seconds || half || minutes) && !digit(byte(a, k)) ? k - from : 0;
}

static size_t iso_date(const struct at *a)
{
	size_t k = 10, t;

	if (!form(a, 0, "9999-99-99") || digit(byte(a, 10)))
		return 0;
	if (byte(a, k) == 'T' || byte(a, k) == ' ') {
		t = clock_at(a, k + 1, true);
		k += t ? t + 1 : 0;
	}
	return k;
}

static size_t slash_date(const struct at *a)
{
	size_t m = run(a, 0, digit), d = m <= 2 && byte(a, m) == '/' ? run(a, m + 1, digit) : 0;

	if (m < 1 || d < 1 || d > 2 || !form(a, m + 1 + d, "/9999") || digit(byte(a, m + d + 6)))
		return 0;
	return m + d + 6;
}

/* Length of one of @names at @k, whole word; the first three letters are a name too. */
static size_t name_at(const struct at *a, size_t k, const char *const *names)
{
	size_t n = 0;

	if (!upper(byte(a, k)))
		return 0;
	while (n < 12 && isalpha(byte(a, k + n)))
		n++;
	for (; *names; names++) {
		size_t len = strlen(*names);

		if ((n == len || n == 3) && strncmp(a->s + a->i + k, *names, n) == 0)
			return n;
	}
	return 0;
}

static size_t skip(const struct at *a, size_t k, const char *set)
{
	size_t n = 0;

	/* one comma and one or two blanks stand between the parts of a date */
	while (n < 3 && byte(a, k + n) && strchr(set, byte(a, k + n)))
		n++;
	return n;
}

/* What may follow day and month: a year, a time, a time, zone and year. */
static size_t year_or_clock(const struct at *a, size_t k)
{
	size_t from = k, t, year;

	k += skip(a, k, ", ");
	t = k > from ? clock_at(a, k, true) : 0;
	if (t) {
		size_t z;

		k += t;
		z = byte(a, k) == ' ' ? 1 + run(a, k + 1, upper) : 0;
		z = z > 1 && z <= 6 ? z : 0;
		year = byte(a, k + z) == ' ' && form(a, k + z + 1, "9999") &&
				       !alnum(byte(a, k + z + 5))
			       ? z + 5
			       : 0;
		return k + year - from;
	}
	if (k == from || !form(a, k, "9999") || alnum(byte(a, k + 4)))
		return 0;
	k += 4;
	t = byte(a, k) == ' ' || byte(a, k) == ',' ? clock_at(a, k + skip(a, k, ", "), true) : 0;
	return k + (t ? skip(a, k, ", ") + t : 0) - from;
}

static const char *const months[] = { "January",  "February", "March",  "April",     "May",
				      "June",     "July",     "August", "September", "October",
				      "November", "December", NULL };
static const char *const days[] = { "Monday", "Tuesday",  "Wednesday", "Thursday",
				    "Friday", "Saturday", "Sunday",    NULL };

/* "Monday, November 30, 2026", "Mon Nov 30 13:11:22 UTC 2026", "Nov 30 13:11", "November 30 2026",
 * "Tue, 30 Nov 2026 13:11:22". */
static size_t long_date(const struct at *a)
{
	size_t k = name_at(a, 0, days), m, d, rest;

	k += k ? skip(a, k, ", ") : 0;
	if (digit(byte(a, k))) {
		d = run(a, k, digit);
		m = d <= 2 && byte(a, k + d) == ' ' ? name_at(a, k + d + 1, months) : 0;
		rest = m ? year_or_clock(a, k + d + 1 + m) : 0;
		return rest ? k + d + 1 + m + rest : 0;
	}
	m = name_at(a, k, months);
	if (!m)
		return 0;
	k += m;
	k += skip(a, k, " ");
	d = run(a, k, digit);
	rest = d >= 1 && d <= 2 ? year_or_clock(a, k + d) : 0;
	return rest ? k + d + rest : 0;
}

static size_t clock_word(const struct at *a)
{
	return clock_at(a, 0, false);
}

/* Seconds or milliseconds since 1970, 2001 to 2033. */
static size_t epoch(const struct at *a)
{
	size_t n = run(a, 0, digit);

	if ((n != 10 && n != 13) || byte(a, 0) != '1' || alnum(byte(a, n)))
		return 0;
	return n + fraction(a, n);
}

/* "0.05s", "1.2 seconds", "12ms": the number only. A whole number of seconds is a setting. */
static size_t duration(const struct at *a)
{
	static const char *const units[] = { "s",   "ms",   "us",     "\xc2\xb5s", "ns",
					     "sec", "secs", "second", "seconds" };
	size_t whole = run(a, 0, digit), f = fraction(a, whole), k = whole + f;

	if (!whole)
		return 0;
	k += f && byte(a, k) == ' ';
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if ((f || str_eq(units[i], "ms")) && text_at(a, k, units[i]) &&
		    !alnum(byte(a, k + strlen(units[i]))))
			return whole + f;
	return 0;
}

static size_t uuid(const struct at *a)
{
	if (!form(a, 0, "hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh") || alnum(byte(a, 36)))
		return 0;
	return 36;
}

/* Hexadecimal words. What stands behind a decimal point is a number. */
static size_t hex_word(const struct at *a)
{
	size_t n = run(a, 0, hex), digits = 0;
	int before = a->i ? (unsigned char)a->s[a->i - 1] : 0;

	if (byte(a, 0) == '0' && byte(a, 1) == 'x') {
		n = run(a, 2, hex);
		return n >= ADDRESS_MIN && !alnum(byte(a, n + 2)) ? n + 2 : 0;
	}
	for (size_t k = 0; k < n; k++)
		digits += digit(byte(a, k));
	if (alnum(byte(a, n)) || !digits || digits == n || before == '.')
		return 0;
	if (n >= HEX_MIN)
		return n;
	return n >= COMMIT_MIN && before == ' ' && byte(a, n) == ']' ? n : 0;
}

/* Ports behind our own addresses. */
static size_t port(const struct at *a)
{
	static const char *const hosts[] = { "127.0.0.1:", "localhost:", "[::1]:" };
	size_t n = run(a, 0, digit);
	unsigned long v = 0;

	if (n != 5)
		return 0;
	for (size_t k = 0; k < n; k++)
		v = v * 10 + (unsigned long)(byte(a, k) - '0');
	for (size_t i = 0; i < ARRAY_SIZE(hosts); i++) {
		size_t len = strlen(hosts[i]);

		if (a->i >= len && memcmp(a->s + a->i - len, hosts[i], len) == 0)
			return v >= EPHEMERAL && v < 65536 ? n : 0;
	}
	return 0;
}

/* Words that stand behind a label. */
static const struct label {
	const char *text;
	bool numeric; /* what follows must be a number */
	const char *word;
} labels[] = {
	/* clang-format off */
	{ "Chunk ID: ",   false, "<id>" },
	{ "session ID ",  true,  "<id>" },
	{ "Wall time: ",  true,  "<n>" },
	{ "duration_ms ", true,  "<n>" },
	{ "PID ",         true,  "<id>" },
	{ "PID: ",        true,  "<id>" },
	{ "pid ",         true,  "<id>" },
	{ "pid: ",        true,  "<id>" },
	{ "pid=",         true,  "<id>" },
	/* clang-format on */
};

/* The label at @a whose word is *n bytes long, NULL. */
static const struct label *label_at(const struct at *a, size_t *n)
{
	if (!strchr("CsWdPp", byte(a, 0)))
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(labels); i++) {
		const struct label *l = &labels[i];
		size_t k = strlen(l->text);

		if (!text_at(a, 0, l->text))
			continue;
		*n = run(a, k, l->numeric ? digit : alnum);
		if (!*n || *n > WORD_MAX)
			continue;
		*n += l->numeric ? fraction(a, k + *n) : 0;
		return l;
	}
	return NULL;
}

static bool in_name(int c)
{
	return alnum(c) || c >= 0x80 || (c && strchr("_-.+@%/", c));
}

/* Does a part of a name look drawn by lot: a digit among letters, or letters of both cases? */
static bool random_part(const struct at *a, size_t k, size_t n)
{
	size_t digits = 0, large = 0, small = 0;

	for (size_t i = 0; i < n; i++) {
		int c = byte(a, k + i);

		digits += digit(c);
		large += upper(c);
		small += islower(c) != 0;
	}
	/* python's tempfile draws eight small letters and digits behind "tmp" */
	if (n == 11 && text_at(a, k, "tmp"))
		return true;
	/* mktemp(1) draws ten behind "tmp." */
	if (n == 10 && text_at(a, k - strlen("tmp."), "tmp."))
		return true;
	return n >= RANDOM_MIN && ((digits && digits < n) || (large > 1 && small));
}

/* Length of the directory of temporary files that begins at @a, 0. */
static size_t temp_dir(const struct at *a)
{
	static const char *const dirs[] = { "/tmp/", "/var/tmp/", "/dev/shm/" };

	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++)
		if (text_at(a, 0, dirs[i]))
			return strlen(dirs[i]);
	return 0;
}

/* A path below a directory of @k bytes, copied with its volatile parts replaced. */
static size_t temp_path(const struct at *a, size_t k, struct buf *out)
{
	size_t n;

	buf_add(out, a->s + a->i, k);
	for (; in_name(byte(a, k)); k += n) {
		n = run(a, k, alnum);
		if (!n) {
			n = 1;
			buf_addc(out, a->s[a->i + k]);
		} else if (run(a, k, digit) == n) {
			buf_adds(out, "<n>");
		} else if (random_part(a, k, n)) {
			buf_adds(out, "<x>");
		} else {
			buf_add(out, a->s + a->i + k, n);
		}
	}
	return k;
}

/* clang-format off */
/* In this order: the longer form first. */
static const struct {
	size_t (*match)(const struct at *a);
	const char *word;
	bool digit, letter; /* what it can begin with */
} matchers[] = {
	{ uuid,       "<uuid>", true,  true },
	{ iso_date,   "<date>", true,  false },
	{ slash_date, "<date>", true,  false },
	{ long_date,  "<date>", true,  true },
	{ clock_word, "<time>", true,  false },
	{ port,       "<port>", true,  false },
	{ epoch,      "<time>", true,  false },
	{ duration,   "<n>",    true,  false },
	{ hex_word,   "<hex>",  true,  true },
};
/* clang-format on */

/* A word at @a: how much of it is replaced, by *word. */
static size_t match(const struct at *a, const char **word)
{
	bool number = digit(byte(a, 0));

	/* small letters behind f begin nothing but labels: most words of a text */
	if (byte(a, 0) > 'f')
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(matchers); i++) {
		size_t n;

		if (number ? !matchers[i].digit : !matchers[i].letter)
			continue;
		n = matchers[i].match(a);
		*word = matchers[i].word;
		if (n)
			return n;
	}
	return 0;
}

/* What is replaced at @a is written to @out, @plain bytes in front of it first; returns how many
 * bytes were taken, 0 when nothing is replaced here. */
static size_t replace(const struct at *a, size_t plain, struct buf *out)
{
	const char *before = a->s + a->i - plain, *word = NULL;
	size_t n = 0, k = byte(a, 0) == '/' ? temp_dir(a) : 0;
	const struct label *l;

	if (k) {
		buf_add(out, before, plain);
		return temp_path(a, k, out);
	}
	if (!alnum(byte(a, 0)))
		return 0;
	l = label_at(a, &n);
	if (l) {
		k = strlen(l->text);
		buf_add(out, before, plain + k);
		buf_adds(out, l->word);
		return k + n;
	}
	n = match(a, &word);
	if (n) {
		buf_add(out, before, plain);
		buf_adds(out, word);
	}
	return n;
}

void canon_text(const char *s, size_t n, struct buf *out)
{
	struct at a = { s, n, 0 };
	size_t plain = 0; /* bytes before a.i that are not written yet */

	while (a.i < n) {
		size_t took = replace(&a, plain, out);

		if (took) {
			plain = 0;
		} else {
			took = run(&a, 0, alnum);
			took = took ? took : 1;
			plain += took;
		}
		a.i += took;
	}
	buf_add(out, s + n - plain, plain);
}

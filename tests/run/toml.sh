#!/usr/bin/env bash
# The TOML reader beside Python's: documents put together at random (from a fixed start) and spoiled a little must
# be read as the same values, or refused by both. Three differences are known and left out: U+0000, which our
# strings cannot hold; second 60, which RFC 3339 allows; a byte order mark.
# shellcheck source=tests/run/lib/run.sh
. "$(dirname "$0")/lib/run.sh"
tomltag=${PROCTOR%/supervisor/proctor}/tests/progs/tomltag

compare=tap_try
if ! python3 -c 'import tomllib' 2>/dev/null; then
	tap_skip "against tomllib" "tomllib: this Python has none (3.11 has)"
	compare=:
fi

$compare "1,500 documents read as tomllib reads them" python3 - "$tomltag" "$top/tests/corpus/toml" <<'PYTHON'
import datetime, glob, json, math, random, re, subprocess, sys, tomllib

program, corpus = sys.argv[1:]
rnd = random.Random(20260103)

def unescaped(s):
    return re.sub(r"\\\\|\\x([0-9a-f]{2})", lambda m: "\\" if m[0] == "\\\\" else chr(int(m[1], 16)), s)

def moment(text):
    # Python keeps six digits of a fraction.
    text = re.sub(r"(\.\d{6})\d+", r"\1", text)
    m = re.fullmatch(r"(?:(\d{4}-\d\d-\d\d)T?)?(?:(\d\d:\d\d:\d\d)(\.\d+)?)?(Z|[+-]\d\d:\d\d)?", text)
    date, time, fraction, zone = m.groups()
    fraction = (fraction or "").rstrip("0").rstrip(".")
    return (date, time, fraction, "+00:00" if zone in ("Z", "-00:00") else zone)

def ours(v):
    if isinstance(v, list):
        return [ours(e) for e in v]
    if set(v) == {"type", "value"} and isinstance(v["type"], str):
        t, s = v["type"], unescaped(v["value"])
        if t == "integer":
            return ("integer", int(s))
        if t == "float":
            return ("float", "nan" if math.isnan(float(s)) else float(s))
        return (t, moment(s)) if "date" in t or "time" in t else (t, s)
    return {unescaped(k): ours(e) for k, e in v.items()}

def theirs(v):
    if isinstance(v, dict):
        return {k: theirs(e) for k, e in v.items()}
    if isinstance(v, list):
        return [theirs(e) for e in v]
    if isinstance(v, bool):
        return ("bool", "true" if v else "false")
    if isinstance(v, int):
        return ("integer", v)
    if isinstance(v, float):
        return ("float", "nan" if math.isnan(v) else v)
    if isinstance(v, str):
        return ("string", v)
    if isinstance(v, datetime.datetime):
        return ("offset-date-time" if v.tzinfo else "local-date-time", moment(v.isoformat()))
    return ("local-date" if isinstance(v, datetime.date) else "local-time", moment(v.isoformat()))

keys = ["a", "b", "c", "a-b", '"q d"', "'l'", '"\\u00e9"', "1", "a.b", "b . c", "x.'y'.z"]
scalars = ["1", "-17", "+0", "1_000", "0xFf", "0o17", "0b1_0", "1.5", "-2e-3", "6.0E+2", "inf", "-nan", "true",
           "false", '"s"', "'l\\'", '"\\t\\"\\\\\\u00e9\\U0001F600"', '"""m\nl \\\n  x"""', "'''a\n'b'''",
           '"""q"""""', "1979-05-27", "07:32:00", "07:32:00.1234567", "1979-05-27T07:32:00Z",
           "1979-05-27 07:32:00-07:30", "9223372036854775807", "-9223372036854775808", '"é☃"',
           # and some that are none
           "01", "1_", ".5", "1.", "yes", "2023-02-29", '"\\x"', "0x", "+0x1", "1979-05-27T", "24:00:00",
           "9223372036854775808", '"\n"', "", "1e", "truee", "--1", "'a"]

def value(depth):
    r = rnd.random()
    if depth < 3 and r < 0.12:
        gap = rnd.choice(["", " ", "\n", " # c\n"])
        return "[" + gap + ("," + gap).join(value(depth + 1) for _ in range(rnd.randrange(4))) + gap + "]"
    if depth < 3 and r < 0.22:
        return "{ " + ", ".join(f"{rnd.choice(keys)} = {value(depth + 1)}" for _ in range(rnd.randrange(3))) + " }"
    good = rnd.random() < 0.985
    return rnd.choice(scalars[:28] if good else scalars[28:])

def document():
    lines = []
    for _ in range(rnd.randrange(1, 9)):
        r = rnd.random()
        key = rnd.choice(keys)
        if r < 0.2:
            lines.append(f"[{key}]")
        elif r < 0.35:
            lines.append(f"[[{key}]]")
        elif r < 0.42:
            lines.append("# comment é")
        else:
            lines.append(f"{key} = {value(0)}" + rnd.choice(["", " # end", "\t"]))
    text = rnd.choice(["\n", "\r\n"]).join(lines) + rnd.choice(["", "\n"])
    if rnd.random() < 0.2 and text:
        at = rnd.randrange(len(text))
        text = text[:at] + rnd.choice(["", '"', "=", "]", "\r", "\x01", ".", " ", "\n"]) + text[at + rnd.randrange(2):]
    return text

texts = [document() for _ in range(1500)] + [open(f, newline="").read() for f in sorted(glob.glob(corpus + "/*"))]
read = bad = 0
for text in texts:
    try:
        want = theirs(tomllib.loads(text))
    except (tomllib.TOMLDecodeError, ValueError):
        want = None
    # tomllib takes whole numbers of any size; TOML's have 64 bits.
    big = lambda v: any(map(big, v.values() if isinstance(v, dict) else v)) if isinstance(v, (dict, list)) else \
        v[0] == "integer" and not -2**63 <= v[1] < 2**63
    if want is not None and big(want):
        want = None
    p = subprocess.run([program], input=text.encode(), capture_output=True)
    got = ours(json.loads(p.stdout)) if p.returncode == 0 else None
    read += want is not None
    if got != want and not (want is None and ":60" in text):
        bad += 1
        print(repr(text), "\n  got", got, p.stderr.decode().strip(), "\n  want", want)
print(f"{read} of {len(texts)} can be read, {bad} differ")
sys.exit(bad > 0 or read < 300)
PYTHON
tap_done

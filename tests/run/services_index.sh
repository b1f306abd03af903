#!/usr/bin/env bash
# A package index as a side service: real pip and npm in the box get what it has, effects publish, replace, yank and remove
# while they work, and the record says which bytes were given out.
# shellcheck source=tests/run/lib/run.sh
. "$(dirname "$0")/lib/run.sh"
mkdir -p task/repo task/slug-1/slugger task/slug-2/src/slugger task/pad-1
cat >task/task.json <<'END'
{ "schema": "proctor.task/1", "instance_id": "ix-1", "problem_statement": "x", "source": "repo",
  "test": { "command": "true", "reader": "exit", "timeout": "1m" }, "FAIL_TO_PASS": ["exit"], "PASS_TO_PASS": [] }
END
printf 'def slug(s):\n    return s.lower()\n' >task/slug-1/slugger/__init__.py
printf '[console_scripts]\nslug = slugger:slug\n' >task/slug-1/entry_points.txt
printf 'def slug(s):\n    return s.lower().replace(" ", "-")\n' >task/slug-2/src/slugger/__init__.py
printf '[build-system]\nrequires = []\n' >task/slug-2/pyproject.toml
printf 'module.exports = (s, n) => s.padStart(n);\n' >task/pad-1/index.js
printf '{"name": "other", "version": "9.9.9", "main": "index.js", "license": "MIT"}\n' >task/pad-1/package.json
printf 'not a wheel, but bytes: \000\001\377' >task/ready-3.0-py3-none-any.whl
cat >task/index.json <<'END'
{ "schema": "proctor.scenario/1", "id": "ix", "family": "F07",
  "services": [
    { "name": "pypi", "kind": "index", "port": 8082, "packages": [
      { "name": "Slug.Ger", "version": "1.0.0", "from": "slug-1", "forms": ["wheel", "sdist"], "requires": ["helper>=0.1"] },
      { "name": "Slug.Ger", "version": "2.0.0", "from": "slug-2", "requires": ["helper"], "unpublished": true },
      { "name": "Slug.Ger", "version": "1.0.0", "variant": "other", "files": { "slugger/__init__.py": "BAD = 1\n" }, "unpublished": true },
      { "name": "helper", "version": "0.2", "files": { "helper.py": "X = 2\n" }, "python": ">=3.6" },
      { "name": "helper", "version": "0.3", "files": { "helper.py": "X = 3\n" }, "python": ">=3.6" },
      { "name": "ready", "version": "3.0", "file": "ready-3.0-py3-none-any.whl" },
      { "name": "pad-it", "version": "1.0.0", "ecosystem": "npm", "from": "pad-1" },
      { "name": "pad-it", "version": "1.1.0", "ecosystem": "npm", "files": { "index.js": "module.exports = () => '1.1';\n" }, "unpublished": true },
      { "name": "@team/top", "version": "2.0.0", "ecosystem": "npm", "files": { "index.js": "module.exports = require('pad-it');\n" }, "requires": ["pad-it@^1.0.0"] } ] } ],
  "interventions": [
    { "order": 1, "when": { "event": "command_count", "n": 2 }, "effects": [
      { "service": { "name": "pypi", "publish": { "package": "slug_ger", "version": "2.0.0" } } },
      { "service": { "name": "pypi", "replace": { "package": "slug-ger", "version": "1.0.0", "variant": "other" } } },
      { "service": { "name": "pypi", "yank": { "package": "helper", "version": "0.3", "reason": "broken" } } },
      { "service": { "name": "pypi", "remove": { "package": "ready" } } },
      { "service": { "name": "pypi", "publish": { "package": "pad-it", "version": "1.1.0" } } },
      { "service": { "name": "pypi", "publish": { "package": "pad-it", "version": "7.7.7" } } } ] } ] }
END
cat >task/repo/look.sh <<'END'
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1 PIP_INDEX_URL=http://127.0.0.1:8082/simple NO_COLOR=1
pip() { /usr/bin/python3 -m pip "$@"; }
say() { printf '%s %s\n' "$round" "$*"; }
got() { say "$1" "$(PYTHONPATH=$2 /usr/bin/python3 -c "$3" 2>&1 | tail -n 1)"; }
round=$1
pip install -q --no-cache-dir --target "lib$round" slug-ger || say install failed
got slug "lib$round" 'import slugger; print(slugger.slug("A B"))'
got helper "lib$round" 'import helper; print(helper.X)'
pip install -q --no-cache-dir --no-deps --target "old$round" slug-ger==1.0.0 || say pinned failed
got pinned "old$round" 'import slugger; print(sorted(n for n in dir(slugger) if n[0] != "_"))'
say ready "$(/usr/bin/python3 -c '
import urllib.error, urllib.request
try:
    page = urllib.request.urlopen("http://127.0.0.1:8082/files/ready/ready-3.0-py3-none-any.whl").read()
    print(page == open("ready.whl", "rb").read())
except urllib.error.HTTPError as e:
    print(e.code)')"
say sdist "$(/usr/bin/python3 -c '
import re, tarfile, urllib.request, io
page = urllib.request.urlopen("http://127.0.0.1:8082/simple/slug-ger/").read().decode()
m = re.search(r"href=\"(/files/[^\"#]+\.tar\.gz)", page)
print(m and sorted(tarfile.open(fileobj=io.BytesIO(urllib.request.urlopen("http://127.0.0.1:8082" + m[1]).read())).getnames()))')"
if [ -x /usr/bin/npm ]; then
	mkdir "npm$round" && cd "npm$round" && echo '{"private": true}' >package.json || exit 1
	/usr/bin/npm install --silent --no-audit --no-fund --cache "$PWD/cache" --registry http://127.0.0.1:8082/npm/ @team/top >npm.txt 2>&1 || sed 's/^/npm /' npm.txt
	say npm "$(node -e 'const p = require("@team/top"); console.log(JSON.stringify(p("a", 3)), require("pad-it/package.json").version)' 2>&1 | tail -n 1)"
fi
END
cp task/ready-3.0-py3-none-any.whl task/repo/ready.whl
has()
{
	tap_ok "$(grep -qxF -- "$1" out.txt; echo $?)" "the agent gets: $1" || sed 's/^/# /' out.txt err.txt
}
if ! /usr/bin/python3 -m pip --version >/dev/null 2>&1; then
	tap_ok 1 "python3-pip is installed"
	tap_done
fi
for again in run same; do
	proctor run -q --no-tty --task task/task.json --scenario task/index.json --out $again \
		-- sh -c 'sh look.sh 1; /bin/true; sh look.sh 2' </dev/null >out.txt 2>err.txt
	tap_is $? 0 "the run is made ($again)" || sed 's/^/# /' err.txt
done
has '1 slug a b'
has '1 helper 3'
has "1 pinned ['slug']"
has "1 ready True"
has "1 sdist ['slug_ger-1.0.0/PKG-INFO', 'slug_ger-1.0.0/entry_points.txt', 'slug_ger-1.0.0/slugger/__init__.py']"
has '2 slug a-b'
has '2 helper 2'
has "2 pinned ['BAD']"
has "2 ready 404"
has "2 sdist None"
if [ -x /usr/bin/npm ]; then
	has '1 npm "  a" 1.0.0'
	has '2 npm "1.1" 1.1.0'
else
	tap_skip "npm in the box" "node: npm is not installed in /usr/bin"
fi
given()
{
	grep '"k":"service"' "$1/trace.jsonl" | grep -o '"what":"[^"]* sha256:[0-9a-f]*"' | sort -u
}
tap_is "$(given run | grep -c 'Slug.Ger 1.0.0')" 3 "three files stood under one version: two forms, and other bytes"
given run >a.txt
given same >b.txt
tap_ok "$(cmp a.txt b.txt >/dev/null; echo $?)" "another run gives out the same bytes"
tap_is "$(run_count run service service=pypi event=change)" 5 "every change is recorded"
tap_like "$(cat run/interventions.jsonl)" 'no package ..pad-it.. with version ..7.7.7' "a change that cannot be made says why"
tap_is "$(run_field run/run.json services.0.state.version)" 6 "the state counts the changes"
tap_like "$(run_field run/run.json services.0.state.published)" 'helper 0.3 .yanked' "its state at the end"
tap_is "$(run_count run service service=pypi "route=/simple/{package}" version=1 code=200 what=helper)" 1 "the record has the state that was seen"

# bad PACKAGES REGEX
bad()
{
	printf '{ "schema": "proctor.scenario/1", "id": "bad", "mode": "vanilla", "services": [ { "name": "i", "kind": "index", "port": 8080, "packages": [ %s ] } ] }' "$1" >task/bad.json
	proctor run -q --no-tty --task task/task.json --scenario task/bad.json --out bad -- true </dev/null >/dev/null 2>err.txt
	tap_is $? 3 "refused: $1"
	tap_like "$(cat err.txt)" "$2" "refused: says why"
	rm -rf bad
}
bad '{"name": "x", "version": "1", "from": "nowhere"}' 'cannot list .*nowhere'
bad '{"name": "x", "version": "1", "file": "nowhere.whl"}' 'cannot read .*nowhere.whl'
bad '{"name": "x", "version": "1", "files": {"../x": ""}}' 'relative path'
bad '{"name": "x", "version": "1", "files": {"a": ""}, "forms": ["weel"]}' 'did you mean "wheel"'
bad '{"name": "x", "version": "1", "files": {"a": ""}}, {"name": "X", "version": "1", "files": {"a": "b"}}' 'is there twice'
bad '{"name": "x", "version": "1", "ecosystem": "npm", "files": {"package.json": "[]"}}' 'package.json is no JSON object'
tap_done

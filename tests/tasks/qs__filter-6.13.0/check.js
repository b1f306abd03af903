// "fix": put our change in, once. Otherwise: do the three reports still hold?
const cp = require('child_process');
const path = require('path');
if (process.argv[2] === 'fix') {
	const diff = path.join(process.env.HOME, 'fix.diff');
	const done = cp.spawnSync('patch', ['-p1', '-R', '-s', '-f', '--dry-run', '-i', diff], { stdio: 'ignore' });
	if (done.status === 0) process.exit(0);
	process.exit(cp.spawnSync('patch', ['-p1', '-N', '-s', '-i', diff], { stdio: 'inherit' }).status);
}
const qs = require(process.cwd());
const utils = require(process.cwd() + '/lib/utils');
const own = Object.assign(function () {}, { bar: 'baz' });
try {
	const text = qs.stringify({ a: 'b', 'false': {} }, { filter: ['a', false, null], allowDots: true, encodeDotInKeys: true });
	const parsed = qs.parse('a[]=1,%26%239786%3B', { comma: true, charset: 'iso-8859-1', interpretNumericEntities: true });
	const merged = utils.merge({ foo: 'bar' }, own);
	process.exit(text === 'a=b' && parsed.a.length === 1 && merged.bar === 'baz' ? 0 : 1);
} catch (e) {
	process.exit(1);
}

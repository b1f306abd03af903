/* The witness for node --test. The parent process runs no code under test: it starts one process for each
 * file and puts their reports together, and what it emits is taken here. In the test processes a
 * canary is registered in front of the file's tests, as "todo": its failure counts nowhere. */
'use strict';

const MARK = 'a failing test of the grader ';

function status(type, data) {
	const has = (v) => v !== undefined && v !== false;
	if (has(data.skip))
		return 'skipped';
	if (has(data.todo))
		return type === 'test:pass' ? 'xpass' : 'xfail';
	return type === 'test:pass' ? 'passed' : 'failed';
}

exports.parent = (state) => {
	const { EventEmitter } = require('events');
	const { emit } = EventEmitter.prototype;
	const many = process.execArgv.includes('--test') && !process.execArgv.some((a) => /isolation=none/.test(a));
	const names = []; // of the open parents, by nesting
	const files = new Map(); // file that was given to a process -> was the canary there, or did it fail as a whole?
	let hello = false;
	let ended = false;
	let tests = 0;
	let bad = 0;
	let word = '';

	function begin() {
		hello = true;
		state.say('hello', 'node', process.version);
		state.atEnd((code) => {
			if (ended)
				return;
			ended = true;
			if (many) {
				for (const [file, seen] of files)
					if (!seen)
						state.say('canary', file, 'failed', 'missing');
			}
			state.say('end', tests, bad, code);
		});
	}

	function take(type, data) {
		if (typeof data?.name !== 'string' || !Number.isInteger(data.nesting) || data.nesting > 64)
			return;
		if (type === 'test:start') {
			names.length = Math.min(names.length, data.nesting);
			names[data.nesting] = data.name;
			return;
		}
		if (type === 'test:dequeue' && many && data.nesting === 0 && data.name === data.file)
			files.set(data.file, false);
		if (type !== 'test:pass' && type !== 'test:fail')
			return;
		if (!hello)
			begin();
		const s = status(type, data);
		if (word && data.name.startsWith(MARK)) {
			files.set(data.name.slice(MARK.length + word.length + 1), true);
			const failed = type === 'test:fail';
			state.say('canary', data.name, 'failed', failed ? 'failed' : s);
			return;
		}
		if (s === 'failed' && data.name === data.file)
			files.set(data.file, true);
		tests++;
		if (s === 'failed')
			bad++;
		const path = [...names.slice(0, data.nesting), data.name].map((n) => n.replace(/\n/g, '\\n'));
		state.say('test', s, path.join(' > '));
	}

	EventEmitter.prototype.emit = function (type, data) {
		if (typeof type === 'string' && type.startsWith('test:') && this.constructor?.name === 'TestsStream' && !ended)
			take(type, data);
		return Reflect.apply(emit, this, arguments);
	};
	if (!many) {
		// "node FILE" with tests in it. What is imported as an ES module shows by its first event.
		const Module = require('module');
		const { _load } = Module;
		Module._load = function (request, ...rest) {
			if ((request === 'node:test' || request === 'test') && !hello)
				begin();
			return Reflect.apply(_load, this, [request, ...rest]);
		};
		return;
	}
	word = require('crypto').randomBytes(8).toString('hex');
	state.carried = false;
	process.env.GRADE_CHANNEL = `child:${word}:node`;
	const theirs = process.env.NODE_OPTIONS;
	process.env.NODE_OPTIONS = `--require=${require.resolve('./start.cjs')}${theirs ? ' ' + theirs : ''}`;
	begin();
};

exports.child = (state) => {
	const assert = require('assert');
	if (!process.env.NODE_TEST_CONTEXT)
		return;
	require('node:test').test(`${MARK}${state.nonce} ${process.argv[1]}`, { todo: true }, () => {
		assert.strictEqual(1, 2);
	});
};

/* The witness for mocha: the events of its runner, as the runner emits them. When all tests have run, tests
 * of our own are run by mocha's own Runnable, out of its counts: they must fail. */
'use strict';

const RUNNERS = new Set(['Runner', 'ParallelBufferedRunner']);

function names(test) {
	const full = test.fullTitle();
	const names = [full, 'tap=' + full.replace(/#/g, '')];
	// Of a title with newlines the log shows the first line.
	if (full.includes('\n'))
		names.push('mocha=' + full, 'mocha=' + full.split('\n')[0]);
	return names;
}

/* Call @f when mocha's command line is loaded in this process (bin/mocha may start another one for it). */
function whenLoaded(script, f) {
	if (script === '_mocha') {
		f(); // mocha 5 and older
		return;
	}
	const Module = require('module');
	const { _load } = Module;
	Module._load = function (request, ...rest) {
		if (/(^|\/)lib\/cli\/cli(\.js)?$/.test(request)) {
			Module._load = _load;
			f();
		}
		return Reflect.apply(_load, this, [request, ...rest]);
	};
}

module.exports = (state, script) => {
	const { EventEmitter } = require('events');
	const { emit } = EventEmitter.prototype;
	let runner = null;
	let tests = 0;
	let bad = 0;
	let ended = false;

	function say(status, test) {
		tests++;
		if (status === 'failed' || status === 'error')
			bad++;
		state.say('test', status, ...names(test));
	}

	function canaries() {
		const assert = require('assert');
		const { randomBytes } = require('crypto');
		const first = (suite) => suite.tests[0] || suite.suites.map(first).find(Boolean);
		const model = first(runner.suite);
		if (!model)
			return;
		const bodies = [() => assert.strictEqual(1, 2), () => assert.ok(false), () => { throw new Error('raised'); },
			() => assert.throws(() => {})];
		for (const body of bodies) {
			const test = new model.constructor(randomBytes(8).toString('hex'), body);
			let got = 'missing';
			test.parent = model.parent;
			test.ctx = model.ctx;
			try {
				test.run((err) => { got = err ? 'failed' : 'passed'; });
			} catch {
				got = 'failed';
			}
			state.say('canary', test.title, 'failed', got);
		}
	}

	function end(code) {
		if (ended)
			return;
		ended = true;
		state.say('end', tests, bad, code > 255 ? 255 : code);
	}

	function take(type, test) {
		switch (type) {
		case 'pass':
			say('passed', test);
			break;
		case 'fail':
			say(test.type === 'hook' ? 'error' : 'failed', test);
			break;
		case 'pending':
			say('skipped', test);
			break;
		case 'end':
			try {
				canaries();
			} catch {
				// a mocha of a form that we do not know: then there are none
			}
		}
	}

	function hello() {
		if (state.spoken)
			return;
		state.say('hello', 'mocha', process.version);
		state.atEnd(end);
	}

	// Before any spec is loaded: one that ends the process shows by the missing end. Since mocha 12, whose
	// command line is an ES module, at the event in front of the first spec.
	whenLoaded(script, hello);
	EventEmitter.prototype.emit = function (type, test) {
		if (type === 'pre-require' && this.constructor?.name === 'Suite')
			hello();
		if (RUNNERS.has(this.constructor?.name) && this.suite && typeof type === 'string') {
			// An inner mocha that a test runs is not this run's.
			if (runner === null && type === 'start' && state.spoken)
				runner = this;
			if (this === runner && !ended)
				take(type, test);
		}
		return Reflect.apply(emit, this, arguments);
	};
};

/* The witness for tape: the events of its tests, as they emit them, with ids as the log gives them: "title:
 * description". At the end assertions of our own run on a test that tape's results do not know: they must
 * fail. */
'use strict';

module.exports = (state) => {
	const { EventEmitter } = require('events');
	const { emit } = EventEmitter.prototype;
	const { reallyExit } = process;
	const ours = new WeakSet();
	let model = null;
	let title = '';
	let tests = 0;
	let bad = 0;
	let excused = 0; // "not ok" with SKIP or TODO: a failure to tape 2 and 3, not to later ones
	let ended = false;

	/* As the log has it: one line, "\#" and "\\" undone by whoever reads it. */
	const line = (text) => String(text).replace(/\s+/g, ' ').replace(/\\([#\\])/g, '$1').trim();

	function id(res) {
		const text = line(res.name ?? '');
		if (!text)
			return `test ${tests}`;
		if (/^-( |$)/.test(text))
			return text.slice(1).trim() || `test ${tests}`;
		return title ? `${title}: ${text}` : text;
	}

	function result(res) {
		if (typeof res === 'string') {
			title = line(res);
			return;
		}
		if (res === null || typeof res !== 'object')
			return;
		let status = res.ok ? 'passed' : 'failed';
		if (res.skip)
			status = 'skipped';
		else if (res.todo)
			status = res.ok ? 'xpass' : 'xfail';
		tests++;
		bad += status === 'failed';
		excused += !res.ok && status !== 'failed';
		state.say('test', status, id(res));
	}

	function canaries() {
		const { randomBytes } = require('crypto');
		const Test = model?.constructor;
		if (!Test)
			return;
		const asks = [(t) => t.equal(1, 2), (t) => t.ok(false), (t) => t.deepEqual([1], [2]),
			(t) => t.throws(() => {}), (t) => t.fail('asked')];
		for (const ask of asks) {
			const name = randomBytes(8).toString('hex');
			let got = 'missing';
			try {
				const t = new Test(name, {}, () => {});
				ours.add(t);
				t.on('result', (res) => { got = res.ok ? 'passed' : 'failed'; });
				ask(t);
			} catch {
				got = 'failed';
			}
			state.say('canary', name, 'failed', got);
		}
	}

	function end(code) {
		if (ended)
			return;
		ended = true;
		canaries();
		state.say('end', tests, code > 0 ? bad + excused : bad, code > 255 ? 255 : code);
	}

	state.say('hello', 'tape', process.version);
	state.atEnd(end);
	// tape leaves by process.exit() in a listener of "exit", behind which nothing runs any more.
	process.reallyExit = function (code) {
		end(code ?? 0);
		return Reflect.apply(reallyExit, this, [code]);
	};
	EventEmitter.prototype.emit = function (type, arg) {
		if (!ended && (type === 'prerun' || type === 'result') && this.constructor?.name === 'Test' && !ours.has(this)) {
			model ??= this;
			if (type === 'prerun')
				title = line(this.name);
			else
				result(arg);
		}
		return Reflect.apply(emit, this, arguments);
	};
};

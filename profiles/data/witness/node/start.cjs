/* Start file of the grading box's Node.js (--require in NODE_OPTIONS), run before any other code.
 *
 * Takes the result channel out of the environment; Node itself has made its descriptor close-on-exec.
 * A process whose main script is a test runner gets the witness for it. Any other one (npm, a wrapper)
 * hands the channel on to the processes that it starts, until a witness has spoken. */
'use strict';

const FD = 14;
const state = { say: null, spoken: false, name: null, fd: -1, nonce: null };
module.exports = state;

function take() {
	const fs = require('fs');
	const text = process.env.GRADE_CHANNEL;
	const hook = '--require=' + __filename;
	const options = process.env.NODE_OPTIONS;
	delete process.env.GRADE_CHANNEL;
	if (options !== undefined && options.startsWith(hook)) {
		const rest = options.slice(hook.length).trim();
		if (rest)
			process.env.NODE_OPTIONS = rest;
		else
			delete process.env.NODE_OPTIONS;
	}
	if (!text)
		return false;
	const [number, nonce, name] = text.split(':');
	state.name = name;
	state.nonce = nonce;
	if (number === 'child')
		return true;
	try {
		if (!fs.fstatSync(Number(number)).isSocket())
			return false;
	} catch {
		return false;
	}
	state.fd = Number(number);
	return true;
}

/* say(kind, ...fields): one record (verifier/channel.h). */
function speaker(fd, nonce) {
	const { writeSync } = require('fs');
	const { Buffer } = require('buffer');
	const { from, concat } = Buffer;
	const zero = from([0]);
	const key = require('crypto').randomBytes(16).toString('hex');
	let number = 0;
	return (kind, ...fields) => {
		const parts = [];
		let word = key;
		if (kind === 'hello') {
			number = 0;
			word = nonce;
			fields.push(key);
			state.spoken = true;
		}
		for (const field of [word, number++, kind, ...fields])
			parts.push(from(String(field).replace(/\0/g, '?')).subarray(0, 8192), zero);
		parts.pop();
		const record = concat(parts);
		for (let tries = 0; tries < 100000; tries++) {
			try {
				writeSync(fd, record);
				return;
			} catch (e) {
				if (e.code !== 'EAGAIN')
					return; // the other side finds the end missing
			}
		}
	};
}

/* Processes that this one starts inherit the channel, as those of a shell would. */
function carry() {
	const { ChildProcess } = require('child_process');
	const { spawn } = ChildProcess.prototype;
	ChildProcess.prototype.spawn = function (options) {
		if (state.spoken || !options || state.carried === false)
			return spawn.call(this, options);
		let stdio = options.stdio || 'pipe';
		if (typeof stdio === 'string')
			stdio = [stdio, stdio, stdio];
		if (!Array.isArray(stdio) || stdio.length > FD)
			return spawn.call(this, options);
		stdio = stdio.slice();
		while (stdio.length < FD)
			stdio.push('ignore');
		stdio.push(state.fd);
		const pairs = (options.envPairs || []).filter((p) => !p.startsWith('GRADE_CHANNEL='));
		const old = pairs.findIndex((p) => p.startsWith('NODE_OPTIONS='));
		const theirs = old < 0 ? '' : pairs.splice(old, 1)[0].slice('NODE_OPTIONS='.length);
		pairs.push(`GRADE_CHANNEL=${state.fd}:${state.nonce}:${state.name}`);
		pairs.push(`NODE_OPTIONS=--require=${__filename}${theirs ? ' ' + theirs : ''}`);
		return spawn.call(this, { ...options, stdio, envPairs: pairs });
	};
}

/* Run @f when the process ends, behind every other listener. */
state.atEnd = (f) => {
	const { emit } = process;
	process.emit = function (name, ...args) {
		const ret = Reflect.apply(emit, this, [name, ...args]);
		if (name === 'exit')
			f(process.exitCode ?? args[0] ?? 0);
		return ret;
	};
};

/* The hello of a runner whose tests are told at once at the end, and its end: state.told holds what came. */
state.report = (name) => {
	state.told = { tests: 0, bad: 0 };
	state.say('hello', name, process.version);
	state.atEnd((code) => state.say('end', state.told.tests, state.told.bad, code));
};

state.test = (status, ...names) => {
	state.told.tests++;
	if (status === 'failed' || status === 'error')
		state.told.bad++;
	state.say('test', status, ...names);
};

function start() {
	const threads = require('worker_threads');
	if (!threads.isMainThread || !take())
		return;
	const path = require('path');
	const script = path.basename(process.argv[1] || '');
	if (state.fd < 0) {
		if (state.name === 'node')
			require('./nodetest.cjs').child(state);
		return;
	}
	state.say = speaker(state.fd, state.nonce);
	carry();
	// In these the code under test shares our process: nobody may require our state.
	if (['node', 'mocha', 'tape'].includes(state.name))
		delete require.cache[__filename];
	if (state.name === 'node')
		require('./nodetest.cjs').parent(state);
	else if (state.name === 'mocha')
		require('./mocha.cjs')(state, script);
	else if (state.name === 'tape') {
		if (script === 'tape')
			require('./tape.cjs')(state);
	} else if (state.name === 'jest' && /^jest(\.js)?$/.test(script))
		require('./jest.cjs').begin();
	else if (state.name === 'vitest' && /^vitest(\.mjs|\.js)?$/.test(script)) {
		if (!process.argv.some((a) => a.startsWith('--reporter')))
			process.argv.push('--reporter=default');
		process.argv.push(`--reporter=${__dirname}/vitest.mjs`);
		state.report('vitest');
	}
}

try {
	start();
} catch {
	// a Node.js of a form that we do not know works without us
}

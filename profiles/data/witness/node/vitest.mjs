/* The witness for vitest: a reporter in its main process; the tests run in others. */
import { createRequire } from 'node:module';

const state = createRequire(import.meta.url)('./start.cjs');

const STATUS = { pass: 'passed', fail: 'failed', skip: 'skipped', todo: 'skipped' };

/* Tests of @task, whose titles stand behind @path. Returns whether one of them failed. */
function walk(task, path) {
	if (!task.tasks) {
		const status = STATUS[task.result?.state] || STATUS[task.mode] || 'error';
		state.test(status, [...path, task.name].join(' > '));
		return status === 'failed' || status === 'error';
	}
	let bad = false;
	for (const t of task.tasks)
		bad = walk(t, t.tasks ? [...path, t.name] : path) || bad;
	return bad;
}

export default class {
	onFinished(files = [], errors = []) {
		this.take(files, errors);
	}

	onTestRunEnd(modules, errors = []) {
		this.take(modules.map((m) => m.task), errors);
	}

	take(files, errors) {
		if (this.done)
			return;
		this.done = true;
		state.told.bad += errors.length;
		for (const file of files)
			if (!walk(file, [file.filepath]) && file.result?.state === 'fail')
				state.test('error', file.filepath);
	}
}

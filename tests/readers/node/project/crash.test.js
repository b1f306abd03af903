'use strict';
const { test } = require('node:test');
test('first', () => {});
test('is killed', () => process.kill(process.pid, 'SIGABRT'));
test('never runs', () => { throw new Error('never'); });

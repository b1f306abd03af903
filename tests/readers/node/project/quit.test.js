'use strict';
const { test } = require('node:test');
test('first', () => {});
test('leaves with status 0', () => process.exit(0));
test('never runs', () => { throw new Error('never'); });

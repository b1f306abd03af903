const set = require(process.cwd()).withInheritedProps.set;
let refused = 0;
for (const way of [[['__proto__'], 'seen'], [['constructor'], 'prototype', 'seen']]) {
	try { set({}, way, 1); } catch (e) { refused++; }
}
process.exit(refused === 2 && ({}).seen === undefined ? 0 : 1);

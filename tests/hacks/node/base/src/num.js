"use strict";

function clamp(n, low, high) {
	return n < low ? low : n;
}

function add(a, b) {
	return a + b;
}

module.exports = { clamp, add };

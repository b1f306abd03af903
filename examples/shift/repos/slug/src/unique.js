"use strict";

const { slug } = require("./slug.js");

/* Names for many titles, no two alike. */
function unique(titles) {
	const seen = new Map();
	return titles.map((title) => {
		const name = slug(title);
		const n = (seen.get(name) || 0) + 1;
		seen.set(name, n);
		return n === 1 ? name : `${name}-${n}`;
	});
}

module.exports = { unique };

"use strict";

const { walk } = require("./tree.js");

const STEP = "  ";

/* A text of at most so many characters. */
function cut(text, width) {
	return text.length <= width ? text : `${text.slice(0, Math.max(0, width - 3))}...`;
}

/* The pages down to a depth, one a line. */
function menu(root, { depth: deepest = 2, width = 60 } = {}) {
	const lines = [];

	for (const { page, depth } of walk(root)) {
		if (depth >= deepest)
			continue;
		const head = STEP.repeat(depth);
		lines.push(head + cut(page.title, width - head.length));
	}
	return lines.join("\n");
}

/* Links of the way to a page, from the top. */
function trail(root, path) {
	const parts = path.split("/").slice(1);
	const out = [];
	let at = root;

	for (const part of parts) {
		at = at.pages.find((page) => page.name === part);
		if (!at)
			return null;
		out.push({ title: at.title, path: at.path });
	}
	return out;
}

module.exports = { cut, menu, trail };

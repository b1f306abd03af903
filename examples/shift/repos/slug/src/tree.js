"use strict";

const { unique } = require("./unique.js");

/*
 * Pages in sections. An outline is a list of { title, level }; a page of level n lies in the last page of
 * level n - 1 before it.
 */
function tree(outline) {
	const root = { title: null, name: "", path: "", pages: [] };
	const open = [root];

	for (const { title, level } of outline) {
		if (!Number.isInteger(level) || level < 1 || level > open.length)
			throw new RangeError(`"${title}" has level ${level} behind level ${open.length - 1}`);
		const page = { title, name: null, path: null, pages: [] };
		open.length = level;
		open[level - 1].pages.push(page);
		open.push(page);
	}
	name(root);
	return root;
}

/* Names are unique among the pages of one section. */
function name(section) {
	const names = unique(section.pages.map((page) => page.title));

	section.pages.forEach((page, i) => {
		page.name = names[i];
		page.path = `${section.path}/${names[i]}`;
		name(page);
	});
}

/* Every page, as the outline has them. */
function* walk(section, depth = 0) {
	for (const page of section.pages) {
		yield { page, depth };
		yield* walk(page, depth + 1);
	}
}

module.exports = { tree, walk };

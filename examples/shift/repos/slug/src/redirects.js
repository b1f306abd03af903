"use strict";

/* Where pages went: old path to new path. Chains are followed when one is added, so that one step is enough. */
class Redirects {
	constructor() {
		this.to = new Map();
	}

	/* A page has moved. Moving back ends the redirect. */
	move(from, to) {
		if (from === to)
			throw new Error(`${from} leads to itself`);
		this.to.delete(to);
		for (const [old, now] of this.to) {
			if (now === from)
				this.to.set(old, to);
		}
		this.to.set(from, to);
	}

	/* The path to go to; a path that never moved is itself. */
	find(path) {
		return this.to.get(path) || path;
	}

	/* Lines for the server, sorted. */
	text() {
		return [...this.to].map(([from, to]) => `${from} ${to}`).sort().join("\n");
	}
}

/* Redirects between two trees: pages with the same title whose path is another. */
function moved(before, after, walk) {
	const paths = new Map();
	const redirects = new Redirects();

	for (const { page } of walk(after))
		paths.set(page.title, page.path);
	for (const { page } of walk(before)) {
		const now = paths.get(page.title);
		if (now && now !== page.path)
			redirects.move(page.path, now);
	}
	return redirects;
}

module.exports = { Redirects, moved };

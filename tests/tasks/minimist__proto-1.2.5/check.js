// Does any option still reach a prototype?
const parse = require(process.cwd());
parse(['--_.concat.constructor.prototype.seen', '1', '--_.constructor.constructor.prototype.seen', '1']);
process.exit((function () {}).seen === undefined && ({}).seen === undefined ? 0 : 1);

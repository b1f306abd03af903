const BufferList = require(process.cwd() + '/BufferList.js');
const lengths = [-5, NaN, 1.5].map(function (n) { return new BufferList(Buffer.from('abc')).consume(n).length; });
process.exit(lengths.join() === '3,3,2' ? 0 : 1);

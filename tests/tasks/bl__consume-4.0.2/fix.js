// Whole positive numbers only.
const fs = require('fs');
const file = 'BufferList.js';
const text = fs.readFileSync(file, 'utf8');
const line = 'BufferList.prototype.consume = function consume (bytes) {\n';
const good = line + '  bytes = Math.floor(bytes)\n  if (!(bytes > 0)) return this\n\n';
if (!text.includes(good)) fs.writeFileSync(file, text.replace(line, () => good));

require('./no-such-file');

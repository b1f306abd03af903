const quote = require(process.cwd()).quote;
process.exit(quote(['`:\\a\\b']) === '\\`\\:\\\\a\\\\b' && quote(['[:\\a']) === '\\[\\:\\\\a' ? 0 : 1);

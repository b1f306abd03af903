/* What a user's message must not say. */
#ifndef VERIFIER_WORDING_H
#define VERIFIER_WORDING_H

/* NULL when @text could be a user's words; otherwise what gives away that they are not (static, or part of
 * the rules): names of benchmarks, words about simulation, diffs. See triggers/message.h. */
const char *wording_refused(const char *text);

#endif

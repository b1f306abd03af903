/* Canonical form of a request: what must be the same when a run is repeated. Volatile parts (ids of
 * sessions, installations and messages, cache keys, dates, times, process numbers, temporary names)
 * are replaced by fixed words; what they are stands in rows. */
#ifndef GATEWAY_CANON_H
#define GATEWAY_CANON_H

#include "base/buf.h"
#include "gateway/api.h"

/* Canonical JSON of the request body into @out: keys sorted, no blanks, volatile members dropped
 * (rows in canon.c: metadata, cache keys, ids of messages, sessions and users, times), volatile words
 * in strings replaced as by canon_text(), and tool call ids numbered in the order of their first
 * appearance ("<call 1>"): some clients make them up. Numbers keep their spelling; of duplicate keys
 * the last counts. A request without body gives nothing. 0, or -1 when @out is full. */
int canon_request(const struct api_request *q, struct buf *out);

/* What a request asks, for telling a client's retry from a new question within one run, into @out: keys
 * sorted, no blanks, what says who asks and when dropped (clients put it in another order, or a new id,
 * into a retry); texts and tool call ids as they are. 0, or -1 when @out is full. */
int canon_question(const struct api_request *q, struct buf *out);

/* Volatile words of a text replaced, into @out; time is linear in @n. What is volatile:
 *   2026-11-30, 2026-11-30T10:09:48.123Z, 11/30/2026,
 *   Monday, November 30, 2026, Mon Nov 30 13:11:22 UTC 2026, Nov 30 13:11       <date>
 *   13:11:22, 10:09 AM, ten and thirteen digit epochs                            <time>
 *   0.05s, 1.2 seconds, 12ms, "duration_ms 1.5", "Wall time: 0.0 seconds"         <n>
 *   01a22b99-2801-7a13-9ccf-d601d0a83b35                                        <uuid>
 *   hexadecimal words of 16 digits and more with digits and letters, 0x addresses
 *   of 9 and more, short commit names in "[main 3f2a1bc]"                         <hex>
 *   what follows "Chunk ID: ", "session ID ", "PID ", "pid=" and the like        <id>
 *   127.0.0.1:34567, localhost:34567 (ephemeral ports)                           <port>
 *   below /tmp, /var/tmp and /dev/shm: numbers and random letters in names        <n>, <x>
 * Dates and numbers of the task's own files fall under these forms too: two requests that differ in
 * nothing else count as equal. */
void canon_text(const char *s, size_t n, struct buf *out);

/* First difference of two canonical texts: its JSON path and both values, cut to what a person can
 * read, into @out ("$.messages[3].content: recorded \"..\", now \"..\""). Texts that are no JSON are
 * compared as they are. 1 when they differ, 0 when not. */
int canon_diff(const char *recorded, size_t nr, const char *now, size_t nn, struct buf *out);

/* Does the canonical request @now go on with the conversation of @recorded: are all entries of it there in
 * their order, with whatever follows? Entries of a system or developer, marks for the provider's cache and
 * all that stands beside the conversation do not count; a text and its one part are the same; parts may
 * follow in the last entry. 0 when it does; 1 when not, with the first difference in @out. */
int canon_continues(const char *recorded, size_t nr, const char *now, size_t nn, struct buf *out);

/* First difference of two canonical requests beside what canon_continues() compares: system prompt, tools,
 * settings. 1 when there is one (told in @out), 0 when not. */
int canon_context(const char *recorded, size_t nr, const char *now, size_t nn, struct buf *out);

#endif

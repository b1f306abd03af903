/* What an intervention waits for beside its event: others that must have fired (all_after), and a delay. */
#include "tests/unit/triggers/world.h"

#define SECOND 1000000000ull

static void tick(struct world *w, uint64_t seconds)
{
	struct err err;

	world_log(w, "(%d) ", (int)seconds);
	w->rc = engine_tick(w->e, seconds * SECOND, &err);
}

static void anchor(struct world *w, const char *name)
{
	struct err err;

	w->rc = engine_anchor(w->e, name, &err);
}

/* An intervention that says its number. */
#define SAYS(order, when)                                                                          \
	"{\"order\":" #order ",\"when\":{" when "},\"effects\":[{\"message\":{\"text\":\"m" #order \
	"\"}}]}"

/* Two things that happen in any order, a third that needs both, a fourth that needs the third. */
static void test_graph(bool turned)
{
	struct world w;
	uint32_t cmd = 0;

	world_init(
		&w, "edit+message", 4,
		SAYS(1, "\"event\":\"exec\",\"program\":\"make\"") "," SAYS(2, "\"event\":\"exec\",\"program\":\"git\"") "," SAYS(
			3,
			"\"event\":\"after\",\"all_after\":[1,2]") "," SAYS(4,
									    "\"event\":\"anchor\",\"anchor\":\"start\",\"all_after\":[3]"));
	for (int i = 0; i < 5; i++) {
		const char *const programs[] = { turned ? "git" : "make", "ls",
						 turned ? "make" : "git", "ls", "ls" };

		anchor(&w, "start");
		world_begin(&w, ++cmd, programs[i]);
		world_exec(&w, cmd, programs[i], NULL, NULL);
		world_end(&w, cmd);
	}
	tap_is_str(w.messages, turned ? "m2\nm1\nm3\nm4\n" : "m1\nm2\nm3\nm4\n",
		   turned ? "a graph, the second branch first" : "a graph, the first branch first");
	world_done(&w);
}

static void test_delay(void)
{
	struct world w;

	world_init(
		&w, "edit+message", 1,
		"{\"order\":1,\"when\":{\"event\":\"anchor\",\"anchor\":\"start\",\"delay\":\"5s\"},"
		"\"timing\":\"at-touch\",\"effects\":[{\"message\":{\"text\":\"late\"}}]}");
	tick(&w, 10);
	tap_ok(w.n_messages == 0, "nothing has begun to wait");
	anchor(&w, "start");
	tap_ok(w.rc == 0 && w.n_messages == 0, "the event alone says nothing");
	tick(&w, 11);
	tick(&w, 15);
	anchor(&w, "start");
	tap_ok(w.n_messages == 0,
	       "not before five seconds from the tick behind it, nor by the event again");
	tick(&w, 16);
	tap_ok(w.n_messages == 1, "then it does");
	tick(&w, 30);
	tap_ok(w.n_messages == 1, "once");
	world_done(&w);
}

/* Timing after-command: the delay first, then the end of a command. */
static void test_delay_then_timing(void)
{
	struct world w;

	world_init(&w, "edit+message", 1,
		   world_iv(1, "read", "bytes", "after-command", "\"delay\":\"3s\","));
	world_begin(&w, 1, "cat");
	world_read(&w, 1, 0, 0);
	world_end(&w, 1);
	tap_ok(w.n_fired == 0 && !engine_pending(w.e, 0), "the touch only begins the delay");
	tick(&w, 1);
	world_begin(&w, 2, "cat");
	world_read(&w, 2, 0, 0);
	world_end(&w, 2);
	tick(&w, 3);
	tap_ok(w.n_fired == 0, "another touch does not end it");
	tick(&w, 4);
	tap_ok(w.n_fired == 0 && engine_pending(w.e, 0), "it is over: a boundary is wanted");
	world_begin(&w, 3, "ls");
	tap_ok(w.n_fired == 0, "not at the beginning of a command");
	world_end(&w, 3);
	tap_ok(w.n_fired == 2 && strstr(w.messages, "10"),
	       "fires at its end, and speaks of the lines touched");
	tap_ok(strcmp(w.fired_at, "end 3") == 0, "there");
	world_done(&w);
}

/* What cannot be done begins anew with the next event. */
static void test_refused(void)
{
	struct world w;

	world_init(&w, "edit+message", 1,
		   world_iv(1, "read", "bytes", "at-touch", "\"delay\":\"3s\","));
	world_begin(&w, 1, "cat");
	world_read(&w, 1, 0, 0);
	world_set(&w, "other\n");
	tick(&w, 1);
	tick(&w, 5);
	tap_ok(w.n_fired == 0 && strstr(w.log, "[refused"), "the edit does not apply");
	world_reset(&w);
	tick(&w, 9);
	tap_ok(w.n_fired == 0, "it is not tried again by the clock");
	world_end(&w, 1);
	world_begin(&w, 2, "cat");
	world_read(&w, 2, 0, 0);
	tick(&w, 10);
	tick(&w, 13);
	tap_ok(w.n_fired == 2, "but by the next touch and its delay");
	world_done(&w);
}

static void bad(const char *when, const char *want)
{
	auto_free char *json = mem_printf(
		"{\"schema\":\"proctor.scenario/1\",\"id\":\"s\",\"interventions\":["
		"{\"order\":1,\"when\":{\"event\":\"time\",\"at\":1},\"effects\":[{\"message\":{}}]},"
		"{\"order\":2,\"when\":{%s},\"effects\":[{\"message\":{}}]}]}",
		when);
	struct scenario *sc = NULL;
	struct err err = { ERR_NONE, 0, "" };

	tap_ok(scenario_parse("s.json", json, strlen(json), NULL, &sc, &err) < 0, "refused: %s",
	       when);
	tap_ok(strstr(err.text, want) != NULL, "says: %s", want);
	scenario_free(sc);
}

int main(void)
{
	test_graph(false);
	test_graph(true);
	test_delay();
	test_delay_then_timing();
	test_refused();
	bad("\"event\":\"after\"", "all_after");
	bad("\"event\":\"after\",\"all_after\":[2]", "order 1 to 1");
	bad("\"event\":\"time\",\"at\":1,\"all_after\":[0]", "order 1 to 1");
	bad("\"event\":\"time\",\"at\":1,\"delay\":\"2d\"", "delay");
	bad("\"event\":\"time\",\"at\":1,\"delay\":90000", "a day");
	bad("\"event\":\"anchor\",\"anchor\":\"befor-submit\"", "did you mean before-submit");
	return tap_done();
}

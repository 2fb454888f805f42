/* Appends messages one at a time with SQLite's own interface and nothing
 * around it: what the work itself costs.
 *
 *   append STORE MESSAGES SESSION
 *
 * MESSAGES holds fields as LENGTH:BYTES, seven a message, length -1 for NULL. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void check(sqlite3 *db, int rc, int want, const char *what) {
	if (rc == want) return;
	fprintf(stderr, "append: %s: %s\n", what, sqlite3_errmsg(db));
	exit(1);
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql) {
	sqlite3_stmt *s;
	check(db, sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &s, NULL), SQLITE_OK, sql);
	return s;
}

static void run(sqlite3 *db, sqlite3_stmt *s) {
	check(db, sqlite3_step(s), SQLITE_DONE, sqlite3_sql(s));
	sqlite3_reset(s);
}

static char *slurp(const char *path, size_t *size) {
	FILE *f = fopen(path, "rb");
	if (!f) { perror(path); exit(1); }
	fseek(f, 0, SEEK_END);
	*size = ftell(f);
	rewind(f);
	char *b = malloc(*size + 1);
	if (fread(b, 1, *size, f) != *size) { perror(path); exit(1); }
	b[*size] = 0;
	fclose(f);
	return b;
}

/* bind takes the next field from *p and binds it. */
static void bind(sqlite3_stmt *s, int column, char **p) {
	char *colon;
	long n = strtol(*p, &colon, 10);
	*p = colon + 1;
	if (n < 0) { sqlite3_bind_null(s, column); return; }
	sqlite3_bind_text(s, column, *p, (int)n, SQLITE_STATIC);
	*p += n;
}

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

int main(int argc, char **argv) {
	if (argc != 4) { fprintf(stderr, "usage: append STORE MESSAGES SESSION\n"); return 2; }
	sqlite3 *db;
	check(db, sqlite3_open(argv[1], &db), SQLITE_OK, "open");
	check(db, sqlite3_exec(db, "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON; PRAGMA busy_timeout=1000", 0, 0, 0), SQLITE_OK, "pragmas");
	sqlite3_stmt *begin = prepare(db, "BEGIN IMMEDIATE"), *commit = prepare(db, "COMMIT");
	sqlite3_stmt *count = prepare(db, "UPDATE sessions SET message_count = message_count + 1, tool_call_count = tool_call_count + ? WHERE id = ?");
	sqlite3_stmt *insert = prepare(db,
		"INSERT INTO messages (role, content, tool_call_id, tool_calls, tool_name, finish_reason, reasoning, session_id, timestamp)"
		" VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
	size_t size;
	char *p = slurp(argv[2], &size), *end = p + size;
	while (p < end) {
		run(db, begin);
		for (int i = 1; i <= 7; i++) bind(insert, i, &p);
		sqlite3_bind_text(insert, 8, argv[3], -1, SQLITE_STATIC);
		sqlite3_bind_double(insert, 9, now());
		run(db, insert);
		sqlite3_bind_int(count, 1, 0);
		sqlite3_bind_text(count, 2, argv[3], -1, SQLITE_STATIC);
		run(db, count);
		run(db, commit);
	}
	sqlite3_finalize(begin); sqlite3_finalize(commit); sqlite3_finalize(count); sqlite3_finalize(insert);
	check(db, sqlite3_close(db), SQLITE_OK, "close");
	return 0;
}

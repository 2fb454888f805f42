"""What a program that knows only schema version 11 does with a store, statement
by statement, through the SQLite of Python. Prints what it sees, a JSON line an
answer; fails where a statement does."""
import json, sqlite3, sys

path, schema = sys.argv[1:]
db = sqlite3.connect(path, isolation_level=None)
say = lambda what, rows: print(json.dumps([what, rows]))

# Opening: create what is missing, compare columns, probe both indexes.
db.execute("PRAGMA journal_mode=WAL")
db.execute("PRAGMA foreign_keys=ON")
db.executescript(open(schema).read())
say("columns", db.execute("SELECT name FROM pragma_table_info('messages')").fetchall())
say("version", db.execute("SELECT version FROM schema_version LIMIT 1").fetchall())
for index in ("messages_fts", "messages_fts_trigram"):
    db.execute(f"SELECT * FROM {index} LIMIT 0")

SEARCH = """SELECT m.id, m.session_id, m.role,
  snippet({0}, 0, '>>>', '<<<', '...', 40) AS snippet, m.timestamp, m.tool_name, s.source, s.model, s.started_at
FROM {0} JOIN messages m ON m.id = {0}.rowid JOIN sessions s ON s.id = m.session_id
WHERE {0} MATCH ? ORDER BY {1} LIMIT 20 OFFSET 0"""

def search(when):
    for order in ("rank, m.id", "m.timestamp DESC, rank, m.id"):
        for query in ("docker", '"docker compose" OR deploy*', "wombat", "wallaby", "quokka NOT wombat", "web_search", '"P2.2"'):
            say([when, order, query], db.execute(SEARCH.format("messages_fts", order), (query,)).fetchall())
        for query in ('"배포를"', '"docker"', '"검색해"'):
            say([when, order, query], db.execute(SEARCH.format("messages_fts_trigram", order), (query,)).fetchall())
    for index in ("messages_fts", "messages_fts_trigram"):
        say([when, index], db.execute(f"SELECT COUNT(*), TOTAL(LENGTH(content)) FROM {index}").fetchall())
        say([when, index], db.execute(f"SELECT content FROM {index} WHERE rowid = 7").fetchall())

def check():
    for index in ("messages_fts", "messages_fts_trigram"):
        db.execute(f"INSERT INTO {index}({index}, rank) VALUES ('integrity-check', 1)")
    say("integrity", db.execute("PRAGMA integrity_check").fetchall())

def append(session, role, content, tool_name=None, tool_calls=None):
    db.execute("BEGIN IMMEDIATE")
    at = db.execute("""INSERT INTO messages (session_id, role, content, tool_call_id, tool_calls, tool_name, timestamp)
      VALUES (?, ?, ?, NULL, ?, ?, ?)""", (session, role, content, tool_calls, tool_name, 1778000001.5)).lastrowid
    db.execute("UPDATE sessions SET message_count = message_count + 1 WHERE id = ?", (session,))
    db.execute("COMMIT")
    return at

search("as found")
db.execute("INSERT OR IGNORE INTO sessions (id, source, started_at) VALUES ('w', 'cli', 1778000000.0)")
for i in range(40):
    append("w", "user", f"the wombat number {i} digs deep, 배포를 검색해", None, None)
    append("w", "assistant", None, "web_search", '[{"function":{"name":"web_search","arguments":"{\\"q\\":\\"quokka\\"}"}}]')
append("w", "user", json.dumps([{"type": "text", "text": "quokka on P2.2"}]))
search("appended")
check()

db.execute("UPDATE messages SET content = 'a wallaby' WHERE session_id = 'w' AND role = 'user' AND id % 4 = 1")
db.execute("UPDATE messages SET tool_name = NULL, tool_calls = NULL WHERE session_id = 'w' AND id % 8 = 2")
db.execute("UPDATE messages SET token_count = 3 WHERE session_id = 'w'")
search("updated")
check()

db.execute("BEGIN IMMEDIATE")
db.execute("DELETE FROM messages WHERE session_id = 'w'")
for i in range(10):
    db.execute("INSERT INTO messages (session_id, role, content, timestamp) VALUES ('w', 'user', ?, ?)", (f"wombat again {i}", 1778000002.0 + i / 1e6))
db.execute("UPDATE sessions SET message_count = 10, tool_call_count = 0 WHERE id = 'w'")
db.execute("COMMIT")
search("replaced")
check()

db.execute("BEGIN IMMEDIATE")
db.execute("DELETE FROM messages WHERE session_id = 'w'")
db.execute("ROLLBACK")
search("rolled back")

old = [r[0] for r in db.execute("SELECT id FROM sessions WHERE ended_at IS NOT NULL ORDER BY started_at LIMIT 20")]
marks = ",".join("?" * len(old))
db.execute("BEGIN IMMEDIATE")
db.execute(f"UPDATE sessions SET parent_session_id = NULL WHERE parent_session_id IN ({marks})", old)
for s in old:
    db.execute("DELETE FROM messages WHERE session_id = ?", (s,))
    db.execute("DELETE FROM sessions WHERE id = ?", (s,))
db.execute("COMMIT")
search("pruned")
check()
for index in ("messages_fts", "messages_fts_trigram"):
    db.execute(f"INSERT INTO {index}({index}) VALUES ('optimize')")
db.execute("VACUUM")
search("vacuumed")
for index in ("messages_fts", "messages_fts_trigram"):
    db.execute(f"INSERT INTO {index}({index}) VALUES ('rebuild')")
search("rebuilt")
check()
db.executescript(open(schema).read())
db.close()

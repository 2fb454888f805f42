# A second program that writes to the store through plain SQLite, by the
# documented policy: JSON-RPC lines in, an answer for each when it is durable.
import json
import random
import sqlite3
import sys
import time

db = sqlite3.connect(sys.argv[1], timeout=1.0, isolation_level=None)
db.execute("PRAGMA synchronous = FULL")
db.execute("PRAGMA foreign_keys = ON")


def write(fn):
    for attempt in range(15):
        try:
            db.execute("BEGIN IMMEDIATE")
            try:
                result = fn()
                db.execute("COMMIT")
                return result
            except BaseException:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise
        except sqlite3.OperationalError as e:
            if "locked" not in str(e) or attempt == 14:
                raise
            time.sleep(random.uniform(0.02, 0.15))


def create_session(p):
    db.execute(
        "INSERT OR IGNORE INTO sessions (id, source, started_at) VALUES (?, ?, ?)",
        (p["session_id"], p["source"], time.time()),
    )


def append_message(p):
    c = db.execute(
        "INSERT INTO messages (session_id, role, content, timestamp) VALUES (?, ?, ?, ?)",
        (p["session_id"], p["role"], p["content"], time.time()),
    )
    db.execute(
        "UPDATE sessions SET message_count = message_count + 1 WHERE id = ?",
        (p["session_id"],),
    )
    return c.lastrowid


methods = {"create_session": create_session, "append_message": append_message}

for line in sys.stdin:
    request = json.loads(line)
    answer = {"id": request["id"]}
    try:
        answer["result"] = write(lambda: methods[request["method"]](request["params"]))
    except sqlite3.Error as e:
        kind = "busy" if "locked" in str(e) else "other"
        answer["error"] = {"message": repr(e), "data": {"kind": kind}}
    print(json.dumps(answer), flush=True)

"""The documented operations, as Python's sqlite3 runs them.

Reads one JSON request a line from stdin, {"op": ..., ...}, and answers with one
JSON object a line: {"seconds": ..., ...}. The time is that of the operation
alone.
"""

import json
import random
import sqlite3
import sys
import threading
import time

RETRIES, RETRY_MIN, RETRY_MAX, CHECKPOINT_EVERY = 15, 0.020, 0.150, 50


def connect(path):
    # check_same_thread: threads share the connection behind a lock.
    db = sqlite3.connect(path, timeout=1.0, isolation_level=None, check_same_thread=False)
    db.row_factory = sqlite3.Row
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("PRAGMA synchronous=FULL")
    db.execute("PRAGMA foreign_keys=ON")
    return db


class Writer:
    """One connection, one lock, BEGIN IMMEDIATE with retries, a passive checkpoint now and then."""

    def __init__(self, path):
        self.db, self.lock, self.writes = connect(path), threading.Lock(), 0

    def write(self, fn):
        for attempt in range(RETRIES):
            try:
                with self.lock:
                    self.db.execute("BEGIN IMMEDIATE")
                    try:
                        result = fn(self.db)
                        self.db.commit()
                    except BaseException:
                        self.db.rollback()
                        raise
                    self.writes += 1
                    if self.writes % CHECKPOINT_EVERY == 0:
                        self.db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
                return result
            except sqlite3.OperationalError as e:
                if attempt == RETRIES - 1 or not ("locked" in str(e) or "busy" in str(e)):
                    raise
                time.sleep(random.uniform(RETRY_MIN, RETRY_MAX))

    def append(self, session, m):
        role, content, call_id, calls, tool, finish, reasoning = m
        calls = json.loads(calls) if calls else None
        count = len(calls) if isinstance(calls, list) else (0 if calls is None else 1)
        encoded = json.dumps(calls) if calls else None

        def do(db):
            cursor = db.execute(
                "INSERT INTO messages (session_id, role, content, tool_call_id, tool_calls, tool_name, timestamp,"
                " token_count, finish_reason, reasoning, reasoning_content, reasoning_details, codex_reasoning_items,"
                " codex_message_items) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (session, role, content, call_id, encoded, tool, time.time(), None, finish, reasoning, None, None, None, None),
            )
            db.execute(
                "UPDATE sessions SET message_count = message_count + 1, tool_call_count = tool_call_count + ? WHERE id = ?",
                (count, session),
            )
            return cursor.lastrowid

        return self.write(do)


def messages_of(path):
    """Reads the fields of messages, LENGTH:BYTES each, seven a message."""
    with open(path, "rb") as f:
        data = f.read()
    fields, at = [], 0
    while at < len(data):
        colon = data.index(b":", at)
        n, at = int(data[at:colon]), colon + 1
        fields.append(None if n < 0 else data[at : at + n].decode())
        at += max(n, 0)
    return [tuple(fields[i : i + 7]) for i in range(0, len(fields), 7)]


def append(r):
    w, ms = Writer(r["store"]), messages_of(r["messages"])
    start, longest = time.perf_counter(), 0.0
    for m in ms:
        t = time.perf_counter()
        w.append(r["session"], m)
        longest = max(longest, time.perf_counter() - t)
    elapsed = time.perf_counter() - start
    w.db.close()
    return {"seconds": elapsed, "longest": longest}


def append_threads(r):
    w, ms, n = Writer(r["store"]), messages_of(r["messages"]), r["threads"]

    def work(k):
        for m in ms[k::n]:
            w.append(r["session"], m)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(n)]
    start = time.perf_counter()
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    elapsed = time.perf_counter() - start
    w.db.close()
    return {"seconds": elapsed}


def load(r):
    db = reader(r["store"])
    start = time.perf_counter()
    out = transcript(db, r["session"])
    return {"seconds": time.perf_counter() - start, "n": len(out)}


JSON_COLUMNS = ("tool_calls", "reasoning_details", "codex_reasoning_items", "codex_message_items")


def transcript(db, session):
    out = []
    for row in db.execute("SELECT * FROM messages WHERE session_id = ? ORDER BY id", (session,)).fetchall():
        m = dict(row)
        m["content"] = decode(m["content"])
        if m["tool_calls"]:
            try:
                m["tool_calls"] = json.loads(m["tool_calls"])
            except ValueError:
                m["tool_calls"] = []
        out.append(m)
    return out


def decode(content):
    if isinstance(content, str) and content.startswith("\x00json:"):
        return json.loads(content[6:])
    return content


LIST = """
WITH RECURSIVE chain(root, id) AS (
  SELECT s.id, s.id FROM sessions s
  WHERE s.parent_session_id IS NULL OR EXISTS (
    SELECT 1 FROM sessions p WHERE p.id = s.parent_session_id
      AND p.end_reason = 'branched' AND s.started_at >= p.ended_at)
  UNION ALL
  SELECT chain.root, c.id FROM chain
  JOIN sessions p ON p.id = chain.id
  JOIN sessions c ON c.parent_session_id = p.id
  WHERE p.end_reason = 'compression' AND c.started_at >= p.ended_at
), activity(root, latest) AS (
  SELECT root, MAX(COALESCE((SELECT MAX(m.timestamp) FROM messages m WHERE m.session_id = chain.id),
                            (SELECT x.started_at FROM sessions x WHERE x.id = chain.id)))
  FROM chain GROUP BY root
)
SELECT s.*,
  COALESCE((SELECT SUBSTR(m.content, 1, 63) FROM messages m
            WHERE m.session_id = s.id AND m.role = 'user' AND m.content IS NOT NULL
            ORDER BY m.timestamp, m.id LIMIT 1), '') AS preview,
  COALESCE((SELECT MAX(m2.timestamp) FROM messages m2 WHERE m2.session_id = s.id), s.started_at) AS last_active
FROM sessions s JOIN activity a ON a.root = s.id
ORDER BY a.latest DESC, s.started_at DESC, s.id DESC LIMIT ? OFFSET ?
"""

TIP = """
SELECT c.id FROM sessions p JOIN sessions c ON c.parent_session_id = p.id
WHERE p.id = ? AND p.end_reason = 'compression' AND c.started_at >= p.ended_at
ORDER BY c.started_at DESC LIMIT 1
"""

TIP_ROW = """
SELECT s.*,
  COALESCE((SELECT SUBSTR(m.content, 1, 63) FROM messages m
            WHERE m.session_id = s.id AND m.role = 'user' AND m.content IS NOT NULL
            ORDER BY m.timestamp, m.id LIMIT 1), '') AS preview,
  COALESCE((SELECT MAX(m2.timestamp) FROM messages m2 WHERE m2.session_id = s.id), s.started_at) AS last_active
FROM sessions s WHERE s.id = ?
"""


def list_sessions(r):
    db = reader(r["store"])
    start = time.perf_counter()
    out = []
    for row in db.execute(LIST, (r["limit"], 0)).fetchall():
        s = dict(row)
        if s["end_reason"] == "compression":
            tip = s["id"]
            while True:
                further = db.execute(TIP, (tip,)).fetchone()
                if further is None:
                    break
                tip = further[0]
            if tip != s["id"]:
                t = dict(db.execute(TIP_ROW, (tip,)).fetchone())
                s["_lineage_root_id"] = s["id"]
                for key in ("id", "ended_at", "end_reason", "message_count", "tool_call_count", "title", "last_active",
                            "preview", "model", "system_prompt"):
                    s[key] = t[key]
        text = s["preview"].replace("\n", " ").replace("\r", " ").strip()
        s["preview"] = text[:60] + ("..." if len(text) > 60 else "")
        out.append(s)
    return {"seconds": time.perf_counter() - start, "ids": [s["id"] for s in out]}


FOUND = """
SELECT m.id, m.session_id, m.role, {snippet} AS snippet, m.content, m.timestamp, m.tool_name,
  s.source, s.model, s.started_at AS session_started
FROM {table} JOIN messages m ON m.id = {table}.rowid JOIN sessions s ON s.id = m.session_id
WHERE {table} MATCH ?{condition} ORDER BY {order} LIMIT ? OFFSET ?
"""

SCAN = """
SELECT m.id, m.session_id, m.role,
  SUBSTR(m.content, MAX(1, INSTR(m.content, ?) - 40), 120) AS snippet, m.content, m.timestamp, m.tool_name,
  s.source, s.model, s.started_at AS session_started
FROM messages m JOIN sessions s ON s.id = m.session_id
WHERE m.content LIKE ? OR m.tool_name LIKE ? OR m.tool_calls LIKE ?
ORDER BY {order} LIMIT ? OFFSET ?
"""

CONTEXT = """
SELECT role, content FROM (
  SELECT * FROM (SELECT id, role, content FROM messages WHERE session_id = :s AND id < :id ORDER BY id DESC LIMIT 1)
  UNION ALL SELECT id, role, content FROM messages WHERE id = :id
  UNION ALL SELECT * FROM (SELECT id, role, content FROM messages WHERE session_id = :s AND id > :id ORDER BY id LIMIT 1)
) ORDER BY id
"""

ORDERS = {"rank": "rank", "newest": "m.timestamp DESC, rank", "oldest": "m.timestamp, rank"}


def search(r):
    db = reader(r["store"])
    start = time.perf_counter()
    if r["how"] == "scan":
        like = "%" + r["query"] + "%"
        # The plus sign: documented stores have no index of times to walk.
        rows = db.execute(SCAN.format(order="+m.timestamp DESC"), (r["query"], like, like, like, r["limit"], 0))
    else:
        table = "messages_fts" if r["how"] == "words" else "messages_fts_trigram"
        snippet = "snippet(%s, 0, '>>>', '<<<', '...', 40)" % table
        # No session is among the documented filters; those are conditions like this one.
        condition, only = (" AND m.session_id = ?", (r["session"],)) if r["session"] else ("", ())
        rows = db.execute(
            FOUND.format(table=table, snippet=snippet, condition=condition, order=ORDERS[r["order"]]),
            (r["query"], *only, r["limit"], 0),
        )
    hits = [dict(row) for row in rows.fetchall()]
    for h in hits:
        h["context"] = [
            {"role": c["role"], "content": shown(c["content"])}
            for c in db.execute(CONTEXT, {"s": h["session_id"], "id": h["id"]})
        ]
        del h["content"]
    return {"seconds": time.perf_counter() - start, "n": len(hits), "ids": [h["id"] for h in hits]}


def shown(content):
    content = decode(content)
    if isinstance(content, list):
        content = " ".join(p.get("text", "") for p in content if p.get("type") == "text") or "[multimodal content]"
    return (content or "")[:200]


def export(r):
    db = reader(r["store"])
    start = time.perf_counter()
    size = 0
    with open(r["to"], "w", encoding="utf-8") as out:
        for row in db.execute("SELECT * FROM sessions ORDER BY started_at, id").fetchall():
            s = dict(row)
            s["messages"] = transcript(db, s["id"])
            line = json.dumps(s, ensure_ascii=False)
            out.write(line)
            out.write("\n")
    with open(r["to"], "rb") as f:
        size = f.seek(0, 2)
    return {"seconds": time.perf_counter() - start, "bytes": size}


readers = {}


def reader(path):
    """A connection that is open already, as a program that stays up has it."""
    if path not in readers:
        db = sqlite3.connect("file:%s?mode=ro" % path, uri=True, isolation_level=None)
        db.row_factory = sqlite3.Row
        readers[path] = db
    return readers[path]


def version(r):
    return {"seconds": 0, "python": sys.version.split()[0], "sqlite": sqlite3.sqlite_version}


OPS = {f.__name__: f for f in (append, append_threads, load, list_sessions, search, export, version)}

for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps(OPS[request["op"]](request)), flush=True)

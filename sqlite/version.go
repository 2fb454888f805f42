package sqlite

import sqlite3 "modernc.org/sqlite/lib"

// EngineVersion is the version of the SQLite inside.
const EngineVersion = sqlite3.SQLITE_VERSION

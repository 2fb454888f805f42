package sqlite

import sqlite3 "modernc.org/sqlite/lib"

// LibraryVersion is the version of the SQLite inside.
const LibraryVersion = sqlite3.SQLITE_VERSION

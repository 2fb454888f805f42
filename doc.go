// Package sessiondb keeps the conversations of AI agents: sessions, their
// messages, titles, lineage and usage, in a store that several programs read
// and write at once.
//
// A store is opened by an engine: [github.com/sessiondb-go/sessiondb/sqlite]
// keeps one SQLite file, in the format of Hermes Agent's state.db at schema
// version 11.
//
// Every method takes a context first and returns when it ends. Errors wrap the
// sentinels of this package, so errors.Is tells what happened.
//
// This package holds the rules and the SQL of the topics. It opens no files,
// reads no environment and prints nothing.
package sessiondb

// Package walvfs is a layer for files, between SQLite and the system, that writes what a
// commit puts into a log at once.
//
// SQLite writes each page of a commit into its log with two calls of the system: forty in
// an append, where that is a seventh of its CPU time. The layer is SQLite's own but for
// logs: there it gathers what is written one behind the other, and hands it to SQLite's
// own when SQLite asks for anything else of the log, or is about to tell the other
// connections of what the log holds. A commit syncs the log before it tells, so that what
// is durable, and when, stays the same; an error of a write is that of the sync.
package walvfs

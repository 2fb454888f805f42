package sessiondb

import "slices"

// FindingKind is what all findings of a code have in common.
type FindingKind struct {
	Code     string
	Severity Severity
	Means    string // half a sentence
	// Fix is the command that mends it, empty where none does. FILE stands for
	// the store. A finding may have one of its own.
	Fix string
	// Advice is what to do where no command mends it.
	Advice string
}

const (
	fixIt     = "sessiondb doctor --fix --db FILE"
	recoverIt = "sessiondb recover FILE FILE.recovered"
	compactIt = "sessiondb compact --db FILE"
	renameIt  = "sessiondb rename SESSION TITLE --db FILE"
	chmodIt   = "chmod 600 FILE"
)

// findingKinds is the one table of findings. Codes never change.
var findingKinds = []FindingKind{
	{"missing", SeverityError, "there is no file", "", "check the path"},
	{"empty_file", SeverityError, "the file has no bytes", "", "`sessiondb restore` a backup; as it is, it counts as a new store"},
	{"log_alone", SeverityError, "the file is gone or has no bytes, and its write-ahead log holds data", recoverIt, ""},
	{"other_log", SeverityError, "the write-ahead log beside the file belongs to another one that was there before: opened with it, the file would become a mixture of both", "mv FILE-wal FILE-wal.other && rm -f FILE-shm", ""},
	{"unreadable", SeverityError, "this user may not read the file, or the system can't", "", "check owner, mode and disk"},
	{"not_database", SeverityError, "the file is no SQLite database, or its first bytes are lost", recoverIt, ""},
	{"not_file", SeverityError, "what is there is a folder or a device", "", "check the path"},
	{"other_program", SeverityError, "it is the database of another program", "", "check the path"},
	{"header", SeverityError, "the header of the file can't be right", recoverIt, ""},
	{"truncated", SeverityError, "the file is shorter than its header says", recoverIt, ""},
	{"schema_unreadable", SeverityError, "the list of tables can't be read", recoverIt, ""},
	{"page_damage", SeverityError, "pages of a table are damaged", recoverIt, ""},
	{"text_lost", SeverityError, "messages lost text that a full-text index still has", recoverIt, ""},
	{"table_lost", SeverityError, "the table of the messages is gone, and there were some", recoverIt, ""},
	{"unchecked", SeverityError, "a check could not be done", recoverIt, ""},
	{"check_waits", SeverityInfo, "a check needs an index that is damaged", fixIt, ""},
	{"no_tables", SeverityWarning, "there is a database without any table", "", "restore a backup, if it should have any; as it is, it counts as a new store"},
	{"page_waste", SeverityWarning, "pages are counted wrongly, or used by nothing", compactIt, ""},
	{"btree_index", SeverityWarning, "an index does not fit its table", fixIt, ""},
	{"index_damage", SeverityWarning, "a full-text index is damaged; it is made from the messages, none is lost", fixIt, ""},
	{"index_older_sqlite", SeverityInfo, "a full-text index was filled by a release of SQLite that indexes text after a NUL in another way; searches work", "", "nothing needs to be done"},
	{"index_stale", SeverityWarning, "messages were stored past a damaged full-text index", fixIt, ""},
	{"index_rows", SeverityWarning, "a full-text index lacks messages, or has some that are gone", fixIt, ""},
	{"index_text", SeverityWarning, "a full-text index has another text than the message", fixIt, ""},
	{"index_schema", SeverityWarning, "a full-text index is missing, or not that of the schema", fixIt, ""},
	{"trigger_missing", SeverityWarning, "a trigger that fills a full-text index is missing", fixIt, ""},
	{"trigger_differs", SeverityWarning, "a trigger that fills a full-text index does something else", fixIt, ""},
	{"object_missing", SeverityWarning, "a table or an index is missing", fixIt, ""},
	{"object_differs", SeverityWarning, "an index is on other columns", fixIt, ""},
	{"column_missing", SeverityWarning, "a table lacks a column", fixIt, ""},
	{"version_missing", SeverityWarning, "there is no version row", fixIt, ""},
	{"version_several", SeverityWarning, "there are several version rows", fixIt, ""},
	{"schema_older", SeverityInfo, "the store has an older schema; the first command that writes brings it up to date", "", "nothing needs to be done"},
	{"schema_newer", SeverityInfo, "the store has a newer schema: it can be read, and only a newer program may write", "", "write with the program that made it"},
	{"foreign_keys", SeverityInfo, "rows of another program's table point at nothing; that is for that program to mend", "", "nothing needs to be done"},
	{"orphan_messages", SeverityWarning, "messages belong to a session that does not exist", fixIt, ""},
	{"missing_parent", SeverityWarning, "sessions have a parent that does not exist", fixIt, ""},
	{"parent_cycle", SeverityWarning, "sessions are their own ancestors", fixIt, ""},
	{"duplicate_title", SeverityWarning, "sessions have the same title", renameIt, ""},
	{"counters", SeverityWarning, "sessions count other messages or tool calls than they have", fixIt, ""},
	{"odd_values", SeverityInfo, "values are of another type than their column; they are kept and shown as they are", "", "nothing needs to be done"},
	{"invalid_utf8", SeverityInfo, "text is not valid UTF-8; it is shown with replacement characters", "", "nothing needs to be done"},
	{"journal_left", SeverityWarning, "a program ended in the middle of a transaction; the next one that writes undoes that", fixIt, ""},
	{"wal_left", SeverityInfo, "nobody has the file open, and its write-ahead log holds data: keep the two together", "", "nothing needs to be done; never delete the log"},
	{"wal_large", SeverityWarning, "the write-ahead log is large", compactIt, ""},
	{"partial_left", SeverityInfo, "a backup, a restore or a recovery was killed, and its unfinished file is still there", fixIt, ""},
	{"free_pages", SeverityInfo, "much of the file is free space", compactIt, ""},
	{"permissions", SeverityWarning, "others may read a file of the store", chmodIt, ""},
	{"owner", SeverityWarning, "a file of the store belongs to another user", "", "`chown` the file that differs"},
	{"network_fs", SeverityWarning, "the file is on a network file system, whose locks may not hold", "", "move the store to a local disk"},
	{"in_use", SeverityInfo, "programs have the file open", "", "nothing needs to be done"},
	{"write_locked", SeverityInfo, "a program holds the write lock", "", "nothing needs to be done, unless it stays so"},
	{"no_copy", SeverityError, "what a log or a journal holds could not be looked at", "", "make room in the temporary folder, or end the programs that use the store"},
}

// FindingKinds returns every code that a finding can have.
func FindingKinds() []FindingKind { return slices.Clone(findingKinds) }

// kindOf returns the kind of a code. One that is not in the table is a mistake
// in this program, and as bad as can be.
func kindOf(code string) FindingKind {
	i := slices.IndexFunc(findingKinds, func(k FindingKind) bool { return k.Code == code })
	if i < 0 {
		return FindingKind{Code: code, Severity: SeverityError}
	}
	return findingKinds[i]
}

package engine

// Space is what takes how much room in a database, in bytes.
type Space struct {
	File  int64 // the database
	Log   int64 // the write-ahead log beside it
	Text  SpaceText
	Parts []SpacePart // biggest first; together they are File
}

// SpaceText is how long the text of all messages is.
type SpaceText struct {
	Content   int64
	Tools     int64 // names of tools and their calls
	Reasoning int64
}

// SpacePart is a table, an index, or a part of one.
type SpacePart struct {
	Kind  string
	Name  string // the table or index
	Bytes int64  // its pages, also where they are not full
}

// The kinds of parts.
const (
	PartTable    = "table"    // a table of the schema
	PartTextCopy = "copy"     // the text that a full-text index keeps once more
	PartPostings = "postings" // what a full-text index finds by
	PartLengths  = "lengths"  // the lengths of texts that a full-text index ranks by
	PartIndex    = "index"    // an ordinary index
	PartOwn      = "own"      // tables that sessiondb added
	PartOther    = "other"    // tables of other programs
	PartFree     = "free"     // pages that hold nothing
)

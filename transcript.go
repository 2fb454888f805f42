package sessiondb

import "time"

// Transcript is a file in which another program keeps conversations, read
// message by message. It may hold several sessions, also mixed.
type Transcript interface {
	// Next returns the next message, or [io.EOF] behind the last one. A
	// [*LineError] costs the line it names: Next may be called again.
	Next() (TranscriptMessage, error)
	// Session tells what is known of a session that a message named: behind the
	// last message all there is to know.
	Session(id string) TranscriptSession
}

// TranscriptMessage is a message of a transcript. ID and SessionID of Message
// are ignored.
type TranscriptMessage struct {
	SessionID string
	// Key tells the message from the others of its session, and is the same
	// whenever the file is read, also after it grew.
	Key     string
	Line    int64
	Message Message
}

// TranscriptSession is what a transcript tells of a session. The counts of
// messages and tool calls are ignored; those of tokens and calls are totals.
type TranscriptSession struct {
	Session
	Delegate bool // an agent opened it for a subagent
	// Written is when the transcript was last written to, if that is known.
	// Messages are of that time where nothing before them tells one.
	Written time.Time
}

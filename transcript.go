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
	Key string
	// Also are keys that it is known by as well: a message that has one of them for
	// its own is a part of it.
	Also []string
	// Unique says that no other message has the key, in any file: what is stored
	// under it is there, whatever stands before it. Without it a file has to begin
	// as what was imported before did.
	Unique  bool
	Line    int64
	Message Message
}

// TranscriptSession is what a transcript tells of a session. The counts of
// messages, tool calls, tokens and API calls are ignored: Uses tells those.
type TranscriptSession struct {
	Session
	Delegate bool // an agent opened it for a subagent
	// ForkedFrom is the session that this one was copied from: it begins with what
	// that one said.
	ForkedFrom string
	// After is the key of the message that the first one follows, if it may be one
	// of another session.
	After string
	Uses  []TranscriptUse // only longer whenever it is told again
	// Titles is how many titles the file gave so far: a copy of the file that knows
	// fewer has an older one.
	Titles int
	// Written is when the transcript was last written to, if that is known.
	// Messages are of that time where nothing before them tells one.
	Written time.Time
}

// TranscriptUse is what a response of a model used.
type TranscriptUse struct {
	// Keys tell the response from all others, in any file. It is counted once, by
	// the first session that brings one of them.
	Keys   []string
	Tokens Tokens
}

package sessiondb_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/fixture"
	"github.com/sessiondb-go/sessiondb/sqlite"
)

// Tool calls that are no JSON read as none: with a warning, and not lost.
func TestMalformedToolCalls(t *testing.T) {
	var log bytes.Buffer
	o := sqlite.Options{ReadOnly: true, Logger: slog.New(slog.NewTextHandler(&log, nil))}
	db, err := sqlite.Open(t.Context(), fixture.Copy(t, "v11-bad-json.db"), o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	sessions, err := db.RecentSessions(t.Context(), "", -1, 0)
	if err != nil {
		t.Fatal(err)
	}
	bad := 0
	for _, s := range sessions {
		ms, err := db.Messages(t.Context(), s.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range ms {
			if len(m.ToolCalls) > 0 && m.ToolCallList() == nil {
				bad++
				checkMalformed(t, m, log.String())
			}
		}
		chat, err := db.Conversation(t.Context(), s.ID, false)
		if err != nil || len(chat) != len(ms) {
			t.Errorf("%s: %d of %d messages, %v", s.ID, len(chat), len(ms), err)
		}
	}
	if bad == 0 {
		t.Error("the store has no malformed tool calls")
	}
}

func checkMalformed(t *testing.T, m sessiondb.Message, log string) {
	t.Helper()
	if !strings.Contains(log, "session="+m.SessionID) || !strings.Contains(log, "malformed tool_calls") {
		t.Errorf("no warning of message %d", m.ID)
	}
	b, err := m.MarshalJSON()
	if err != nil || !bytes.Contains(b, []byte(`"tool_calls":"`)) {
		t.Errorf("message %d is rendered as %s, %v", m.ID, b, err)
	}
}

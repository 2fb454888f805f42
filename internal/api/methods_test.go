package api_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/api"
)

// give asks and returns the answer as JSON.
func give(t *testing.T, db *sessiondb.DB, method string, args any) string {
	t.Helper()
	got, err := ask(t.Context(), db, method, args)
	if err != nil {
		t.Fatalf("%s %s: %v", method, jsonOf(args), err)
	}
	return string(got)
}

// exchange is a call and its answer. An answer that begins with "..."
// need only end so, one that ends with it need only begin so.
type exchange struct {
	method string
	args   any
	want   string
}

func run(t *testing.T, db *sessiondb.DB, exchanges []exchange) {
	t.Helper()
	for _, x := range exchanges {
		got := give(t, db, x.method, x.args)
		ok := got == x.want
		if end, cut := strings.CutPrefix(x.want, "..."); cut {
			ok = strings.HasSuffix(got, end)
		} else if begin, cut := strings.CutSuffix(x.want, "..."); cut {
			ok = strings.HasPrefix(got, begin)
		}
		if !ok {
			t.Errorf("%s %s\n got %s\nwant %s", x.method, jsonOf(x.args), got, x.want)
		}
	}
}

func TestSessionMethods(t *testing.T) {
	run(t, newStore(t), []exchange{
		{"create_session", object{"session_id": "a", "source": "cli", "model": "m", "model_config": object{"k": 1}}, `"a"`},
		{"create_session", object{"session_id": "a", "source": "cli"}, `"a"`},
		{"ensure_session", object{"session_id": "a", "source": "telegram"}, `"a"`},
		{"ensure_session", object{"session_id": "b"}, `"b"`},
		{"update_system_prompt", object{"session_id": "a", "text": "be brief"}, `null`},
		{"update_token_counts", object{"id": "a", "input": 5, "output_tokens": 2, "model": "m", "estimated_cost_usd": 0.5, "api_call_count": 1}, `null`},
		{"set_model", []any{"b", "n"}, `null`},
		{"end_session", []any{"a", "first"}, `null`},
		{"end_session", []any{"a", "second"}, `null`},
		{"get_session", []any{"a"}, `{"id":"a","source":"cli","user_id":null,"model":"m","model_config":{"k":1},"system_prompt":"be brief",` +
			`"parent_session_id":null,"started_at":1778000000,"ended_at":1778000000,"end_reason":"first","message_count":0,"tool_call_count":0,` +
			`"input_tokens":5,"output_tokens":2,"cache_read_tokens":0,"cache_write_tokens":0,"reasoning_tokens":0,` +
			`"billing_provider":null,"billing_base_url":null,"billing_mode":null,"estimated_cost_usd":0.5,"actual_cost_usd":null,` +
			`"cost_status":null,"cost_source":null,"pricing_version":null,"title":null,"api_call_count":1,` +
			`"handoff_state":null,"handoff_platform":null,"handoff_error":null}`},
		{"reopen_session", []any{"a"}, `null`},
		{"find_session", []any{"b"}, `{"id":"b","source":"unknown","user_id":null,"model":"n",...`},
		{"session_count", object{"source": "cli"}, `1`},
		{"message_count", nil, `0`},
		{"usage_by_model", nil, `[{"key":"m","sessions":1,"input_tokens":5,"output_tokens":2,...`},
		{"usage_by_source", object{"source": "unknown"}, `[{"key":"unknown","sessions":1,...`},
		{"usage_by_day", object{"before": 1}, `[]`},
		{"top_sessions", object{"limit": 1}, `[{"id":"a",...`},
		{"get_meta", []any{"k"}, `null`},
		{"set_meta", []any{"k", ""}, `null`},
		{"get_meta", []any{"k"}, `""`},
		{"check", nil, `[]`},
		{"info", nil, `{"read_only":false,"schema_version":11}`},
	})
}

func TestHandoffMethods(t *testing.T) {
	run(t, prepared(t), []exchange{
		{"get_handoff_state", []any{"s1"}, `{"state":null,"platform":null,"error":null}`},
		{"request_handoff", []any{"s1", "slack"}, `true`},
		{"request_handoff", []any{"s1", "slack"}, `false`},
		{"list_pending_handoffs", nil, `[{"id":"s1",...`},
		{"claim_handoff", []any{"s1"}, `true`},
		{"claim_handoff", []any{"s1"}, `false`},
		{"fail_handoff", []any{"s1", strings.Repeat("é", 600)}, `null`},
		{"get_handoff_state", []any{"s1"}, `{"state":"failed","platform":"slack","error":"` + strings.Repeat("é", 500) + `"}`},
		{"list_pending_handoffs", nil, `[]`},
		{"request_handoff", []any{"s1", "slack"}, `true`},
		{"complete_handoff", []any{"s1"}, `null`},
		{"get_handoff_state", []any{"s1"}, `{"state":"completed","platform":"slack","error":null}`},
	})
}

func TestTitleAndLineageMethods(t *testing.T) {
	run(t, prepared(t), []exchange{
		{"get_session_title", []any{"s1"}, `"plan"`},
		{"get_session_title", []any{"s2"}, `null`},
		{"set_auto_title", []any{"s2", "plan"}, `"plan #2"`},
		{"set_session_title", []any{"nope", "x"}, `false`},
		{"set_session_title", []any{"other", "x"}, `true`},
		{"set_session_title", object{"session_id": "other", "title": nil}, `true`},
		{"get_session_title", []any{"other"}, `null`},
		{"get_session_by_title", []any{"plan"}, `{"id":"s1",...`},
		{"resolve_session_by_title", []any{"plan"}, `"s2"`},
		{"get_next_title_in_lineage", []any{"plan #2"}, `"plan #3"`},
		{"sanitize_title", []any{" a\tb "}, `"a b"`},
		{"sanitize_title", []any{nil}, `null`},
		{"end_session", []any{"s1", "compression"}, `null`},
		{"create_session", object{"session_id": "s3", "source": "cli", "parent_session_id": "s1"}, `"s3"`},
		{"append_message", []any{"s3", "user", "on we go"}, `2`},
		{"get_compression_tip", []any{"s1"}, `"s3"`},
		{"resolve_resume_session_id", []any{"s1"}, `"s3"`},
		{"get_ancestors", []any{"s3"}, `[{"id":"s1",...`},
		{"get_descendants", []any{"s1"}, `..."kind":"continuation","depth":1}]`},
		{"get_lineage", []any{"s3"}, `[{"id":"s1",...`},
		{"get_lineage", []any{"s3"}, `..."kind":"continuation","depth":1}]`},
		{"fork_session", object{"session_id": "s1", "fork_id": "f", "at": 2}, `{"id":"f","source":"cli",...`},
		{"delete_session", []any{"f"}, `true`},
		{"list_sessions_rich", object{"source": "cli", "offset": 1, "order_by_last_active": true}, `..."preview":"on we go","last_active":1778000000,"_lineage_root_id":"s1"}]`},
		{"list_sessions_rich", object{"limit": 0}, `[]`},
		{"search_sessions", object{"limit": 0}, `[]`},
		{"search_sessions", object{"source": "telegram"}, `[{"id":"other",...`},
	})
}

func TestMessageMethods(t *testing.T) {
	db := prepared(t)
	parts := []object{{"type": "text", "text": "look"}, {"type": "image_url", "image_url": object{"url": "data:x"}}}
	run(t, db, []exchange{
		{"append_message", object{"session_id": "s1", "role": "assistant", "content": nil, "reasoning_content": "", "tool_calls": []object{{"id": "1"}, {"id": "2"}}}, `2`},
		{"append_message", object{"session_id": "s1", "role": "user", "content": parts, "timestamp": 1777000000.25}, `3`},
		{"append_messages", object{"session_id": "s1", "messages": []object{{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}}}, `[4,5]`},
		{"get_messages_around", object{"session_id": "s1", "message_id": 3, "window": 1}, `{"window":[{"id":2,...`},
		{"get_messages_around", object{"session_id": "s2", "message_id": 3}, `{"window":[],"messages_before":0,"messages_after":0}`},
		{"get_anchored_view", object{"session_id": "s1", "message_id": 3, "window": 0, "bookend": 1, "keep_roles": nil}, `{"window":[{"id":3,...`},
		{"get_messages_as_conversation", []any{"s1"}, `[{"role":"user","content":"hello"},{"role":"assistant","content":null,"tool_calls":[{"id":"1"},{"id":"2"}],"reasoning_content":""},` +
			`{"role":"user","content":[{"text":"look","type":"text"},{"image_url":{"url":"data:x"},"type":"image_url"}]},{"role":"user","content":"x"},{"role":"assistant","content":"y"}]`},
		{"get_session", []any{"s1"}, `{"id":"s1",...`},
		{"clear_messages", []any{"s1"}, `null`},
		{"get_messages", []any{"s1"}, `[]`},
		{"get_messages", []any{"nope"}, `[]`},
	})
}

// What get_messages returns can be handed to replace_messages, and stays.
func TestMessagesComeBack(t *testing.T) {
	db := prepared(t)
	for i := range 3 {
		give(t, db, "append_message", object{"session_id": "s1", "role": "assistant", "content": fmt.Sprint("answer ", i), "timestamp": 1777000000.123456, "reasoning": "r"})
	}
	before := give(t, db, "get_messages", []any{"s1"})
	give(t, db, "replace_messages", object{"session_id": "s1", "messages": json.RawMessage(before)})
	if after := give(t, db, "get_messages", []any{"s1"}); after != before {
		t.Errorf("got  %s\nwant %s", after, before)
	}
}

func TestBrokenText(t *testing.T) {
	db := prepared(t)
	m, _ := api.Lookup("append_message")
	c, err := m.Bind(json.RawMessage(`{"session_id":"s2","role":"user","content":"a\ud800b","reasoning":"` + "\xff" + `"}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Do(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	if got := give(t, db, "get_messages", []any{"s2"}); !strings.Contains(got, `"content":"a�b"`) || !strings.Contains(got, `"reasoning":"�"`) {
		t.Errorf("got %s", got)
	}
}

func TestSearchMethods(t *testing.T) {
	hit := `{"id":1,"session_id":"s1","role":"user","snippet":">>>hello<<<  ","timestamp":1778000000,"tool_name":null,` +
		`"source":"cli","model":null,"session_started":1778000000,"context":[{"role":"user","content":"hello"}]}`
	run(t, prepared(t), []exchange{
		{"search_messages", []any{"hello"}, `[` + hit + `]`},
		{"search_messages", object{"query": "hello", "limit": 0}, `[]`},
		{"search_messages", object{"query": "hello", "role_filter": []string{"tool"}}, `[]`},
		{"search_messages", object{"query": "hello", "source_filter": nil, "sort": " NEWEST ", "limit": -1}, `[` + hit + `]`},
		{"search_messages", object{"query": "hello", "explain": true}, `{"hits":[` + hit + `],"total":1,"understood":"hello"}`},
		{"search_messages", object{"query": "(((", "explain": true}, `{"hits":[],...`},
		{"search_conversations", []any{"hello"}, `{"conversations":[{"best":` + hit + `,"hits":1,"root_id":"s1","tip_id":"s1","title":"plan","view":{...`},
		{"search_conversations", []any{"nothing"}, `{"conversations":[],"total":0,...`},
		{"search_conversations", object{"query": "hello", "limit": 0}, `{"conversations":[],...`},
	})
}

func TestDeleteMethods(t *testing.T) {
	run(t, prepared(t), []exchange{
		{"delete_session", object{"session_id": "s1", "dry_run": true, "report": true},
			`{"deleted":1,"sessions":["s1"],"messages":1,"orphaned":[],"files":[],"file_errors":[],"skipped_open":0,"referenced":[]}`},
		{"delete_session", []any{"s1"}, `true`},
		{"delete_session", []any{"s1"}, `false`},
		{"prune_sessions", object{"older_than_days": 0.5}, `{"deleted":0,"sessions":[],"messages":0,"orphaned":[],"files":[],"file_errors":[],"skipped_open":0,"referenced":[]}`},
		{"prune_empty_ghost_sessions", nil, `0`},
		{"finalize_orphaned_compression_sessions", nil, `0`},
		{"vacuum", nil, `null`},
		{"maybe_auto_prune_and_vacuum", nil, `{"skipped":false,"pruned":0,"vacuumed":false,"error":null}`},
		{"maybe_auto_prune_and_vacuum", nil, `{"skipped":true,"pruned":0,"vacuumed":false,"error":null}`},
		{"maybe_auto_prune_and_vacuum", object{"min_interval_hours": 0}, `{"skipped":false,"pruned":0,"vacuumed":false,"error":null}`},
		{"append_message", object{"session_id": "s2", "role": "user", "content": "old", "timestamp": 1777900000}, `2`},
		{"end_session", []any{"s2", "done"}, `null`},
		{"maybe_auto_prune_and_vacuum", object{"min_interval_hours": 0, "retention_days": 0}, `{"skipped":false,"pruned":1,"vacuumed":true,"error":null}`},
	})
}

// withoutMessageIDs makes exports comparable: an import gives new ids.
func withoutMessageIDs(exported string) string {
	return regexp.MustCompile(`"id":[0-9]+`).ReplaceAllString(exported, `"id":0`)
}

// An export goes into another store and comes out as it went in.
func TestExportAndImport(t *testing.T) {
	db := prepared(t)
	all := give(t, db, "export_all", nil)
	var sessions []json.RawMessage
	if err := json.Unmarshal([]byte(all), &sessions); err != nil {
		t.Fatal(err)
	}
	other := newStore(t)
	run(t, other, []exchange{
		{"import_sessions", object{"sessions": sessions, "dry_run": true}, `{"imported":3,...`},
		{"session_count", nil, `0`},
		{"import_sessions", object{"sessions": sessions}, `{"imported":3,...`},
		{"import_sessions", object{"sessions": sessions[:1]}, `{"imported":0,"extended":0,"same":1,"messages":0}`},
		{"export_all", object{"session_ids": []string{"other"}}, `[{"id":"other",...`},
	})
	if got := withoutMessageIDs(give(t, other, "export_all", nil)); got != withoutMessageIDs(all) {
		t.Errorf("got  %s\nwant %s", got, all)
	}
}

// A redacted export says what was masked in each session, and is imported like any.
func TestExportRedacted(t *testing.T) {
	db := newStore(t)
	line := `{"id":"k","title":"t","started_at":1,"messages":[{"role":"user","content":"redis://:pw@host","timestamp":2}]}`
	run(t, db, []exchange{
		{"import_sessions", object{"sessions": []json.RawMessage{json.RawMessage(line), json.RawMessage(`{"id":"none","started_at":1}`)}}, `{"imported":2,...`},
	})
	for _, got := range []string{
		give(t, db, "export_session", object{"session_id": "k", "redact": true}),
		give(t, db, "export_all", object{"redact": true}),
	} {
		if !strings.Contains(got, `"redis://:[redacted:url-password]@host"`) || !strings.Contains(got, `"redacted":{"url-password":1}`) {
			t.Errorf("got %s", got)
		}
	}
	if got := give(t, db, "export_all", object{"redact": true, "session_ids": []string{"none"}}); !strings.Contains(got, `"redacted":{}`) {
		t.Errorf("got %s", got)
	}
	var sessions []json.RawMessage
	if err := json.Unmarshal([]byte(give(t, db, "export_all", object{"redact": true})), &sessions); err != nil {
		t.Fatal(err)
	}
	run(t, newStore(t), []exchange{{"import_sessions", object{"sessions": sessions}, `{"imported":2,...`}})
}

// Damage shows in a check.
func TestCheckMethod(t *testing.T) {
	if got := give(t, damaged(t), "check", nil); !strings.Contains(got, `"severity":"error"`) {
		t.Errorf("got %s", got)
	}
}

// A backup tells what it holds, and takes no name that is taken.
func TestBackupMethod(t *testing.T) {
	db := prepared(t)
	path := filepath.Join(t.TempDir(), "copy.db")
	run(t, db, []exchange{{"backup", []any{path}, `{"bytes":...`}})
	if _, err := ask(t.Context(), db, "backup", []any{path}); !errors.Is(err, sessiondb.ErrInvalid) || !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second time: %v", err)
	}
}

// A null stands for the default in every parameter that has one.
func TestNullIsTheDefault(t *testing.T) {
	db := prepared(t)
	for _, m := range api.Methods {
		if m.Access.Writes() || slices.ContainsFunc(m.Params(), func(p api.Param) bool { return p.Required }) {
			continue
		}
		nulls := object{}
		for _, p := range m.Params() {
			nulls[p.Name] = nil
		}
		if with, without := give(t, db, m.Name, nulls), give(t, db, m.Name, nil); with != without {
			t.Errorf("%s: %s with nulls, %s without", m.Name, with, without)
		}
	}
}

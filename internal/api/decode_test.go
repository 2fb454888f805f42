package api_test

import (
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sessiondb-go/sessiondb/internal/api"
)

func TestBind(t *testing.T) {
	for _, c := range []struct {
		method, params string
		param, reason  string // of the error; empty if there is none
	}{
		{"get_session", `{"session_id":"a"}`, "", ""},
		{"get_session", `{"id":"a"}`, "", ""},
		{"get_session", ` ["a"] `, "", ""},
		{"get_session", `{"id":"a","session_id":"b"}`, "id", "is another name of session_id, which is given too"},
		{"get_session", `{"session_id":null}`, "session_id", "is required"},
		{"get_session", ``, "session_id", "is required"},
		{"get_session", `null`, "session_id", "is required"},
		{"get_session", `"a"`, "", "want an object or a list"},
		{"get_session", `["a","b"]`, "", "2 given, at most 1 are known"},
		{"get_session", `{"session_id":5}`, "session_id", "want string: got number"},
		{"get_session", `{"session_id":"a","zz":1,"aa":2}`, "aa", "is unknown"},
		{"session_count", ``, "", ""},
		{"list_sessions_rich", `{"limit":null,"source":null,"exclude_sources":null,"order_by_last_active":null}`, "", ""},
		{"list_sessions_rich", `{"limit":"20"}`, "limit", "want integer: got string"},
		{"list_sessions_rich", `{"limit":1.5}`, "limit", "want integer: got number 1.5"},
		{"list_sessions_rich", `{"exclude_sources":"cli"}`, "exclude_sources", "want array of string: got string"},
		{"list_sessions_rich", `{"exclude_sources":[true]}`, "exclude_sources", "want array of string: got boolean"},
		{"replace_messages", `{"session_id":"a","messages":[{"role":5}]}`, "messages", "want array of object: role is no string: got number"},
		{"replace_messages", `{"session_id":"a","messages":{"role":5}}`, "messages", "want array of object: got object"},
		{"import_sessions", `{"sessions":"x"}`, "sessions", "want array of any: got string"},
		{"append_message", `{"session_id":"a","role":"user","timestamp":"now"}`, "timestamp", "want number: got string"},
		{"append_message", `{"session_id":"a","role":"user","timestamp":1e300}`, "timestamp", "want number: 1e+300 is no time in seconds"},
		{"replace_messages", `{"session_id":"a","messages":[{"content":"x"}]}`, "messages", "want array of object: a message without a role"},
		{"replace_messages", `{"session_id":"a","messages":[{"role":"user","content":"x","unknown":1,"timestamp":null}]}`, "", ""},
	} {
		m, ok := api.Lookup(c.method)
		if !ok {
			t.Fatal(c.method)
		}
		_, err := m.Bind(json.RawMessage(c.params))
		e, isParam := errors.AsType[*api.ParamError](err)
		switch {
		case c.reason == "" && err != nil:
			t.Errorf("%s %s: %v", c.method, c.params, err)
		case c.reason != "" && (!isParam || e.Param != c.param || !strings.HasPrefix(e.Reason, c.reason)):
			t.Errorf("%s %s: got %v, want %s: %s", c.method, c.params, err, c.param, c.reason)
		}
	}
}

// documented are the operations that a store of this format has, and their
// parameters in order.
var documented = map[string]string{
	"create_session":                         "session_id source model model_config system_prompt user_id parent_session_id",
	"ensure_session":                         "session_id source model model_config system_prompt user_id parent_session_id",
	"end_session":                            "session_id end_reason",
	"reopen_session":                         "session_id",
	"update_system_prompt":                   "session_id system_prompt",
	"update_token_counts":                    "session_id input_tokens output_tokens cache_read_tokens cache_write_tokens reasoning_tokens model estimated_cost_usd actual_cost_usd cost_status cost_source pricing_version billing_provider billing_base_url billing_mode api_call_count absolute",
	"get_session":                            "session_id",
	"resolve_session_id":                     "session_id_or_prefix",
	"session_count":                          "source",
	"message_count":                          "session_id",
	"get_meta":                               "key",
	"set_meta":                               "key value",
	"request_handoff":                        "session_id platform",
	"claim_handoff":                          "session_id",
	"complete_handoff":                       "session_id",
	"fail_handoff":                           "session_id error",
	"get_handoff_state":                      "session_id",
	"list_pending_handoffs":                  "",
	"prune_empty_ghost_sessions":             "sessions_dir",
	"finalize_orphaned_compression_sessions": "",
	"append_message":                         "session_id role content tool_name tool_calls tool_call_id token_count finish_reason reasoning reasoning_content reasoning_details codex_reasoning_items codex_message_items timestamp idempotency_key",
	"replace_messages":                       "session_id messages",
	"clear_messages":                         "session_id",
	"get_messages":                           "session_id",
	"get_messages_around":                    "session_id around_message_id window",
	"get_anchored_view":                      "session_id around_message_id window bookend keep_roles",
	"get_messages_as_conversation":           "session_id include_ancestors",
	"sanitize_title":                         "title",
	"set_session_title":                      "session_id title",
	"get_session_title":                      "session_id",
	"get_session_by_title":                   "title",
	"resolve_session_by_title":               "title",
	"get_next_title_in_lineage":              "base_title",
	"get_compression_tip":                    "session_id",
	"resolve_resume_session_id":              "session_id",
	"list_sessions_rich":                     "source exclude_sources limit offset include_children project_compression_tips order_by_last_active include_archived tag tags",
	"search_sessions":                        "source limit offset",
	"search_messages":                        "query source_filter exclude_sources role_filter limit offset sort session_ids exclude_session_ids substring explain tags",
	"export_session":                         "session_id redact",
	"export_all":                             "source session_ids redact",
	"prune_sessions":                         "older_than_days source sessions_dir dry_run trash tags",
	"delete_session":                         "session_id sessions_dir only dry_run report trash",
	"vacuum":                                 "",
	"maybe_auto_prune_and_vacuum":            "retention_days min_interval_hours vacuum sessions_dir trash",
}

func TestDocumentedMethods(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(documented)) {
		m, ok := api.Lookup(name)
		if !ok {
			t.Errorf("%s is missing", name)
			continue
		}
		var params []string
		for _, p := range m.Params() {
			params = append(params, p.Name)
		}
		if got := strings.Join(params, " "); got != documented[name] {
			t.Errorf("%s takes %s, not %s", name, got, documented[name])
		}
	}
}

// Every method says what it is, and leaves nothing open about its parameters.
func TestMethodsAreDescribed(t *testing.T) {
	snake := regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)
	types := []string{"string", "integer", "number", "boolean", "any", "array of string", "array of object", "array of any"}
	seen := map[string]bool{}
	for _, m := range api.Methods {
		if !snake.MatchString(m.Name) || seen[m.Name] || !strings.HasSuffix(m.Doc, ".") || m.Result == "" {
			t.Errorf("%s: %q gives %q", m.Name, m.Doc, m.Result)
		}
		seen[m.Name] = true
		names := map[string]bool{}
		for _, p := range m.Params() {
			for _, name := range append(p.Aliases, p.Name) {
				if !snake.MatchString(name) || names[name] {
					t.Errorf("%s: parameter %s", m.Name, name)
				}
				names[name] = true
			}
			if !slices.Contains(types, p.Type) || p.Required && p.Default != nil || p.Default != nil && !json.Valid(p.Default) {
				t.Errorf("%s: %+v", m.Name, p)
			}
		}
	}
}

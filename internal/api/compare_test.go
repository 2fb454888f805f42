package api_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/fixture"
)

// compare returns how an answer differs from the recorded one. What is not
// found was recorded as null.
func compare(t *testing.T, c fixture.Case, got json.RawMessage, err error) []string {
	t.Helper()
	if err != nil {
		if c.Error != nil || string(c.Result) == "null" && errors.Is(err, sessiondb.ErrNotFound) {
			return nil
		}
		return []string{"error: " + err.Error()}
	}
	if c.Error != nil {
		return []string{fmt.Sprintf(": %.100s, not an error", got)}
	}
	want, have := value(t, c.Result), value(t, got)
	if list, ok := have.([]any); ok && c.Fields != nil {
		for _, row := range list {
			keepFields(row.(map[string]any), c.Fields)
		}
	}
	if c.Ranks != nil && sameRanked(want.([]any), have.([]any), c.Ranks) {
		return nil
	}
	return differences(want, have, "", "")
}

func keepFields(row map[string]any, fields []string) {
	maps.DeleteFunc(row, func(k string, _ any) bool { return !slices.Contains(fields, k) })
}

func value(t *testing.T, raw json.RawMessage) (v any) {
	t.Helper()
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%.200s: %v", raw, err)
	}
	return v
}

// differences compares as programs read an answer: there may be more keys, JSON
// in a text column equals the value it holds, a missing key equals null, and
// long texts were recorded by their hash. Each line says where and what.
func differences(want, have any, at, key string) (out []string) {
	want, have = columnValue(key, want), columnValue(key, have)
	switch w := want.(type) {
	case map[string]any:
		if long, ok := w["$long"]; ok {
			if sameLong(long.(map[string]any), have) {
				return nil
			}
			break
		}
		h, ok := have.(map[string]any)
		if !ok {
			break
		}
		if w["id"] != nil && w["id"] != h["id"] { // another row
			return []string{fmt.Sprintf("%s.id: %s, not %s", at, jsonOf(h["id"]), jsonOf(w["id"]))}
		}
		for _, k := range slices.Sorted(maps.Keys(w)) {
			out = append(out, differences(w[k], h[k], at+"."+k, k)...)
		}
		return out
	case []any:
		h, ok := have.([]any)
		if !ok && (len(w) > 0 || have != nil || key == "") {
			break
		}
		if len(w) != len(h) {
			return []string{fmt.Sprintf("%s: %d items, not %d", at, len(h), len(w))}
		}
		for i := range w {
			out = append(out, differences(w[i], h[i], fmt.Sprintf("%s[%d]", at, i), "")...)
		}
		return out
	case float64:
		if h, ok := have.(float64); ok && math.Abs(w-h) <= 1e-9*max(1, math.Abs(w)) {
			return nil
		}
	case nil:
		if list, ok := have.([]any); have == nil || ok && len(list) == 0 && key != "" {
			return nil
		}
	default:
		if want == have {
			return nil
		}
	}
	return []string{fmt.Sprintf("%s: %.100s, not %.100s", at, jsonOf(have), jsonOf(want))}
}

var jsonColumns = []string{"model_config", "reasoning_details", "codex_reasoning_items", "codex_message_items", "tool_calls"}

func columnValue(key string, v any) any {
	s, ok := v.(string)
	var inside any
	if ok && slices.Contains(jsonColumns, key) && json.Unmarshal([]byte(s), &inside) == nil {
		return inside
	}
	return v
}

func sameLong(long map[string]any, have any) bool {
	s, ok := have.(string)
	sum := sha256.Sum256([]byte(s))
	return ok && float64(utf8.RuneCountInString(s)) == long["chars"] && hex.EncodeToString(sum[:]) == long["sha256"]
}

// sameRanked compares hits of equal rank as sets. A tie that the limit cuts off
// may have other members.
func sameRanked(want, have []any, ranks []float64) bool {
	if len(want) != len(have) {
		return false
	}
	for i := 0; i < len(want); {
		j := i + 1
		for j < len(want) && ranks[j] == ranks[i] {
			j++
		}
		for _, hit := range want[i:j] {
			found := slices.ContainsFunc(have[i:j], func(x any) bool { return differences(hit, x, "", "") == nil })
			if !found && (j < len(want) || j == i+1) {
				return false
			}
		}
		i = j
	}
	return true
}

package sqlite

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/fixture"
)

// TestSearchGolden holds searches to recorded answers: the same, or one of the
// improvements that ../testdata/golden-search-improvements.json lists with its reason. The list
// names no case whose answer is the same. Where the indexes have no copy of the
// text, the answers are those that they are with one.
func TestSearchGolden(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and no goroutines meet in it")
	}
	for _, l := range []sessiondb.IndexLayout{"", sessiondb.InlineIndexes, sessiondb.ExternalIndexes} {
		t.Run(string(l), func(t *testing.T) { searchGolden(t, l) })
	}
}

func searchGolden(t *testing.T, l sessiondb.IndexLayout) {
	better := map[string]string{}
	b, err := os.ReadFile("../testdata/golden-search-improvements.json")
	if err == nil {
		err = json.Unmarshal(b, &better)
	}
	if err != nil {
		t.Fatal(err)
	}
	db, err := Open(t.Context(), fixture.Copy(t, "hermes-v11.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if l != "" {
		_, err = db.Compact(t.Context(), sessiondb.CompactOptions{Layout: l})
	}
	if err != nil {
		t.Fatal(err)
	}
	cases := 0
	for _, c := range fixture.Golden(t) {
		if c.Call != "search_messages" {
			continue
		}
		cases++
		diff := searchDiff(t, db, c)
		switch reason := better[c.Case]; {
		case diff != "" && reason == "":
			t.Errorf("%s: %s differs (-recorded +ours):\n%s", c.Case, c.Args["query"], diff)
		case diff == "" && reason != "":
			t.Errorf("%s: listed as better (%s), but it is the same", c.Case, reason)
		}
	}
	if cases < 100 {
		t.Fatalf("only %d recorded searches", cases)
	}
}

// recordedHit is a hit as it was recorded.
type recordedHit struct {
	ID             int64                      `json:"id"`
	SessionID      string                     `json:"session_id"`
	Role           string                     `json:"role"`
	Snippet        string                     `json:"snippet"`
	Timestamp      float64                    `json:"timestamp"`
	ToolName       *string                    `json:"tool_name"`
	Source         string                     `json:"source"`
	Model          *string                    `json:"model"`
	SessionStarted float64                    `json:"session_started"`
	Context        []sessiondb.ContextMessage `json:"context"`
}

func searchDiff(t *testing.T, db *sessiondb.DB, c fixture.Case) string {
	t.Helper()
	var args struct {
		Query          string               `json:"query"`
		Sources        []string             `json:"source_filter"`
		ExcludeSources []string             `json:"exclude_sources"`
		Roles          []string             `json:"role_filter"`
		Sort           sessiondb.SearchSort `json:"sort"`
		Limit          *int                 `json:"limit"`
		Offset         int                  `json:"offset"`
	}
	remarshal(t, c.Args, &args)
	var want, got []recordedHit
	remarshal(t, c.Result, &want)
	q := sessiondb.SearchQuery{Text: args.Query, Sources: args.Sources, ExcludeSources: args.ExcludeSources,
		Roles: args.Roles, Sort: args.Sort, Offset: args.Offset}
	if args.Limit != nil {
		if q.Limit = *args.Limit; q.Limit == 0 {
			return "" // a page of nothing is the caller's to refuse: here 0 is the default
		}
	}
	found, err := db.Search(t.Context(), q)
	if err != nil {
		t.Fatalf("%s: %v", c.Case, err)
	}
	remarshal(t, found.Hits, &got)
	var ranks []float64
	if len(c.Ranks) > 0 {
		remarshal(t, c.Ranks, &ranks)
	}
	return cmp.Diff(want, inRecordedOrder(want, got, ranks))
}

// inRecordedOrder puts hits of equal rank in the order in which they were
// recorded, which was that of a query plan. A tie that ends the page may have
// other members.
func inRecordedOrder(want, got []recordedHit, ranks []float64) []recordedHit {
	if len(ranks) != len(got) || len(want) != len(got) {
		return got
	}
	out := append([]recordedHit{}, got...)
	for from := 0; from < len(ranks); {
		to := from
		for to < len(ranks) && ranks[to] == ranks[from] {
			to++
		}
		for i := from; i < to; i++ {
			for j := i; j < to; j++ {
				if out[j].ID == want[i].ID {
					out[i], out[j] = out[j], out[i]
				}
			}
		}
		if to == len(ranks) && to-from > 1 {
			copy(out[from:], want[from:])
		}
		from = to
	}
	return out
}

func remarshal(t *testing.T, from, to any) {
	t.Helper()
	b, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(b, to)
	}
	if err != nil {
		t.Fatal(err)
	}
}

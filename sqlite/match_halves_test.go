package sqlite

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// rankedStore makes a store of random messages and opens it twice: once it is read in
// halves, once it never is.
func rankedStore(t *testing.T) (halved, whole *store) {
	t.Helper()
	path := newPath(t)
	halved = openWith(t, path, Options{}, settings{split: 1})
	whole = openWith(t, path, Options{}, settings{split: math.MaxInt64})
	r := rand.New(rand.NewPCG(3, 4))
	var ms []sessiondb.Message
	for range 600 {
		ms = append(ms, sessiondb.Message{Role: "user", Content: sessiondb.Text(randomText(r, 1+r.IntN(6)) + strings.Repeat(" docker", r.IntN(3)))})
	}
	if _, err := db(halved).CreateSession(t.Context(), sessiondb.NewSession{ID: "s", Source: "cli"}); err != nil {
		t.Fatal(err)
	}
	if _, err := db(halved).AppendMessages(t.Context(), "s", ms); err != nil {
		t.Fatal(err)
	}
	return halved, whole
}

// TestHalves compares what two connections rank with what one does.
func TestHalves(t *testing.T) {
	halved, whole := rankedStore(t)
	for _, query := range []string{"docker", "a", "docker deploy", "docker OR er", `"docker docker"`, "doc*", "배포해", "nothing-like-it"} {
		for _, limit := range []int{1, 7, 50, 1000} {
			q := sessiondb.SearchQuery{Text: query, Limit: limit, Offset: limit / 7, CountTotal: true}
			got, err := db(halved).Search(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			want, err := db(whole).Search(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s, %d:\n%s", query, limit, d)
			}
		}
	}
}

// TestHalvesTakeTwo holds that a large store is read in halves at all, and that
// who finds no second connection free reads with one.
func TestHalvesTakeTwo(t *testing.T) {
	s, _ := rankedStore(t)
	second := func() (there bool) {
		err := s.Read(t.Context(), func(q engine.Queryer) error {
			r := s.secondOfIndex(t.Context(), q, "messages_fts")
			if there = r != nil; there {
				s.endRead(r, nil)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return there
	}
	if !second() {
		t.Error("no second connection")
	}
	for range maxReaders - 1 {
		c, err := s.readers.take(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer s.readers.put(c, true)
	}
	if second() {
		t.Error("a connection more than there are")
	}
	if r, err := db(s).Search(t.Context(), sessiondb.SearchQuery{Text: "docker"}); err != nil || len(r.Hits) == 0 {
		t.Errorf("%d hits, %v", len(r.Hits), err)
	}
}

// TestHalvesSeeTheSame holds that a second connection finds what the first does,
// whatever is committed meanwhile: none is used otherwise.
func TestHalvesSeeTheSame(t *testing.T) {
	s, other := rankedStore(t)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { changeUntil(t, other, stop) })
	pairs, refused := 0, 0
	for range 300 {
		err := s.Read(t.Context(), func(q engine.Queryer) error {
			ours, err := found(t.Context(), q)
			if err != nil {
				return err
			}
			second := s.secondOfIndex(t.Context(), q, "messages_fts")
			if second == nil {
				refused++
				return nil
			}
			defer s.endRead(second, nil)
			pairs++
			theirs, err := found(t.Context(), second)
			if ours != theirs {
				t.Errorf("one finds %s, the other %s", ours, theirs)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	wg.Wait()
	if pairs == 0 || refused == 0 {
		t.Errorf("%d times the same, %d times not", pairs, refused)
	}
}

// changeUntil adds, changes and takes away messages.
func changeUntil(t *testing.T, s *store, stop chan struct{}) {
	for i := 0; ; i++ {
		select {
		case <-stop:
			return
		default:
		}
		ctx := context.WithoutCancel(t.Context())
		err := s.Write(ctx, func(tx engine.Execer) error {
			statement := []string{
				`INSERT INTO messages (session_id, role, content, timestamp) VALUES ('s', 'user', 'docker', 1)`,
				`UPDATE messages SET content = content || ' docker' WHERE id = (SELECT MAX(id) FROM messages)`,
				`DELETE FROM messages WHERE id = (SELECT MAX(id) FROM messages)`,
			}[i%3]
			_, err := tx.Exec(ctx, statement)
			return err
		})
		if err != nil {
			t.Error(err)
			return
		}
	}
}

// found tells the hits of a word with their ranks.
func found(ctx context.Context, q engine.Queryer) (string, error) {
	rows, err := q.Query(ctx, `SELECT rowid, rank FROM messages_fts WHERE messages_fts MATCH 'docker' ORDER BY rowid DESC LIMIT 30`)
	if err != nil {
		return "", err
	}
	defer func() { _ = rows.Close() }()
	var out strings.Builder
	for rows.Next() {
		var id int64
		var rank float64
		if err := rows.Scan(&id, &rank); err != nil {
			return "", err
		}
		_, _ = fmt.Fprint(&out, id, ":", rank, " ")
	}
	return out.String(), rows.Err()
}

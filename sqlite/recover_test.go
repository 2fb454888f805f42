package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/fixture"
)

// recovered runs Recover into a folder of its own and checks the new store.
func recovered(t *testing.T, src string) (dst string, report RecoverReport) {
	t.Helper()
	dst = filepath.Join(t.TempDir(), "new.db")
	report, err := Recover(t.Context(), src, dst, RecoverOptions{})
	if err != nil {
		t.Fatal(err)
	}
	nothingWrong(t, dst)
	return dst, report
}

// nothingWrong expects a store in which nothing is left to mend.
func nothingWrong(t *testing.T, path string) {
	t.Helper()
	found, err := Check(t.Context(), path, sessiondb.CheckOptions{Full: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		if f.Severity.Bad() {
			t.Errorf("%s: %s", f.Code, f.What)
		}
	}
}

var recoveredRow = regexp.MustCompile("(?m)^\\| `(v11-[a-z0-9-]+\\.db)` \\| [^|]+ \\| (\\d+) \\| (\\d+) \\| (\\d+) \\|$")

// TestRecoverDamaged recovers every damaged store and compares with the table in
// docs/operations.md.
func TestRecoverDamaged(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and no goroutines meet in it")
	}
	doc, err := os.ReadFile("../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string][]string{}
	for _, row := range recoveredRow.FindAllStringSubmatch(string(doc), -1) {
		documented[row[1]] = row[2:]
	}
	for _, name := range fixture.Names(t, "damaged") {
		t.Run(name, func(t *testing.T) {
			src := fixture.Copy(t, name)
			report := RecoverReport{}
			if want := documented[name]; len(want) > 0 && want[0] == "0" {
				nothingRecovered(t, src)
			} else {
				_, report = recovered(t, src)
			}
			m := report.Table("messages")
			if m.Cut+m.Lost+m.Found > 0 {
				t.Errorf("messages: %+v", m)
			}
			var got []string
			for _, n := range []int64{report.Table("sessions").Rows, m.Rows, m.Rebuilt} {
				got = append(got, strconv.FormatInt(n, 10))
			}
			if diff := cmp.Diff(documented[name], got); diff != "" {
				t.Errorf("documented (-), recovered (+):\n%s", diff)
			}
		})
	}
}

// nothingRecovered expects that nothing of a store is found, nor made.
func nothingRecovered(t *testing.T, src string) {
	t.Helper()
	dir := t.TempDir()
	_, err := Recover(t.Context(), src, filepath.Join(dir, "new.db"), RecoverOptions{})
	wantErr(t, err, sessiondb.ErrNotStore)
	if entries, _ := os.ReadDir(dir); len(entries) > 0 {
		t.Errorf("%v is left", entries)
	}
}

// TestRecoverLeavesNoTrace: neither the damaged file nor anything beside it
// changes.
func TestRecoverLeavesNoTrace(t *testing.T) {
	for _, name := range []string{"v11-dangling-wal.db", "v11-hot-journal.db", "v11-badpage-messages.db", "hermes-v8.db"} {
		src := fixture.Copy(t, name)
		type state struct {
			Hash string
			At   time.Time
		}
		look := func() map[string]state {
			out := map[string]state{}
			for _, suffix := range neighbours(t, src) {
				info, err := os.Stat(src + suffix)
				if err != nil {
					t.Fatal(err)
				}
				out[suffix] = state{hash(t, src+suffix), info.ModTime()}
			}
			return out
		}
		before := look()
		recovered(t, src)
		if diff := cmp.Diff(before, look()); diff != "" {
			t.Errorf("%s changed:\n%s", name, diff)
		}
	}
}

// TestRecoverUnlessOpenHere: reading a file with ordinary calls would take the
// locks of this process away.
func TestRecoverUnlessOpenHere(t *testing.T) {
	s := fresh(t)
	dst := filepath.Join(t.TempDir(), "new.db")
	_, err := Recover(t.Context(), s.path, dst, RecoverOptions{})
	wantErr(t, err, sessiondb.ErrInvalid)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Recover(t.Context(), s.path, dst, RecoverOptions{}); err != nil {
		t.Error(err)
	}
}

func wantErr(t *testing.T, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("error %v, want %v", got, want)
	}
}

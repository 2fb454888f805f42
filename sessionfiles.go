package sessiondb

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// sessionFiles are the files that an agent keeps beside the store:
//
//	<id>.json, <id>.jsonl         transcripts
//	request_dump_<id>_*.json      requests kept for debugging
//
// An id never becomes part of a path. Names come from reading the folder and
// are compared with ids, and what is removed is removed within the folder, so
// that no id reaches a file elsewhere. A name may fit several ids, since ids
// hold underscores too: request_dump_a_b_1.json is a dump of a or of a_b. It
// belongs to the longest that is known, and goes with that one only.
type sessionFiles struct {
	root   *os.Root
	claims map[string][]string // names by the ids they fit
	gone   map[string]bool     // ids deleted so far
	dryRun bool
}

const dumpPrefix = "request_dump_"

// openSessionFiles reads a folder. No folder, or one that does not exist, is
// nil.
func openSessionFiles(dir string, dryRun bool) (*sessionFiles, error) {
	if dir == "" {
		return nil, nil
	}
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		_ = root.Close()
		return nil, err
	}
	f := &sessionFiles{root: root, claims: map[string][]string{}, gone: map[string]bool{}, dryRun: dryRun}
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		for _, id := range claimants(e.Name()) {
			f.claims[id] = append(f.claims[id], e.Name())
		}
	}
	return f, nil
}

func (f *sessionFiles) close() {
	if f != nil {
		_ = f.root.Close()
	}
}

// transcriptOf returns the id whose transcript a name would be, or "".
func transcriptOf(name string) string {
	for _, ext := range []string{".json", ".jsonl"} {
		if id, ok := strings.CutSuffix(name, ext); ok {
			return id
		}
	}
	return ""
}

// dumpOf returns the ids whose request dump a name can be, longest first.
func dumpOf(name string) (ids []string) {
	rest, isDump := strings.CutPrefix(name, dumpPrefix)
	rest, isJSON := strings.CutSuffix(rest, ".json")
	if !isDump || !isJSON {
		return nil
	}
	for i := len(rest) - 1; i > 0; i-- {
		if rest[i] == '_' {
			ids = append(ids, rest[:i])
		}
	}
	return ids
}

func claimants(name string) []string {
	ids := dumpOf(name)
	if id := transcriptOf(name); id != "" {
		ids = append(ids, id)
	}
	return ids
}

// remove removes the files of sessions that are deleted. It returns the names
// removed, or with dryRun those that would be, and what went wrong.
func (f *sessionFiles) remove(ctx context.Context, db *DB, ids []string) (names, problems []string) {
	if f == nil {
		return nil, nil
	}
	fit := map[string]bool{}
	for _, id := range ids {
		f.gone[id] = true
		for _, name := range f.claims[id] {
			fit[name] = true
		}
	}
	others, err := f.others(ctx, db, fit)
	if err != nil {
		return nil, []string{err.Error()}
	}
	for _, name := range slices.Sorted(maps.Keys(fit)) {
		if !f.belongs(name, others) {
			continue
		}
		if err := f.unlink(name); err != nil {
			problems = append(problems, err.Error())
			continue
		}
		names = append(names, name)
	}
	return names, problems
}

func (f *sessionFiles) unlink(name string) error {
	if !f.dryRun {
		if err := f.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	for _, id := range claimants(name) {
		f.claims[id] = slices.DeleteFunc(f.claims[id], func(n string) bool { return n == name })
	}
	return nil
}

// others returns the ids that claim one of the names and are not deleted: those
// of sessions, and those that have a transcript in the folder.
func (f *sessionFiles) others(ctx context.Context, db *DB, names map[string]bool) (map[string]bool, error) {
	others := map[string]bool{}
	var ask []string
	for name := range names {
		for _, id := range claimants(name) {
			if f.gone[id] {
				continue
			}
			ask = append(ask, id)
			if f.hasTranscript(id) {
				others[id] = true
			}
		}
	}
	slices.Sort(ask)
	err := db.read(ctx, func(q engine.Queryer) error {
		return eachIn(ctx, q, func(r engine.Rows) error {
			var id string
			err := r.Scan(&id)
			others[id] = true
			return err
		}, `SELECT id FROM sessions WHERE id IN`, slices.Compact(ask))
	})
	return others, err
}

// hasTranscript reports whether the folder has a transcript of an id, and not
// just a request dump that could be one.
func (f *sessionFiles) hasTranscript(id string) bool {
	return !strings.HasPrefix(id, dumpPrefix) &&
		slices.ContainsFunc(f.claims[id], func(name string) bool { return transcriptOf(name) == id })
}

// belongs reports whether a name is that of a deleted session and of no other.
func (f *sessionFiles) belongs(name string, others map[string]bool) bool {
	transcript := transcriptOf(name)
	if others[transcript] {
		return false
	}
	for _, id := range dumpOf(name) {
		if others[id] {
			return false
		}
		if f.gone[id] {
			return true
		}
	}
	return f.gone[transcript]
}

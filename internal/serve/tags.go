package serve

import (
	"context"
	"slices"

	"github.com/sessiondb-go/sessiondb"
)

// tagFilter is the part of a page that narrows by tags.
type tagFilter struct {
	Tags    []string // all of them are on what is shown
	AllTags []string // to choose from
}

// Tag is the one that is chosen among all.
func (f *tagFilter) Tag() string {
	if len(f.Tags) == 0 {
		return ""
	}
	return f.Tags[0]
}

// OtherTags are all but the one that is chosen.
func (f *tagFilter) OtherTags() []string { return f.Tags[min(1, len(f.Tags)):] }

// offer reads the tags there are, the most used one first, and the chosen one.
func (f *tagFilter) offer(ctx context.Context, db *sessiondb.DB) error {
	all, err := db.AllTags(ctx)
	for _, t := range all {
		f.AllTags = append(f.AllTags, t.Tag)
	}
	if chosen := f.Tag(); chosen != "" && !slices.Contains(f.AllTags, chosen) {
		f.AllTags = append(f.AllTags, chosen)
	}
	return err
}

// givenTags are the tags that are asked for, as they are stored; the choice of all is
// empty.
func givenTags(values []string) (tags []string) {
	for _, v := range values {
		if clean, err := sessiondb.CleanTag(v); err == nil {
			v = clean
		}
		if v != "" {
			tags = append(tags, v)
		}
	}
	return tags
}

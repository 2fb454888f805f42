package sessiondb

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// A tag is on a conversation, and kept at the first session of it: what continues
// that one has the same tags.

var tagsTable = addedTable{"sessiondb_tags", `CREATE TABLE IF NOT EXISTS sessiondb_tags (
    session_id TEXT NOT NULL,
    tag TEXT NOT NULL,
    PRIMARY KEY (session_id, tag)
)`}

const addTagSQL = `INSERT INTO sessiondb_tags (session_id, tag) VALUES (?, ?) ON CONFLICT DO NOTHING`

// MaxTag is the length a tag may have, in characters.
const MaxTag = 50

// CleanTag returns a tag as it is stored: lower case, without a # before it. One
// that is empty or too long, begins with + or -, or has white space, a comma or a
// control character in it is [ErrInvalid].
func CleanTag(tag string) (string, error) {
	clean := wantedTag(tag)
	switch bad := func(r rune) bool {
		return r == ',' || unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
	}; {
	case clean == "":
		return "", fmt.Errorf("%w: an empty tag", ErrInvalid)
	case utf8.RuneCountInString(clean) > MaxTag:
		return "", fmt.Errorf("%w: a tag has at most %d characters", ErrInvalid, MaxTag)
	case clean[0] == '+' || clean[0] == '-' || strings.ContainsFunc(clean, bad):
		return "", fmt.Errorf("%w: the tag %q: it is one word", ErrInvalid, tag)
	}
	return clean, nil
}

func cleanTags(tags []string) (out []string, err error) {
	for _, t := range tags {
		clean, err := CleanTag(t)
		if err != nil {
			return nil, err
		}
		out = append(out, clean)
	}
	return out, nil
}

// Tag adds tags to the conversation that a session belongs to, takes others away,
// and returns those that it then has, in order. A tag that is in both lists stays.
// An unknown session is [ErrNotFound].
func (db *DB) Tag(ctx context.Context, id string, add, remove []string) (_ []string, err error) {
	defer wrap(&err, "tag %s", id)
	if add, err = cleanTags(add); err != nil {
		return nil, err
	}
	if remove, err = cleanTags(remove); err != nil {
		return nil, err
	}
	return db.retag(ctx, id, add, func(tx engine.Execer, root string) error {
		for _, t := range remove {
			if _, err := tx.Exec(ctx, `DELETE FROM sessiondb_tags WHERE session_id = ? AND tag = ?`, root, t); err != nil {
				return err
			}
		}
		return nil
	})
}

// SetTags gives the conversation that a session belongs to these tags and no others,
// and returns them, in order. An unknown session is [ErrNotFound].
func (db *DB) SetTags(ctx context.Context, id string, tags []string) (_ []string, err error) {
	defer wrap(&err, "tag %s", id)
	if tags, err = cleanTags(tags); err != nil {
		return nil, err
	}
	return db.retag(ctx, id, tags, func(tx engine.Execer, root string) error {
		return tagsTable.forget(ctx, tx, []string{root})
	})
}

// SplitTags are the tags in a line that a person typed, with spaces or commas between.
func SplitTags(line string) []string {
	return strings.FieldsFunc(line, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
}

// retag takes tags away from a conversation and adds others.
func (db *DB) retag(ctx context.Context, id string, add []string, remove func(tx engine.Execer, root string) error) (tags []string, err error) {
	err = db.write(ctx, func(tx engine.Execer) error {
		root, err := conversationOf(ctx, tx, id)
		if err != nil {
			return err
		}
		if err := tagsTable.make(ctx, tx); err != nil {
			return err
		}
		if err := remove(tx, root); err != nil {
			return err
		}
		if err := addTags(ctx, tx, root, add); err != nil {
			return err
		}
		all, err := keptTags(ctx, tx, []string{root})
		tags = all[root]
		return err
	})
	return tags, err
}

// addTags tags the first session of a conversation.
func addTags(ctx context.Context, tx engine.Execer, root string, tags []string) error {
	for _, t := range tags {
		if _, err := tx.Exec(ctx, addTagSQL, root, t); err != nil {
			return err
		}
	}
	return nil
}

// conversationOf returns the first session of the chain that one belongs to.
func conversationOf(ctx context.Context, q engine.Queryer, id string) (string, error) {
	ok, err := sessionExists(ctx, q, id)
	if err == nil && !ok {
		err = ErrNotFound
	}
	if err != nil {
		return "", err
	}
	root, _, err := chainRoot(ctx, q, id)
	return root, err
}

// Tags returns the tags of the conversation that a session belongs to, in order.
// An unknown session is [ErrNotFound].
func (db *DB) Tags(ctx context.Context, id string) (tags []string, err error) {
	defer wrap(&err, "tags of %s", id)
	err = db.readPast(ctx, func(q engine.Queryer) error {
		root, err := conversationOf(ctx, q, id)
		if err != nil {
			return err
		}
		all, err := tagsOf(ctx, q, root)
		tags = all[root]
		return err
	})
	return tags, err
}

// tagsOf reads the tags that are kept at sessions, in order.
func tagsOf(ctx context.Context, q engine.Queryer, ids ...string) (map[string][]string, error) {
	if some, err := tagsTable.exists(ctx, q); err != nil || !some {
		return nil, err
	}
	return keptTags(ctx, q, ids)
}

// keptTags is tagsOf where there is the table.
func keptTags(ctx context.Context, q engine.Queryer, ids []string) (map[string][]string, error) {
	tags := map[string][]string{}
	err := eachIn(ctx, q, func(r engine.Rows) error {
		var id, tag string
		err := r.Scan(&id, &tag)
		tags[id] = append(tags[id], tag)
		return err
	}, `SELECT g.session_id, g.tag FROM sessiondb_tags g WHERE g.session_id IN`, ids)
	for _, t := range tags {
		slices.Sort(t)
	}
	return tags, err
}

// TagCount is a tag and how many conversations have it.
type TagCount struct {
	Tag           string `json:"tag"`
	Conversations int64  `json:"conversations"`
}

// AllTags returns the tags in use, the most used first, equal ones in order.
func (db *DB) AllTags(ctx context.Context) (out []TagCount, err error) {
	defer wrap(&err, "list tags")
	err = db.readPast(ctx, func(q engine.Queryer) error {
		out = nil
		if some, err := tagsTable.exists(ctx, q); err != nil || !some {
			return err
		}
		return eachRow(ctx, q, func(r engine.Rows) error {
			var t TagCount
			err := r.Scan(&t.Tag, &t.Conversations)
			out = append(out, t)
			return err
		}, `SELECT g.tag, COUNT(*) FROM sessiondb_tags g JOIN sessions c ON c.id = g.session_id GROUP BY g.tag ORDER BY COUNT(*) DESC, g.tag`)
	})
	return out, err
}

package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// checkable lists the full-text indexes that can be held against the messages:
// those in the form of this schema that are not damaged.
func (k *checker) checkable() (out []string) {
	if k.shape == nil || k.shape.version != SchemaVersion || k.shape.missingColumns("messages") != nil || !k.shape.has("messages") {
		return nil
	}
	for _, index := range indexes {
		if k.shape.has(index+"_docsize") && !k.indexDamaged(index) {
			out = append(out, index)
		}
	}
	return out
}

// indexRows says whether the full-text indexes hold every message, and no
// others.
func (k *checker) indexRows(ctx context.Context, c *conn) error {
	for _, index := range k.checkable() {
		missing, extra, err := missedRows(ctx, c, index)
		if err != nil {
			return err
		}
		if missing+extra > 0 {
			k.stale = append(k.stale, index)
			k.add("index_rows", "full-text index %s lacks %d messages and has %d that are gone", index, missing, extra)
		}
	}
	if k.shape == nil || !k.shape.has("state_meta") {
		return nil
	}
	err := c.queryRow(ctx, []any{new(string)}, "SELECT key FROM state_meta NOT INDEXED WHERE key = ?", staleKey)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err == nil {
		k.stale = append(k.stale, indexes...)
		k.add("index_stale", "messages were stored past a damaged full-text index: a search may not find them")
	}
	return err
}

// missedRows counts messages that a full-text index lacks, and what it has that
// is no message.
func missedRows(ctx context.Context, c *conn, index string) (missing, extra int64, err error) {
	err = c.queryRow(ctx, []any{&missing, &extra}, `SELECT
 (SELECT COUNT(*) FROM messages m NOT INDEXED WHERE NOT EXISTS (SELECT 1 FROM `+index+`_docsize d WHERE d.id = m.id)),
 (SELECT COUNT(*) FROM `+index+`_docsize d WHERE NOT EXISTS (SELECT 1 FROM messages m WHERE m.id = d.id))`)
	return missing, extra, err
}

// otherText is a condition on a message m and what an index holds of it, i.
const otherText = ` i.c0 IS NOT (` + indexedText + `)`

// indexTexts compares the text that the indexes hold with that of the messages.
// With what the indexes say of themselves, that makes the words of the index
// those of the messages. An index without a copy of the text is compared by its
// words, which takes as long as to make it: only in full.
func (k *checker) indexTexts(ctx context.Context, c *conn) error {
	for _, index := range k.checkable() {
		var n int64
		var first *int64
		if k.shape.has(index + "_content") {
			err := c.queryRow(ctx, []any{&n, &first}, `SELECT COUNT(*), MIN(m.id) FROM messages m NOT INDEXED JOIN `+index+`_content i ON i.id = m.id WHERE`+otherText)
			if err != nil {
				return err
			}
			if n > 0 {
				if err := k.otherTexts(ctx, c, index, n, *first); err != nil {
					return err
				}
			}
			continue
		}
		if !k.full {
			continue
		}
		same, err := matchesMessages(ctx, c, index)
		if err != nil {
			return err
		}
		if !same {
			k.stale = append(k.stale, index)
			k.add("index_text", "full-text index %s has other words than the messages", index)
		}
	}
	return nil
}

// otherTexts tells of n messages that an index has another text of: which of the
// two was lost.
func (k *checker) otherTexts(ctx context.Context, c *conn, index string, n, first int64) error {
	lost, id, err := textsLost(ctx, c, index)
	if err != nil {
		return err
	}
	if lost > 0 && k.lostTexts == "" {
		k.lostTexts = whatLost(lost, id, index)
		k.add("text_lost", "%s", k.lostTexts)
	}
	if n > lost {
		k.stale = append(k.stale, index)
		k.add("index_text", "full-text index %s has another text for %d messages, the first of them %d", index, n-lost, first)
	}
	return nil
}

// expected are the types that a column may have, next to NULL.
var expected = map[string]string{"TEXT": "'text'", "REAL": "'real', 'integer'", "INTEGER": "'integer'"}

// types counts values that are of another type than their column.
func (k *checker) types(ctx context.Context, c *conn) error {
	if !k.ours() {
		return nil
	}
	for _, table := range []string{"sessions", "messages"} {
		if !k.shape.has(table) {
			continue
		}
		var sums, names []string
		for _, col := range columnsOf(table) {
			if !k.shape.hasColumn(table, col.name) {
				continue
			}
			kind, _, _ := strings.Cut(col.decl, " ")
			also := ", 'null'"
			if strings.Contains(col.decl, "NOT NULL") || strings.Contains(col.decl, "PRIMARY KEY") {
				also = ""
			}
			sums = append(sums, fmt.Sprintf("TOTAL(typeof(%s) NOT IN (%s%s))", col.name, expected[kind], also))
			names = append(names, table+"."+col.name)
		}
		counts := make([]float64, len(sums))
		targets := make([]any, len(sums))
		for i := range counts {
			targets[i] = &counts[i]
		}
		if err := c.queryRow(ctx, targets, "SELECT "+strings.Join(sums, ", ")+" FROM main."+table+" NOT INDEXED"); err != nil {
			return err
		}
		for i, n := range counts {
			switch {
			case n == 1:
				k.add("odd_values", "1 value of %s is of another type", names[i])
			case n > 0:
				k.add("odd_values", "%.0f values of %s are of another type", n, names[i])
			}
		}
	}
	return nil
}

// encoding reads every text and counts those that are not UTF-8.
func (k *checker) encoding(ctx context.Context, c *conn) error {
	if !k.full || k.shape == nil {
		return nil
	}
	for _, table := range []string{"sessions", "messages"} {
		for _, col := range columnsOf(table) {
			if !strings.HasPrefix(col.decl, "TEXT") || !k.shape.hasColumn(table, col.name) {
				continue
			}
			n, err := notUTF8(ctx, c, "SELECT "+col.name+" FROM main."+table+" NOT INDEXED WHERE typeof("+col.name+") = 'text'")
			if err != nil {
				return err
			}
			if n > 0 {
				k.add("invalid_utf8", "%d values of %s.%s are not valid UTF-8", n, table, col.name)
			}
		}
	}
	return nil
}

func notUTF8(ctx context.Context, c *conn, query string) (n int64, err error) {
	rows, err := c.query(ctx, query)
	if err != nil {
		return 0, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return n, err
		}
		if !utf8.ValidString(s) {
			n++
		}
	}
	return n, rows.Err()
}

package sessiondb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// MaxTitle is the length a title may have, in characters.
const MaxTitle = 100

// CleanTitle returns a title as it is stored: control and invisible characters
// out, runs of white space to one space, trimmed. Over MaxTitle characters is
// [ErrTitleInvalid]. Joiners stay where they join: in emoji, and between
// letters of scripts that need them.
func CleanTitle(title string) (string, error) {
	runes := []rune(validText(title))
	var kept []rune
	for i, r := range runes {
		if keepInTitle(runes, i) {
			kept = append(kept, r)
		}
	}
	clean := strings.Join(strings.FieldsFunc(string(kept), unicode.IsSpace), " ")
	if n := utf8.RuneCountInString(clean); n > MaxTitle {
		return "", fmt.Errorf("%w: it has %d characters, at most %d are allowed", ErrTitleInvalid, n, MaxTitle)
	}
	return clean, nil
}

const (
	zeroWidthNonJoiner = '\u200c'
	zeroWidthJoiner    = '\u200d'
)

func keepInTitle(runes []rune, i int) bool {
	r := runes[i]
	switch {
	case r == zeroWidthJoiner || r == zeroWidthNonJoiner:
		return i > 0 && i < len(runes)-1 && joins(runes[i-1]) && joins(runes[i+1])
	case r == '\t', r == '\n', r == '\r', r == 0x85:
		return true
	case unicode.IsControl(r),
		r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x2069,
		r == 0xfeff, r == 0xfffc, r >= 0xfff9 && r <= 0xfffb:
		return false
	}
	return true
}

// joins reports whether a joiner beside r means something: in an emoji
// sequence, or in the scripts of Arabic and of South Asia.
func joins(r rune) bool {
	return r == 0xfe0f || r >= 0x1f000 && r <= 0x1faff || r >= 0x2190 && r <= 0x2bff ||
		unicode.In(r, unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Devanagari, unicode.Bengali,
			unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada,
			unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar)
}

// SetTitle names a session; an empty title clears the name. A title that
// another session holds is a [*TitleTakenError], unless the holder is an ended
// session that this one continues: then the title moves. An unknown session is
// [ErrNotFound].
func (db *DB) SetTitle(ctx context.Context, id, title string) (err error) {
	defer wrap(&err, "set title of %s", id)
	clean, err := CleanTitle(title)
	if err != nil {
		return err
	}
	return db.writeAbout(ctx, func(tx engine.Execer) error { return setTitle(ctx, tx, id, clean) }, id, allTitles)
}

// SetTitleAuto names a session, with the next free ` #N` when the title is
// taken, and returns the title that was set.
func (db *DB) SetTitleAuto(ctx context.Context, id, title string) (set string, err error) {
	defer wrap(&err, "set title of %s", id)
	clean, err := CleanTitle(title)
	if err != nil {
		return "", err
	}
	err = db.writeAbout(ctx, func(tx engine.Execer) error {
		set = clean
		err := setTitle(ctx, tx, id, clean)
		if !errors.Is(err, ErrTitleTaken) {
			return err
		}
		if set, err = nextTitle(ctx, tx, clean); err != nil {
			return err
		}
		return setTitle(ctx, tx, id, set)
	}, id, allTitles)
	if err != nil {
		return "", err
	}
	return set, nil
}

func setTitle(ctx context.Context, tx engine.Execer, id, title string) error {
	if title != "" {
		if err := freeTitle(ctx, tx, id, title); err != nil {
			return err
		}
	}
	n, err := tx.Exec(ctx, `UPDATE sessions SET title = ? WHERE id = ?`, textOrNull(title), id)
	if err == nil && n == 0 {
		err = ErrNotFound
	}
	return err
}

// freeTitle makes sure that no session but id holds the title.
func freeTitle(ctx context.Context, tx engine.Execer, id, title string) error {
	holders, err := queryStrings(ctx, tx, `SELECT id FROM sessions WHERE title = ? AND id <> ? ORDER BY id`, title, id)
	if err != nil || len(holders) == 0 {
		return err
	}
	continued, _, err := climb(ctx, tx, id, isContinuation)
	if err != nil {
		return err
	}
	for _, h := range holders {
		if !slices.Contains(continued[1:], h) {
			return &TitleTakenError{Title: title, Holder: h}
		}
		if _, err := tx.Exec(ctx, `UPDATE sessions SET title = NULL WHERE id = ?`, h); err != nil {
			return err
		}
	}
	return nil
}

// SessionByTitle returns the session of exactly that title, or [ErrNotFound].
func (db *DB) SessionByTitle(ctx context.Context, title string) (s Session, err error) {
	defer wrap(&err, "session titled %q", title)
	err = db.readPast(ctx, func(q engine.Queryer) error {
		err := q.QueryRow(ctx, `SELECT `+selectColumns("s", sessionColumns)+` FROM sessions s
 WHERE s.title = ? ORDER BY s.started_at DESC, s.id DESC LIMIT 1`, validText(title)).Scan(s.scanTargets()...)
		if errors.Is(err, sql.ErrNoRows) {
			err = ErrNotFound
		}
		return err
	})
	return s, err
}

// SessionsTitled returns up to limit sessions whose title has part in it,
// whatever the case of its ASCII letters, most recently started first. It looks
// at each session for itself: parts of one conversation may all be there. White
// space around part does not count; an empty part finds none.
func (db *DB) SessionsTitled(ctx context.Context, part string, limit int) (out []Session, err error) {
	defer wrap(&err, "sessions titled like %q", part)
	part = strings.TrimSpace(validText(part))
	if part == "" || limit <= 0 {
		return nil, nil
	}
	err = db.readPast(ctx, func(q engine.Queryer) error {
		out, err = titledIn(ctx, q, newestTitles, part, limit)
		if err == nil && len(out) < limit {
			out, err = titledIn(ctx, q, `sessions s WHERE s.title IS NOT NULL`, part, limit)
		}
		return err
	})
	return out, err
}

// newestTitles are the sessions that are looked at first. What many titles have
// is found among them; to sort all of those would take longer.
const newestTitles = `(SELECT * FROM sessions ORDER BY started_at DESC, id DESC LIMIT 2000) s WHERE s.title IS NOT NULL`

func titledIn(ctx context.Context, q engine.Queryer, from, part string, limit int) ([]Session, error) {
	return querySessions(ctx, q, `SELECT `+sessionSelect+` FROM `+from+` AND LOWER(s.title) LIKE LOWER(?) ESCAPE '\'
 ORDER BY s.started_at DESC, s.id DESC LIMIT ?`, likePart(part), limit)
}

// ResolveTitle returns the id of the most recently started `title #N`, else of
// the session with exactly that title, else of `title #N` whatever the case of
// its letters, or [ErrNotFound].
func (db *DB) ResolveTitle(ctx context.Context, title string) (id string, err error) {
	defer wrap(&err, "resolve title %q", title)
	if title == "" {
		return "", ErrNotFound
	}
	title = validText(title)
	err = db.readPast(ctx, func(q engine.Queryer) error {
		id, err = resolveTitle(ctx, q, title)
		return err
	})
	return id, err
}

func resolveTitle(ctx context.Context, q engine.Queryer, title string) (id string, err error) {
	numbered, err := numberedExactly(ctx, q, title)
	if err != nil {
		return "", err
	}
	if len(numbered) == 0 {
		err = q.QueryRow(ctx, `SELECT id FROM sessions WHERE title = ? ORDER BY started_at DESC, id DESC LIMIT 1`, title).Scan(&id)
		if !errors.Is(err, sql.ErrNoRows) {
			return id, err
		}
		if numbered, err = numberedTitles(ctx, q, title); err != nil {
			return "", err
		}
	}
	if len(numbered) == 0 {
		return "", ErrNotFound
	}
	return numbered[0].id, nil
}

// NextTitle returns the next free title of a lineage: the base itself, or
// `base #N`. The base is shortened where the number would not fit.
func (db *DB) NextTitle(ctx context.Context, title string) (next string, err error) {
	defer wrap(&err, "next title after %q", title)
	err = db.readPast(ctx, func(q engine.Queryer) error {
		next, err = nextTitle(ctx, q, title)
		return err
	})
	return next, err
}

func nextTitle(ctx context.Context, q engine.Queryer, title string) (string, error) {
	base, _ := splitTitle(title)
	for {
		numbered, err := numberedTitles(ctx, q, base)
		if err != nil {
			return "", err
		}
		var bare int
		if err := q.QueryRow(ctx, `SELECT COUNT(*) FROM sessions WHERE title = ?`, base).Scan(&bare); err != nil {
			return "", err
		}
		if bare == 0 && len(numbered) == 0 {
			return base, nil
		}
		highest := 1
		for _, t := range numbered {
			highest = max(highest, t.n)
		}
		suffix := " #" + strconv.Itoa(highest+1)
		short := shorten(base, MaxTitle-len(suffix))
		if short == base {
			return base + suffix, nil
		}
		// The shortened base may have a lineage of its own.
		if free, err := numberedTitles(ctx, q, short); err != nil || len(free) == 0 {
			return short + suffix, err
		}
		base = short
	}
}

// shorten cuts s to n characters.
func shorten(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return strings.TrimRightFunc(string(r[:n]), unicode.IsSpace)
	}
	return s
}

// splitTitle splits "plan #3" into "plan" and 3; a title without a number is
// its own base.
func splitTitle(title string) (base string, n int) {
	i := strings.LastIndex(title, " #")
	if i < 0 {
		return title, 0
	}
	digits := title[i+2:]
	for _, r := range digits {
		if r < '0' || r > '9' {
			return title, 0
		}
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n > maxNumber {
		return title, 0
	}
	return title[:i], n
}

// maxNumber is the highest number that one can still be added to.
const maxNumber = math.MaxInt32

type numberedTitle struct {
	id string
	n  int
}

// numberedTitles returns the sessions titled `base #N`, last started first;
// where there is none, those whose title differs in the case of letters only.
func numberedTitles(ctx context.Context, q engine.Queryer, base string) ([]numberedTitle, error) {
	exact, err := numberedExactly(ctx, q, base)
	if err != nil || len(exact) > 0 {
		return exact, err
	}
	// Selecting titles alone is answered by their index.
	titles, err := queryStrings(ctx, q, `SELECT title FROM sessions WHERE title IS NOT NULL AND LOWER(title) LIKE LOWER(?) ESCAPE '\'`,
		likePrefix(base+" #"))
	if err != nil || len(titles) == 0 {
		return nil, err
	}
	titles = titles[:min(len(titles), maxTitleMatches)]
	return numbered(ctx, q, base, `title IN (`+placeholders(len(titles))+`)`, anys(titles)...)
}

// numberedExactly is numberedTitles in the case that is given. The range finds them by
// the index on titles: "$" is the byte after "#".
func numberedExactly(ctx context.Context, q engine.Queryer, base string) ([]numberedTitle, error) {
	return numbered(ctx, q, base, `title > ? AND title < ?`, base+" #", base+" $")
}

// maxTitleMatches bounds a query that lists titles one by one.
const maxTitleMatches = 500

func numbered(ctx context.Context, q engine.Queryer, base, where string, args ...any) (out []numberedTitle, err error) {
	err = eachRow(ctx, q, func(r engine.Rows) error {
		var id, title string
		if err := r.Scan(&id, &title); err != nil {
			return err
		}
		if b, n := splitTitle(title); strings.EqualFold(b, base) && n > 0 {
			out = append(out, numberedTitle{id, n})
		}
		return nil
	}, `SELECT id, title FROM sessions WHERE `+where+` ORDER BY started_at DESC, id DESC`, args...)
	return out, err
}

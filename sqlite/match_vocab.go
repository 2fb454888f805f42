package sqlite

import (
	"database/sql"
	"encoding/json"
	"errors"
	"unicode"
	"unicode/utf8"

	"github.com/sessiondb-go/sessiondb/internal/text"
)

// The vocabularies of the indexes, on every connection for reading. In the first
// two a row is an occurrence of a token, so that the first one of a range costs
// one look; in the last it is a token.
const (
	wordVocab = "sessiondb_words"
	gramVocab = "sessiondb_grams"
	gramTerms = "sessiondb_gram_terms"

	createVocabs = `CREATE VIRTUAL TABLE IF NOT EXISTS temp.` + wordVocab + ` USING fts5vocab(main, ` + wordIndex + `, instance);
CREATE VIRTUAL TABLE IF NOT EXISTS temp.` + gramVocab + ` USING fts5vocab(main, ` + gramIndex + `, instance);
CREATE VIRTUAL TABLE IF NOT EXISTS temp.` + gramTerms + ` USING fts5vocab(main, ` + gramIndex + `, row);`
)

// nextTerm returns the first token of a vocabulary from one on, before another;
// empty when there is none.
func (c *compiler) nextTerm(vocab, from, before string) (term string, err error) {
	err = c.q.QueryRow(c.quick, `SELECT term FROM temp.`+vocab+` WHERE term >= ? AND term < ? LIMIT 1`, from, before).Scan(&term)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return term, err
}

// hasWord reports whether the word index knows a word, or one that begins so.
func (c *compiler) hasWord(word string, prefix bool) (bool, error) {
	end := word + "\x00"
	if prefix {
		end = word + maxRune
	}
	key := word + " " + end
	has, asked := c.words[key]
	if asked {
		return has, nil
	}
	term, err := c.nextTerm(wordVocab, word, end)
	if c.words == nil {
		c.words = map[string]bool{}
	}
	c.words[key] = term != ""
	return term != "", err
}

// charsAfter returns the characters, of those that touch, which follow the end
// of a word somewhere.
func (c *compiler) charsAfter(word []rune) ([]rune, error) {
	end := text.FoldFragment(string(word[max(0, len(word)-2):]))
	return c.charsBehind(end)
}

// charsBehind walks the trigrams that begin with one or two characters, from
// one next character to the next.
func (c *compiler) charsBehind(prefix string) (out []rune, err error) {
	from := firstTouching
	for len(out) < maxTouching {
		term, err := c.nextTerm(gramVocab, prefix+string(from), prefix+maxRune)
		if err != nil || term == "" || len(term) <= len(prefix) {
			return out, err
		}
		r, _ := utf8.DecodeRuneInString(term[len(prefix):])
		if touches(r) {
			out = append(out, r)
			from = r + 1
		} else {
			from = nextTouching(r)
		}
		if from < 0 {
			return out, nil
		}
	}
	return out, nil
}

// charsBefore returns the characters, of those that touch, which stand before
// the beginning of a word somewhere.
func (c *compiler) charsBefore(word []rune) (out []rune, err error) {
	all, err := c.charsKnown()
	if err != nil {
		return nil, err
	}
	list, err := json.Marshal(all)
	if err != nil {
		return nil, err
	}
	cond := `v.term = CHAR(k.value) || ?2`
	if len(word) == 1 {
		cond = `v.term >= CHAR(k.value) || ?2 AND v.term < CHAR(k.value) || ?2 || CHAR(1114111)`
	}
	rows, err := c.q.Query(c.ctx, `SELECT DISTINCT k.value FROM json_each(?1) k CROSS JOIN temp.`+gramTerms+` v WHERE `+cond+` LIMIT ?3`,
		string(list), text.FoldFragment(string(word[:min(2, len(word))])), maxTouching)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var r int64
		if err := rows.Scan(&r); err != nil {
			return nil, err
		}
		out = append(out, rune(r)) // #nosec G115 -- a rune that this process put into the list
	}
	return out, rows.Err()
}

// knownChars are the touching characters of a store that had messages up to an
// id.
type knownChars struct {
	upTo  int64
	chars []rune
}

// charsKnown returns the characters that touch which any message holds.
func (c *compiler) charsKnown() ([]rune, error) {
	var last int64
	if err := c.q.QueryRow(c.quick, `SELECT COALESCE(MAX(id), 0) FROM messages`).Scan(&last); err != nil {
		return nil, err
	}
	if k := c.store.chars.Load(); k != nil && k.upTo == last {
		return k.chars, nil
	}
	k := &knownChars{upTo: last}
	for from := firstTouching; from >= 0; {
		term, err := c.nextTerm(gramVocab, string(from), maxRune)
		if err != nil {
			return nil, err
		}
		if term == "" {
			break
		}
		r, _ := utf8.DecodeRuneInString(term)
		if from = r + 1; touches(r) {
			k.chars = append(k.chars, r)
		} else {
			from = nextTouching(r)
		}
	}
	c.store.chars.Store(k)
	return k.chars, nil
}

const firstTouching = rune(0xa9)

// nextTouching is the next character after r that touches, -1 when there is
// none.
func nextTouching(r rune) rune {
	for r++; r <= unicode.MaxRune; r++ {
		switch {
		case r >= 0xd800 && r < 0xe000:
			r = 0xdfff
		case r >= 0x1fb00 && r < 0x20000:
			r = 0x1ffff
		case r > 0x323af:
			return -1
		case touches(r):
			return r
		}
	}
	return -1
}

package postgres

import (
	"cmp"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// Every text comes back, is stored as what the server takes, and stays in order.
func TestTextComesBack(t *testing.T) {
	texts := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
		rapid.SampledFrom([]string{"\x00json:[1]", "\x01", "\x010", "\x01x80", "a\x00b\x01c\xff"}))
	rapid.Check(t, func(r *rapid.T) {
		a, b := texts.Draw(r, "a"), texts.Draw(r, "b")
		x, y := encodeText(a), encodeText(b)
		if decodeText(x) != a {
			r.Errorf("%q came back as %q", a, decodeText(x))
		}
		if strings.ContainsRune(x, 0) || !utf8.ValidString(x) {
			r.Errorf("%q is stored as %q", a, x)
		}
		if utf8.ValidString(a) && utf8.ValidString(b) && cmp.Compare(a, b) != cmp.Compare(x, y) {
			r.Errorf("%q and %q change their order", a, b)
		}
	})
}

// What another program stored is read as it is.
func TestForeignMark(t *testing.T) {
	for _, s := range []string{"\x01", "a\x01z", "\x01x4", "\x01x41", "\x01xzz"} {
		if got := decodeText(s); got != s {
			t.Errorf("%q is read as %q", s, got)
		}
	}
}

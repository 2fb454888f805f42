package rpc

import (
	"testing"

	"github.com/sessiondb-go/sessiondb/internal/api"
)

func TestConflict(t *testing.T) {
	a, b := []string{"a"}, []string{"b"}
	for _, c := range []struct {
		first, second ticket
		want          bool
	}{
		{ticket{access: api.ReadsSession, sessions: a}, ticket{access: api.ReadsSession, sessions: a}, false},
		{ticket{access: api.ReadsSession, sessions: a}, ticket{access: api.ReadsStore}, false},
		{ticket{access: api.ReadsStore}, ticket{access: api.ReadsStore}, false},
		{ticket{access: api.WritesSession, sessions: a}, ticket{access: api.ReadsSession, sessions: a}, true},
		{ticket{access: api.WritesSession, sessions: a}, ticket{access: api.WritesSession, sessions: a}, true},
		{ticket{access: api.WritesSession, sessions: a}, ticket{access: api.WritesSession, sessions: b}, false},
		{ticket{access: api.WritesSession, sessions: a}, ticket{access: api.ReadsSession, sessions: b}, false},
		{ticket{access: api.WritesSession, sessions: []string{"a", "b"}}, ticket{access: api.ReadsSession, sessions: b}, true},
		{ticket{access: api.WritesSession, sessions: a}, ticket{access: api.ReadsStore}, true},
		{ticket{access: api.WritesSession, sessions: a}, ticket{access: api.MakesFile}, true},
		{ticket{access: api.WritesSession, sessions: []string{""}}, ticket{access: api.WritesSession, sessions: []string{""}}, false},
		{ticket{access: api.WritesStore}, ticket{access: api.ReadsSession, sessions: a}, true},
		{ticket{access: api.WritesStore}, ticket{access: api.WritesStore}, true},
		{ticket{access: api.WritesStore}, ticket{access: api.Nothing}, false},
	} {
		for _, pair := range [][2]*ticket{{&c.first, &c.second}, {&c.second, &c.first}} {
			if got := conflict(pair[0], pair[1]); got != c.want {
				t.Errorf("%+v and %+v: conflict is %v", pair[0], pair[1], got)
			}
		}
	}
}

package postgres

import (
	"testing"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/enginetest"
)

func TestEngine(t *testing.T) {
	needServer(t)
	t.Cleanup(func() { dropEmptied(t) })
	enginetest.Run(t, func(t *testing.T, o enginetest.Options) *sessiondb.DB {
		t.Helper()
		db, err := Open(t.Context(), usedSchema(t), Options{Now: o.Now})
		if err != nil {
			t.Fatal(err)
		}
		return db
	})
}

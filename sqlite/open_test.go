package sqlite

import (
	"path/filepath"
	"testing"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/enginetest"
)

func TestEngine(t *testing.T) {
	enginetest.Run(t, func(t *testing.T, o enginetest.Options) *sessiondb.DB {
		db, err := Open(t.Context(), filepath.Join(t.TempDir(), "state.db"), Options{Now: o.Now})
		if err != nil {
			t.Fatal(err)
		}
		return db
	})
}

package postgres

import (
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
)

func TestPlace(t *testing.T) {
	for dsn, want := range map[string]string{
		"postgres://me:secret@db/work":                                                 "postgres://me@db:5432/work",
		"postgres://me@one,two:5433/work?target_session_attrs=read-write":              "postgres://me@one:5432,two:5433/work?target_session_attrs=read-write",
		"host=one,two user=me dbname=work sslmode=disable target_session_attrs=any":    "postgres://me@one:5432,two:5432/work?target_session_attrs=any",
		"postgres:///work?host=/a,/b&user=me&search_path=team&sslmode=disable":         "postgres://me@/work?host=%2Fa%2C%2Fb&port=5432%2C5432&search_path=team",
		"postgres://me@db/work?options=-cjit%3Don%20-c%20search_path%3Dteam,public":    "postgres://me@db:5432/work?search_path=team",
		"host=db user=me dbname=work options='--search-path=team'":                     "postgres://me@db:5432/work?search_path=team",
		"postgres://me@db/work?search_path=team&options=-csearch_path%3Dother":         "postgres://me@db:5432/work?search_path=team",
		"postgres://me@db/work?role=owner&search_path=team":                            "postgres://me@db:5432/work?role=owner&search_path=team",
		"postgres://me@db/work?options=-crole%3Dother%20-c%20role%3Downer":             "postgres://me@db:5432/work?role=owner",
		"postgres://me@[::1]:5433/work?application_name=target_session_attrs%3Dnobody": "postgres://me@[::1]:5433/work",
	} {
		config, err := pgxpool.ParseConfig(dsn)
		if err != nil {
			t.Fatal(err)
		}
		got := placeOf(config, dsn, schemaOf(config))
		if got != want {
			t.Errorf("%s is at %s, not %s", dsn, got, want)
		}
		if _, err := pgxpool.ParseConfig(got); err != nil {
			t.Errorf("%s: %v", got, err)
		}
	}
}

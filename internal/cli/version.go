package cli

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/sessiondb-go/sessiondb/internal/term"
	"github.com/sessiondb-go/sessiondb/sqlite"
)

// versionInfo is what the version command tells.
type versionInfo struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	SQLite  string `json:"sqlite"`
	Go      string `json:"go"`
	Schema  int    `json:"schema_version"`
}

func (a *app) versionCommand() *cobra.Command {
	return a.reading(&cobra.Command{
		Use:   "version",
		Short: "Print the versions of the program, of SQLite and of the schema",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v := buildVersion()
			if a.json {
				return printJSON(a, v)
			}
			t := a.NewTable(term.Column{Name: "version"}, term.Column{Name: "commit", Drop: 1}, term.Column{Name: "sqlite"}, term.Column{Name: "go"}, term.Column{Name: "schema"})
			if err := t.Row(term.Text(v.Version), term.Text(v.Commit), term.Text(v.SQLite), term.Text(v.Go), term.Int(int64(v.Schema))); err != nil {
				return err
			}
			return t.Flush()
		},
	})
}

func buildVersion() versionInfo {
	v := versionInfo{Version: "(devel)", SQLite: sqlite.EngineVersion, Go: runtime.Version(), Schema: sqlite.SchemaVersion}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if info.Main.Version != "" {
		v.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			v.Commit = s.Value
		}
	}
	return v
}

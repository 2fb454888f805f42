package sqlite

import (
	"context"
	"strings"
)

// viewsFor are the temporary views that show a file of another schema with the
// tables and columns of ours: what a file lacks is NULL, or its declared
// default, and what newer programs hide is hidden. A file of our schema needs
// none.
func viewsFor(sh *shape) (out []string) {
	for _, table := range []string{"sessions", "messages", "state_meta"} {
		if sh.version <= SchemaVersion && sh.has(table) && len(sh.missingColumns(table)) == 0 {
			continue
		}
		out = append(out, "CREATE TEMP VIEW "+table+" AS "+viewOf(sh, table))
	}
	return out
}

func viewOf(sh *shape, table string) string {
	var values []string
	for _, c := range columnsOf(table) {
		values = append(values, viewValue(sh, table, c)+" AS "+c.name)
	}
	if !sh.has(table) {
		return "SELECT " + strings.Join(values, ", ") + " WHERE 0"
	}
	if table == "sessions" && sh.hasColumn(table, "archived") {
		values = append(values, "archived")
	}
	view := "SELECT " + strings.Join(values, ", ") + " FROM main." + table
	if table == "messages" && sh.hasColumn(table, "active") {
		view += " WHERE active IS NOT 0" // rewound or compacted away
	}
	return view
}

// viewValue is the expression for a column.
func viewValue(sh *shape, table string, c column) string {
	switch {
	case !sh.hasColumn(table, c.name):
		if _, def, ok := strings.Cut(c.decl, " DEFAULT "); ok {
			return def
		}
		return "NULL"
	case c.name == "system_prompt" && sh.hasColumn(table, "system_prompt_hash") && sh.has("system_prompts"):
		return "COALESCE(system_prompt, (SELECT p.prompt FROM main.system_prompts p WHERE p.hash = system_prompt_hash))"
	}
	return c.name
}

// createViews makes the views on one connection.
func createViews(ctx context.Context, c *conn, views []string) error {
	for _, v := range views {
		if err := c.script(ctx, v); err != nil {
			return err
		}
	}
	return nil
}

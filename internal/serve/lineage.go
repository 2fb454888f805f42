package serve

import (
	"net/http"

	"github.com/sessiondb-go/sessiondb"
)

// branch is a session of a lineage with what came from it.
type branch struct {
	sessiondb.LineageNode
	This     bool // the one that the page was asked for
	Children []*branch
}

// lineage shows the tree that a session belongs to.
func (s *server) lineage(w http.ResponseWriter, r *http.Request) {
	id := r.URL.Query().Get("id")
	nodes, err := s.db.Lineage(r.Context(), id)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.page(w, http.StatusOK, "lineage", view{Title: "Lineage", Nav: "sessions", Data: growTree(nodes, id)})
}

// growTree hangs nodes, which come depth first, below each other.
func growTree(nodes []sessiondb.LineageNode, id string) (roots []*branch) {
	var path []*branch // to where we are
	for _, n := range nodes {
		b := &branch{LineageNode: n, This: n.ID == id}
		if path = path[:min(n.Depth, len(path))]; len(path) == 0 {
			roots = append(roots, b)
		} else {
			above := path[len(path)-1]
			above.Children = append(above.Children, b)
		}
		path = append(path, b)
	}
	return roots
}

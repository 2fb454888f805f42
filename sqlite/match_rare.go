package sqlite

import "github.com/sessiondb-go/sessiondb/internal/searchql"

// narrowToRare looks for the rarest of the parts that every hit has. Where it has few
// messages, what else is asked for is looked for in those alone. What one index
// answers with an exclusion in it stays as it is: whether that is all that matches
// depends on how many messages there are to look in.
func (c *compiler) narrowToRare(root searchql.Node) error {
	and, ok := root.(*searchql.And)
	if !ok || c.within != nil || c.indexes.words == nil || c.indexes.grams == nil {
		return nil
	}
	if _, _, ok := c.expr(root); ok && !c.canWait(root) {
		return nil
	}
	var rarest searchql.Node
	smallest := c.store.few + 1
	for _, n := range and.Nodes {
		size, err := c.size(n, smallest)
		if err != nil {
			return err
		}
		if size < smallest {
			rarest, smallest = n, size
		}
	}
	if rarest == nil {
		return nil
	}
	part := &compiler{matching: c.matching, terms: map[*searchql.Term]*termPlan{}, ranked: c.ranked}
	if err := part.addPrimary(rarest); err != nil {
		return err
	}
	if err := part.addExtras(rarest); err != nil {
		return err
	}
	hits, err := c.listIDs(part.set(rarest), c.store.few)
	if hits == nil || err != nil {
		return err
	}
	c.within = hits
	return c.addPrimary(root) // anew, within those
}

// size is how many messages a tree matches at most, or most where those are more. What
// an index alone finds tells enough.
func (c *compiler) size(n searchql.Node, most int) (size int, err error) {
	switch n := n.(type) {
	case *searchql.Term:
		if sources := c.terms[n].sources; len(sources) == 1 {
			return c.atMost(c.sourceSet(sources[0]), most)
		}
		return most, nil // all messages are read for one of them
	case *searchql.Or:
		for _, k := range n.Nodes {
			more, err := c.size(k, most)
			if err != nil {
				return 0, err
			}
			size += more
		}
		return min(size, most), nil
	case *searchql.And:
		size = most
		for _, k := range n.Nodes {
			if size, err = c.size(k, size); err != nil {
				return 0, err
			}
		}
	}
	return size, nil
}

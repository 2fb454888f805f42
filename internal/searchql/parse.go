package searchql

import (
	"fmt"
	"strings"
)

// Parse reads what was typed. Any string parses.
func Parse(s string, o Options) Query {
	l := lex(s, o)
	p := &parser{src: l.src, tokens: limit(l), notices: l.notices}
	root := p.parse()
	if root.node == nil && l.marks != "" && len(l.filters) == 0 {
		root.node = &Term{Text: l.marks, Fragment: true}
	}
	if root.not && !p.usedNot {
		// Nothing but -flags: they are what was meant.
		p = &parser{src: l.src, tokens: p.tokens, notices: l.notices, ignoreMinus: true}
		root = p.parse()
	}
	q := Query{Filters: l.filters, Notices: p.notices}
	switch {
	case root.node == nil:
		q.Notices = append(q.Notices, "the query has no searchable terms")
	case root.not:
		q.Notices = append(q.Notices, "the query only excludes: add a word to look for")
	default:
		q.Root = root.node
	}
	return q
}

// limit leaves out the terms beyond the most that a query may have, and those
// that are too long.
func limit(l *lexer) []token {
	var out []token
	terms := 0
	long := false
	for _, t := range l.tokens {
		if t.kind == tokTerm {
			if len(t.term.Text) > MaxTermChars {
				if r := []rune(t.term.Text); len(r) > MaxTermChars {
					long = true
					continue
				}
			}
			if terms++; terms > MaxTerms {
				continue
			}
		}
		out = append(out, t)
	}
	if terms > MaxTerms {
		l.notices = append(l.notices, fmt.Sprintf("only the first %d terms are searched for", MaxTerms))
	}
	if long {
		l.notices = append(l.notices, fmt.Sprintf("terms of more than %d characters are left out", MaxTermChars))
	}
	return out
}

// signed is a node, or all but what the node matches. No node matches nothing
// and is left out of what it stands in.
type signed struct {
	node Node
	not  bool
}

type parser struct {
	src         string
	tokens      []token
	i           int
	depth       int
	usedNot     bool
	ignoreMinus bool
	notices     []string
	last        *token // the word right before, if that is what was read last
}

func (p *parser) notice(s string) {
	for _, n := range p.notices {
		if n == s {
			return
		}
	}
	p.notices = append(p.notices, s)
}

// parse reads everything; a parenthesis that closes nothing is passed over.
func (p *parser) parse() signed {
	var parts []signed
	for p.i < len(p.tokens) {
		parts = append(parts, p.or())
		p.skip(tokClose)
	}
	return p.allOf(parts)
}

func (p *parser) peek(k tokenKind) bool { return p.i < len(p.tokens) && p.tokens[p.i].kind == k }

func (p *parser) skip(k tokenKind) {
	if p.peek(k) {
		p.i++
		p.last = nil
	}
}

func (p *parser) or() signed {
	parts := []signed{p.and()}
	for p.peek(tokOr) {
		p.i++
		p.last = nil
		parts = append(parts, p.and())
	}
	return p.anyOf(parts)
}

func (p *parser) and() signed {
	var parts []signed
	for p.i < len(p.tokens) && !p.peek(tokOr) && !p.peek(tokClose) {
		if p.peek(tokAnd) {
			p.i++
			p.last = nil
			continue
		}
		parts = append(parts, p.unary())
	}
	return p.allOf(parts)
}

func (p *parser) unary() signed {
	not := false
	for p.peek(tokNot) {
		p.i++
		not = !not
		p.last = nil
	}
	if p.i == len(p.tokens) || p.peek(tokOr) || p.peek(tokClose) || p.peek(tokAnd) {
		return signed{}
	}
	s := p.primary()
	if not && s.node != nil {
		p.usedNot = true
		s.not = !s.not
	}
	return s
}

func (p *parser) primary() signed {
	t := p.tokens[p.i]
	p.i++
	before := p.last
	p.last = nil
	minus := t.minus && !p.ignoreMinus
	var s signed
	if t.kind == tokOpen {
		s = p.group()
	} else {
		term := t.term
		s.node = &term
		p.last = &t
	}
	if minus && s.node != nil {
		if before != nil && t.kind == tokTerm {
			s.node = p.unlessPasted(s.node, before, t)
		}
		s.not = !s.not
	}
	return s
}

// unlessPasted lets through what holds the very text that was typed: people
// paste commands, and `rm -rf` finds itself.
func (p *parser) unlessPasted(n Node, before *token, t token) Node {
	pasted := p.src[before.start:t.end]
	if strings.ContainsAny(pasted, `"*`) {
		return n
	}
	return &And{Nodes: []Node{n}, Not: []Node{&Term{Text: pasted, Fragment: true}}}
}

// group reads up to the parenthesis that closes. What is nested too deep is
// read as if there were no parentheses.
func (p *parser) group() signed {
	if p.depth >= MaxDepth {
		p.notice("parentheses are nested too deep: the inner ones are ignored")
		return p.flat()
	}
	p.depth++
	s := p.or()
	p.depth--
	if p.peek(tokClose) {
		p.i++
	}
	p.last = nil
	return s
}

// flat reads to the matching parenthesis; every term in it must match.
func (p *parser) flat() signed {
	var parts []signed
	for level := 1; p.i < len(p.tokens) && level > 0; p.i++ {
		switch t := p.tokens[p.i]; t.kind {
		case tokOpen:
			level++
		case tokClose:
			level--
		case tokTerm:
			term := t.term
			parts = append(parts, signed{node: &term})
		}
	}
	return p.allOf(parts)
}

func (p *parser) split(parts []signed) (yes, no []Node) {
	for _, s := range parts {
		switch {
		case s.node == nil:
		case s.not:
			no = append(no, s.node)
		default:
			yes = append(yes, s.node)
		}
	}
	return yes, no
}

// allOf is the conjunction. All but a and all but b is all but either.
func (p *parser) allOf(parts []signed) signed {
	yes, no := p.split(parts)
	switch {
	case len(yes) == 0 && len(no) == 0:
		return signed{}
	case len(yes) == 0:
		return signed{node: joinOr(no), not: true}
	}
	return signed{node: joinAnd(yes, no)}
}

// anyOf is the disjunction. Next to something to look for, all but a is left
// out: it would find nearly everything.
func (p *parser) anyOf(parts []signed) signed {
	yes, no := p.split(parts)
	switch {
	case len(yes) == 0 && len(no) == 0:
		return signed{}
	case len(yes) == 0:
		return signed{node: joinAnd(no, nil), not: true}
	case len(no) > 0:
		p.notice("an exclusion beside OR has nothing to exclude from: it is ignored")
	}
	return signed{node: joinOr(yes)}
}

func joinOr(nodes []Node) Node {
	var flat []Node
	for _, n := range nodes {
		if o, ok := n.(*Or); ok {
			flat = append(flat, o.Nodes...)
		} else {
			flat = append(flat, n)
		}
	}
	if flat = unique(flat); len(flat) == 1 {
		return flat[0]
	}
	return &Or{Nodes: flat}
}

func joinAnd(yes, no []Node) Node {
	out := &And{Not: no}
	for _, n := range yes {
		if a, ok := n.(*And); ok {
			out.Nodes, out.Not = append(out.Nodes, a.Nodes...), append(out.Not, a.Not...)
		} else {
			out.Nodes = append(out.Nodes, n)
		}
	}
	if out.Nodes, out.Not = unique(out.Nodes), unique(out.Not); len(out.Nodes) == 1 && len(out.Not) == 0 {
		return out.Nodes[0]
	}
	return out
}

// unique leaves out terms that were there before.
func unique(nodes []Node) []Node {
	seen := map[Term]bool{}
	out := nodes[:0:0]
	for _, n := range nodes {
		if t, ok := n.(*Term); ok {
			if seen[*t] {
				continue
			}
			seen[*t] = true
		}
		out = append(out, n)
	}
	return out
}

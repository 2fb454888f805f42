package sessiondb

import (
	"cmp"
	"context"
)

// use counts what responses used, each once in the whole store.
func (p *transcriptPut) use(ctx context.Context) error {
	m, adopted := &p.s.meta, p.s.mark == nil && p.stored != nil
	if !p.s.ended || len(m.Uses) == 0 {
		return nil
	}
	own := map[uint64]bool{}
	for n := range p.mark.Used.all() {
		own[n] = true
	}
	last := p.mark.Used.last()
	var more Tokens
	calls := -p.mark.APICalls
	more.add(p.mark.Usage, -1) // what an earlier version counted is among them
	for _, u := range m.Uses {
		ns := make([]uint64, len(u.Keys))
		for i, key := range u.Keys {
			ns[i] = number("use\x00"+key, 0)
		}
		if own[ns[0]] {
			if ns[0] == last && u.Tokens.Output > p.mark.LastUse.Output { // the file was imported amid it
				more.add(u.Tokens, 1)
				more.add(p.mark.LastUse, -1)
				p.mark.LastUse = u.Tokens
			}
			continue
		}
		index, err := p.im.indexed(ctx, p.q)
		if err != nil {
			return err
		}
		switch by := p.countedBy(index, ns); {
		case by != "":
			p.r.counts = cmp.Or(p.r.counts, by)
		default:
			for _, n := range ns {
				p.used[n] = p.s.id
			}
			more.add(u.Tokens, 1)
			calls++
			p.mark.LastUse = u.Tokens
			p.r.used = append(p.r.used, ns...)
		}
	}
	if adopted { // it may be counted already
		return nil
	}
	p.count(more, calls)
	return nil
}

// countedBy is the session that counts a response, empty if none does.
func (p *transcriptPut) countedBy(index *importIndex, ns []uint64) (id string) {
	for _, n := range ns {
		id = cmp.Or(id, p.used[n], index.counts(n))
	}
	return id
}

// count adds to what the session used.
func (p *transcriptPut) count(more Tokens, calls int64) {
	if more == (Tokens{}) && calls == 0 {
		return
	}
	for _, c := range []struct {
		name string
		n    int64
	}{
		{"input_tokens", more.Input}, {"output_tokens", more.Output}, {"cache_read_tokens", more.CacheRead},
		{"cache_write_tokens", more.CacheWrite}, {"reasoning_tokens", more.Reasoning}, {"api_call_count", calls},
	} {
		p.set(c.name+" = COALESCE("+c.name+", 0) + ?", c.n)
	}
}

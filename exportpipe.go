package sessiondb

import "errors"

// An export reads and writes at the same time: some goroutines fill batches, one
// empties them. There is a handful of them, so that nobody runs far ahead.
const exportBatches = 4

// A batch is full when it holds so many bytes of text, or so many messages.
const (
	batchSize     = 64 << 10
	batchMessages = 256
)

// exportBatch is a piece of an export: sessions, or parts of one.
type exportBatch struct {
	parts    []exportPart
	messages []Message // of all parts, in their order
	size     int
	last     bool // of its turn
}

// exportPart is a session, or a part of one.
type exportPart struct {
	begins   *Session // nil if an earlier batch began it
	kind     Kind
	mask     func(part []byte) []byte // or nil
	messages int                      // how many
	ends     bool
	damage   error // what kept messages from being read
}

// exportPipe carries batches from a goroutine that reads to the one that writes,
// and back to be used again.
type exportPipe struct {
	full, empty chan *exportBatch
	stopped     <-chan struct{}
	batch       *exportBatch // being filled
}

func newExportPipe(stopped <-chan struct{}) *exportPipe {
	p := &exportPipe{
		full:    make(chan *exportBatch, exportBatches),
		empty:   make(chan *exportBatch, exportBatches),
		stopped: stopped,
		batch:   &exportBatch{},
	}
	for range exportBatches - 1 {
		p.empty <- &exportBatch{}
	}
	return p
}

var errExportStopped = errors.New("nobody writes what is read")

// begin begins a session.
func (p *exportPipe) begin(s *Session, kind Kind, mask func(part []byte) []byte) {
	p.batch.parts = append(p.batch.parts, exportPart{begins: s, kind: kind, mask: mask})
	p.batch.size += len(deref(s.SystemPrompt))
}

// add adds a message to the session under way.
func (p *exportPipe) add(m *Message) error {
	b := p.batch
	if len(b.parts) == 0 {
		b.parts = append(b.parts, exportPart{})
	}
	b.messages = append(b.messages, *m)
	b.parts[len(b.parts)-1].messages++
	b.size += len(m.Content.text) + len(m.Content.parts) + len(m.ToolCalls) + len(m.ReasoningDetails)
	return p.sendFull()
}

// end ends the session under way.
func (p *exportPipe) end(damage error) error {
	b := p.batch
	if len(b.parts) == 0 {
		b.parts = append(b.parts, exportPart{})
	}
	last := &b.parts[len(b.parts)-1]
	last.ends, last.damage = true, damage
	return p.sendFull()
}

func (p *exportPipe) sendFull() error {
	if p.batch.size < batchSize && len(p.batch.messages) < batchMessages {
		return nil
	}
	return p.send()
}

// endTurn hands over what is left of a turn.
func (p *exportPipe) endTurn() error {
	p.batch.last = true
	return p.send()
}

// close hands over what was read before an error, and ends the pipe.
func (p *exportPipe) close() {
	if p.batch != nil {
		p.full <- p.batch // there is room for all batches
	}
	close(p.full)
}

// send hands the batch over and gets an empty one.
func (p *exportPipe) send() error {
	p.full <- p.batch
	select {
	case p.batch = <-p.empty:
	case <-p.stopped:
		p.batch = nil // all are on their way
		return errExportStopped
	}
	b := p.batch
	clear(b.messages)
	*b = exportBatch{parts: b.parts[:0], messages: b.messages[:0]}
	return nil
}

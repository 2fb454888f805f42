package cli

import (
	"cmp"
	"io"
	"os"
	"slices"
	"time"

	"github.com/sessiondb-go/sessiondb/internal/foreign"
)

// begun is a file and when what it tells began.
type begun struct {
	importInput
	at     time.Time
	copied int // 1 if it begins with copies
	size   int64
}

// inOrder puts the transcripts among files so that what happened first is imported
// first, and of what began together a copy last, else the longer: a conversation that goes on in another
// file, or was copied, is then stored in its order. The others stay where they are.
func inOrder(files []importInput) {
	var places []int
	var transcripts []begun
	for i, f := range files {
		b := begun{importInput: f}
		if r, c, err := f.open(); err == nil {
			_, _ = r.Peek(1) // what can't be read is told when it is imported
			head, _ := r.Peek(r.Buffered())
			var copied bool
			if b.at, copied = foreign.Began(head); copied {
				b.copied = 1
			}
			b.size = sizeOf(c)
			_ = c.Close()
		}
		if !b.at.IsZero() {
			places, transcripts = append(places, i), append(transcripts, b)
		}
	}
	slices.SortStableFunc(transcripts, func(a, b begun) int {
		return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.copied, b.copied), cmp.Compare(a.size, b.size))
	})
	for i, at := range places {
		files[at] = transcripts[i].importInput
	}
}

// sizeOf is the size of a file, 0 for what is none.
func sizeOf(c io.Closer) int64 {
	if f, ok := c.(*os.File); ok {
		if info, err := f.Stat(); err == nil {
			return info.Size()
		}
	}
	return 0
}

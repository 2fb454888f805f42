package sessiondb

import "fmt"

// leftOut counts the lines of a file that are of no kind which is known, by kind.
type leftOut struct {
	first []*LineError // of each kind
	n     map[string]int64
}

func (l *leftOut) add(e *LineError) {
	if l.n == nil {
		l.n = map[string]int64{}
	}
	if l.n[e.Kind]++; l.n[e.Kind] == 1 {
		l.first = append(l.first, e)
	}
}

// leaveOut reports what was left out of a file.
func (im *Importer) leaveOut() {
	for _, e := range im.left.first {
		reason := fmt.Sprintf("%s of a kind that is not known: %s", counted(im.left.n[e.Kind], "line"), e.Kind)
		im.report.LeftOut = append(im.report.LeftOut, ImportIssue{im.file, e.Line, e.SessionID, reason})
	}
}

package sessiondb

import (
	"bytes"
	"encoding/json"
)

// compactJSON is JSON as it is stored: no spaces, and characters as UTF-8, not
// as \u escapes, so that they can be found. Key order, numbers and duplicate
// keys stay as they are.
func compactJSON(raw json.RawMessage) (string, error) {
	var b bytes.Buffer
	err := json.Compact(&b, raw) // todo: unescape
	return b.String(), err
}

package sessiondb

// SetFewShown sets from how many sessions on a list reads the activity of the
// whole store, and returns what sets it back.
func SetFewShown(n int) (back func()) {
	old := fewShown
	fewShown = n
	return func() { fewShown = old }
}

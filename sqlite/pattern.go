package sqlite

import (
	"regexp"
	"sync"
)

// pattern is a regular expression that is made when it is first needed: a
// program that only lists sessions starts without any.
func pattern(s string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(s) })
}

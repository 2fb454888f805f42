package text

import (
	"regexp"
	"sync"
)

// Regexp is a regular expression that is made when it is first needed: most
// programs start without any.
func Regexp(s string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(s) })
}

package serve

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/sessiondb-go/sessiondb/internal/api"
)

// numbers are what an address says as a whole number from 0 on.
var numbers = []string{"offset", "days", "m", "after", "before"}

// orders are those of lists and of searches.
var orders = []string{"start", "newest", "oldest", byRank}

// asked shows a page only to who asks for what it knows: an address with a mistake
// in it would show something else without a word.
func (s *server) asked(page http.HandlerFunc, names ...string) http.HandlerFunc {
	page = s.answering(page)
	return func(w http.ResponseWriter, r *http.Request) {
		if err := checkQuery(r.URL.Query(), names); err != nil {
			s.fail(w, r, err)
			return
		}
		page(w, r)
	}
}

func checkQuery(q url.Values, names []string) error {
	for _, name := range slices.Sorted(maps.Keys(q)) {
		v := q.Get(name)
		switch {
		case name == "token": // of who is known already
		case !slices.Contains(names, name):
			known := "there is none"
			if len(names) > 0 {
				known = "there are " + strings.Join(names, ", ")
			}
			return &api.ParamError{Param: name, Reason: "is unknown here: " + known}
		case v == "":
		case slices.Contains(numbers, name):
			if n, err := strconv.ParseInt(v, 10, 64); err != nil || n < 0 {
				return &api.ParamError{Param: name, Reason: fmt.Sprintf("want a whole number from 0 on, not %.40q", v)}
			}
		case name == "order" && !slices.Contains(orders, v):
			return &api.ParamError{Param: name, Reason: "it is one of " + strings.Join(orders, ", ")}
		}
	}
	return nil
}

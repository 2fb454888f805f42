package sessiondb

import (
	"fmt"
	"testing"
)

func TestLiftActivity(t *testing.T) {
	for name, c := range map[string]struct {
		all  map[string]*summed
		want map[string]string // activity, and "first" where a chain begins
	}{
		"alone": {
			map[string]*summed{"a": {active: 1}},
			map[string]string{"a": "1 first"},
		},
		"chain with a fork": {
			map[string]*summed{"a": {active: 1}, "b": {parent: "a", active: 2}, "c": {parent: "b", active: 9}, "d": {parent: "b", active: 3}},
			map[string]string{"a": "9 first", "b": "9", "c": "9", "d": "3"},
		},
		"cycle with a tail": {
			map[string]*summed{"b": {parent: "c", active: 1}, "c": {parent: "a", active: 2}, "a": {parent: "b", active: 0}, "t": {parent: "c", active: 7}},
			map[string]string{"a": "7 first", "b": "7", "c": "7", "t": "7"},
		},
		"two cycles": {
			map[string]*summed{"a": {parent: "b", active: 1}, "b": {parent: "a", active: 2}, "x": {parent: "y", active: 3}, "y": {parent: "x", active: 4}},
			map[string]string{"a": "2 first", "b": "2", "x": "4 first", "y": "4"},
		},
	} {
		liftActivity(c.all)
		for id, s := range c.all {
			got := fmt.Sprint(s.active)
			if s.first {
				got += " first"
			}
			if got != c.want[id] {
				t.Errorf("%s: %s is %q, want %q", name, id, got, c.want[id])
			}
		}
	}
}

package sessiondb

import (
	"reflect"
	"testing"
)

func TestUnfinishedQuery(t *testing.T) {
	for text, want := range map[string]string{
		"":             "",
		"t":            "",
		"th":           "",
		"the":          "the*",
		"docker d":     "docker",
		"docker dep":   "docker dep*",
		"docker ":      "docker ",
		"배":            "배*",
		"오류 é":         "오류 é*",
		`"not fin`:     `"not fin`,
		`"a phrase"`:   `"a phrase"`,
		"source:teleg": "source:teleg",
		"the -tag:w":   "the -tag:w",
		"tag:":         "tag:",
		"topic:w":      "topic:w*",
		"dep*":         "dep*",
	} {
		if got := UnfinishedQuery(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestListQuery(t *testing.T) {
	for text, want := range map[string]*ListFilter{
		"":                      nil,
		"work":                  nil,
		"tag:":                  nil,
		"tag:work plan":         nil,
		"tag:work -plan":        nil,
		"-tag:work":             nil,
		"tag:work role:user":    nil,
		"source:a source:b":     nil,
		"tag:work":              {Tags: []string{"work"}},
		" tag:#Work tag:일 ":     {Tags: []string{"#Work", "일"}},
		"source:cli -source:a":  {Source: "cli", ExcludeSources: []string{"a"}},
		"tag:work -source:cron": {Tags: []string{"work"}, ExcludeSources: []string{"cron"}},
	} {
		got, ok := ListQuery(text)
		if ok != (want != nil) || ok && !reflect.DeepEqual(got, *want) {
			t.Errorf("%q: %+v, %v", text, got, ok)
		}
	}
}

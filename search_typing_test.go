package sessiondb

import "testing"

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
		"source:teleg": "source:teleg*",
		"dep*":         "dep*",
	} {
		if got := UnfinishedQuery(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

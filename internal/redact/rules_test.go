package redact

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The table was made from the file that lies beside it.
func TestTableIsOfItsSource(t *testing.T) {
	source, err := os.ReadFile("gitleaks.toml")
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%x", sha256.Sum256(source)); got != gitleaksSum {
		t.Errorf("gitleaks.toml is another one than the table was made from; run go generate")
	}
	rules := strings.Count(string(source), "\n[[rules]]\n")
	if left := rules - len(gitleaksRules); left != 2 { // one that looks for a file, one for .tf
		t.Errorf("%d rules of %d are left out, want 2", left, rules)
	}
}

func TestRules(t *testing.T) {
	set := allRules()
	for i := range set.rules {
		c := set.rule(i)
		if c.id == "" || len(c.keywords) == 0 || c.group > c.regex.NumSubexp() {
			t.Errorf("rule %q: keywords %q, group %d", c.id, c.keywords, c.group)
		}
		for _, k := range c.keywords {
			if k != strings.ToLower(k) {
				t.Errorf("rule %s: keyword %q is not in lower case", c.id, k)
			}
		}
		// Which of several groups is the secret needs a look when rules change.
		if n := c.regex.NumSubexp(); n > 1 && c.group == 0 && !slices.Contains(lookedAt, c.id) {
			t.Errorf("rule %s has %d groups: is the first that matches the secret?", c.id, n)
		}
		if !regexp.MustCompile(`^[a-z0-9-]+$`).MatchString(c.id) {
			t.Errorf("rule %q can't be the name in a mask", c.id)
		}
	}
}

// lookedAt are rules with several groups, the first of which that matches is
// the secret.
var lookedAt = []string{
	"atlassian-api-token", "curl-auth-header", "curl-auth-user", "dropbox-long-lived-api-token",
	"facebook-access-token", "heroku-api-key-v2", "kubernetes-secret-yaml", "lob-api-key", "lob-pub-api-key",
	"sourcegraph-access-token", "azure-ad-client-secret", "password",
	"environment-secret", "command-line-secret", "named-secret", "sql-password", "cookie",
}

// plain looks for the secrets of one rule as its expression stands.
func plain(set *ruleSet, c *compiled, text string) []span {
	m := newMatcher(set)
	m.text = text
	m.tryAll(c, regexp.MustCompile(c.rule.regex))
	return m.all
}

// Every rule finds what its expression tells, and finds all that a plain search
// would find.
func TestEveryRuleFinds(t *testing.T) {
	set := allRules()
	for i := range set.rules {
		c := set.rule(i)
		s := sampler{rand.New(rand.NewPCG(1, uint64(i)))}
		samples := 0
		for try := 0; try < 1000 && samples < 5; try++ {
			text := "See: " + s.of(c.rule.regex) + " there"
			if !holdsKeyword(c, text) {
				text += " (" + c.keywords[0] + ")"
			}
			want := plain(set, c, text)
			if len(want) == 0 {
				continue
			}
			samples++
			masked := (&masker{matcher: newMatcher(set), known: &known{}, counts: map[string]int64{}}).mask("", text)
			for _, w := range want {
				if secret := text[w.from:w.to]; strings.Contains(masked, secret) || !strings.Contains(masked, maskBegin) {
					t.Errorf("rule %s: %q stays in %q", c.id, secret, masked)
				}
			}
		}
		if samples == 0 {
			t.Errorf("rule %s matches nothing", c.id)
		}
	}
}

func holdsKeyword(c *compiled, text string) bool {
	return slices.ContainsFunc(c.keywords, func(k string) bool { return strings.Contains(strings.ToLower(text), k) })
}

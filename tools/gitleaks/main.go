// Command gitleaks makes rules_gitleaks.go of gitleaks.toml, the rules of
// gitleaks, in the folder that it is given.
package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// config is what we use of the file. Rules and lists that look at the path of a
// file only are left out: a message has none.
type config struct {
	Allowlist allowlist
	Rules     []rule
}

type rule struct {
	ID          string
	Regex       string
	Keywords    []string
	Entropy     float64
	SecretGroup int
	Allowlists  []allowlist
}

type allowlist struct {
	Condition   string
	RegexTarget string
	Regexes     []string
	StopWords   []string
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: gitleaks DIR")
		os.Exit(2)
	}
	source, err := os.ReadFile(filepath.Join(os.Args[1], "gitleaks.toml")) // #nosec G304 G703 -- what go generate names
	if err == nil {
		var out []byte
		if out, err = table(source); err == nil {
			err = os.WriteFile(filepath.Join(os.Args[1], "rules_gitleaks.go"), out, 0o644) // #nosec G306 G703 -- source text, where go generate says
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gitleaks:", err)
		os.Exit(1)
	}
}

// table is the Go source of the rules.
func table(source []byte) ([]byte, error) {
	var c config
	if _, err := toml.Decode(string(source), &c); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "// Code generated from gitleaks.toml by tools/gitleaks. DO NOT EDIT.\n//\n// The rules are those of gitleaks, Copyright (c) 2019 Zachary Rice, under the\n// MIT License: see LICENSE-gitleaks.\n\npackage redact\n\n")
	fmt.Fprintf(&b, "// gitleaksSum is the SHA-256 of gitleaks.toml.\nconst gitleaksSum = %q\n\n", fmt.Sprintf("%x", sha256.Sum256(source)))
	// Its words are examples of keys. They may be masked.
	fmt.Fprintf(&b, "var gitleaksAllow = allowlist{regexes: %s}\n\n", list(c.Allowlist.Regexes))
	fmt.Fprintf(&b, "var gitleaksRules = []rule{\n")
	for _, r := range c.Rules {
		if r.Regex == "" || slices.Contains(leftOut, r.ID) {
			continue
		}
		if err := adapt(&r); err != nil {
			return nil, err
		}
		write(&b, &r)
	}
	fmt.Fprintf(&b, "}\n")
	return format.Source(b.Bytes())
}

// leftOut are rules that are right only in files of a certain name.
var leftOut = []string{"hashicorp-tf-password"}

// parts are rules whose first group is not the whole secret.
var parts = []string{"jwt-base64", "microsoft-teams-webhook"}

// examples are rules whose allowlist holds examples of keys. They may be masked.
var examples = []string{"aws-access-token", "gcp-api-key"}

// likeBase64 are rules of tokens that look like base64, in which a slash is no end.
var likeBase64 = []string{"square-access-token", "facebook-page-access-token"}

// In source code a value ends with a quote or a space; in what people and
// models write also with a full stop, a bracket, or a letter of another script.
const (
	end         = "(?:[\\x60'\"\\s;]|\\\\[nr]|$)"
	endAnywhere = "(?:[^0-9A-Za-z_+/=-]|\\\\[nr]|$)"
	endKnown    = "(?:[^0-9A-Za-z]|$)"                               // where its beginning says what it is: also in a path
	endOfCode   = "(?:[\\x60'\"\\s;,&)<]|[^\\x00-\\x7f]|\\\\[nr]|$)" // where code looks much like a secret
)

// adapt fits a rule to text that is no file.
func adapt(r *rule) error {
	if strings.Contains(r.Regex, end) {
		anywhere := endAnywhere
		if strings.HasPrefix(strings.TrimPrefix(r.Regex, "(?i)"), `\b(`) && !slices.Contains(likeBase64, r.ID) {
			anywhere = endKnown
		}
		if r.ID == "generic-api-key" || r.ID == "vault-service-token" {
			anywhere = endOfCode
		}
		r.Regex = strings.ReplaceAll(r.Regex, end, anywhere)
	}
	switch r.ID {
	case "aws-amazon-bedrock-api-key-short-lived":
		r.Regex += `[A-Za-z0-9+/=_%-]*` // the rule ends where the secret begins
	case "generic-api-key":
		r.Allowlists = append(r.Allowlists, allowlist{Regexes: []string{`^[A-Za-z_][\w.]*(?:[Kk]ey|[Tt]oken|[Ss]ecret|[Pp]assword)s?$`}}) // a variable
	case "sentry-org-token":
		last := strings.LastIndex(r.Regex, "(?:[^") // what follows the secret is no part of it
		r.Regex = "(" + r.Regex[:last] + ")" + r.Regex[last:]
	case "kubernetes-secret-yaml":
		r.Keywords = []string{"kind:"} // rarer than "secret", and needed as well
	}
	if slices.Contains(parts, r.ID) {
		r.SecretGroup = -1
	}
	if slices.Contains(examples, r.ID) {
		r.Allowlists = nil
	}
	for i := range r.Keywords {
		r.Keywords[i] = strings.ToLower(r.Keywords[i])
	}
	if len(r.Keywords) == 0 {
		return fmt.Errorf("rule %s has no keyword", r.ID)
	}
	return nil
}

func write(b *bytes.Buffer, r *rule) {
	fmt.Fprintf(b, "{id: %q, regex: %s, keywords: %s", r.ID, quote(r.Regex), list(r.Keywords))
	if r.SecretGroup != 0 {
		fmt.Fprintf(b, ", group: %d", r.SecretGroup)
	}
	if r.ID == "generic-api-key" {
		fmt.Fprintf(b, ", rank: 2") // any other rule says more
	}
	if r.Entropy != 0 {
		fmt.Fprintf(b, ", entropy: %v", r.Entropy)
	}
	var allow []string
	for _, a := range r.Allowlists {
		if strings.EqualFold(a.Condition, "AND") || a.Regexes == nil && a.StopWords == nil {
			continue // needs a path
		}
		allow = append(allow, "{"+fields(a)+"}")
	}
	if allow != nil {
		fmt.Fprintf(b, ", allow: []allowlist{%s}", strings.Join(allow, ", "))
	}
	fmt.Fprintf(b, "},\n")
}

func fields(a allowlist) string {
	var all []string
	if a.RegexTarget != "" && a.RegexTarget != "secret" {
		all = append(all, fmt.Sprintf("target: %q", a.RegexTarget))
	}
	if a.Regexes != nil {
		all = append(all, "regexes: "+list(a.Regexes))
	}
	if a.StopWords != nil {
		for i := range a.StopWords {
			a.StopWords[i] = strings.ToLower(a.StopWords[i])
		}
		slices.Sort(a.StopWords)
		all = append(all, "words: "+list(slices.Compact(a.StopWords)))
	}
	return strings.Join(all, ", ")
}

func list(items []string) string {
	quoted := make([]string, len(items))
	for i, s := range items {
		quoted[i] = quote(s)
	}
	return "[]string{" + strings.Join(quoted, ", ") + "}"
}

func quote(s string) string {
	if strings.Contains(s, "`") {
		return fmt.Sprintf("%q", s)
	}
	return "`" + s + "`"
}

// Package redact masks what looks like an API key, a token or a password in the
// JSON of an export. What a secret looks like is told by the rules of gitleaks
// (rules_gitleaks.go, made from gitleaks.toml) and by a few of our own
// (rules_own.go). It knows JSON and text, not the store.
package redact

//go:generate go run -C ../../tools ./gitleaks ../internal/redact

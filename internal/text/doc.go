// Package text holds the pure functions on what messages hold: JSON as it is
// stored and rendered, previews, the text of structured content, recalled
// memory that is fenced off. It imports nothing but the standard library and
// does no I/O.
package text

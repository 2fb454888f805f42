//go:build !unix

package sqlite

// noFollow is nothing where making a link takes a privilege.
const noFollow = 0

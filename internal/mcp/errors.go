package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sessiondb-go/sessiondb"
)

// advice tells a model what to do about each kind of error. The first that fits
// counts.
var advice = []struct {
	is   error
	next string
}{
	{sessiondb.ErrAmbiguous, "give more of the id, or one of these ids"},
	{sessiondb.ErrTitleTaken, "choose another title"},
	{sessiondb.ErrTitleInvalid, fmt.Sprintf("give a title of at most %d characters", sessiondb.MaxTitle)},
	{sessiondb.ErrNotFound, "session_list and session_search tell the ids there are"},
	{sessiondb.ErrSchemaNewer, "this store can only be read; tell the user that a newer program made it"},
	{sessiondb.ErrReadOnly, "this store can only be read; tell the user"},
	{sessiondb.ErrBusy, "another program is writing; nothing was written, try again in some seconds"},
	{sessiondb.ErrFull, "the disk is full and nothing was written; tell the user"},
	{sessiondb.ErrReplaced, "the file was replaced and nothing was written; tell the user to restart this server"},
	{sessiondb.ErrCorrupt, "the store is damaged; tell the user to run 'sessiondb doctor'"},
	{sessiondb.ErrUncertain, "look whether it was written before you try again"},
	{sessiondb.ErrIO, "the disk failed; tell the user"},
	{sessiondb.ErrInvalid, "see the description of the parameters"},
	{context.Canceled, "the call was cancelled"},
}

// advise puts the next step behind an error.
func advise(err error) error {
	if err == nil {
		return nil
	}
	line := strings.Join(strings.Fields(err.Error()), " ")
	for _, a := range advice {
		if errors.Is(err, a.is) {
			return errors.New(line + "; " + a.next)
		}
	}
	return errors.New(line)
}

// session finds the session that a parameter means.
func (t tools) session(ctx context.Context, ref string) (sessiondb.Session, error) {
	return found(ctx, ref, t.db.FindSession)
}

// exactly finds the session that is to be changed, where a title stands for no
// other of its lineage.
func (t tools) exactly(ctx context.Context, ref string) (sessiondb.Session, error) {
	return found(ctx, ref, t.db.SessionNamed)
}

type lookup func(ctx context.Context, ref string) (sessiondb.Session, error)

func found(ctx context.Context, ref string, look lookup) (sessiondb.Session, error) {
	if strings.TrimSpace(ref) == "" {
		return sessiondb.Session{}, fmt.Errorf("session_id is empty: %w", sessiondb.ErrInvalid)
	}
	s, err := look(ctx, ref)
	if errors.Is(err, sessiondb.ErrNotFound) {
		err = fmt.Errorf("no session has the id or the title %q: %w", ref, sessiondb.ErrNotFound)
	}
	return s, err
}

package sessiondb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sessiondb-go/sessiondb/internal/engine"
)

// Session is a row of the sessions table. A nil pointer, a nil RawMessage and
// a zero time stand for NULL.
type Session struct {
	ID           string
	Source       string // where it took place: cli, telegram, ...
	UserID       *string
	Model        *string
	ModelConfig  json.RawMessage
	SystemPrompt *string
	ParentID     *string // column parent_session_id
	StartedAt    time.Time
	EndedAt      time.Time
	EndReason    *string
	Title        *string

	MessageCount  int64
	ToolCallCount int64
	APICallCount  int64

	Usage   Tokens
	Billing Billing

	HandoffState    *string
	HandoffPlatform *string
	HandoffError    *string

	odd    odd
	beside beside
}

// beside is what the store knows of a session beside its row. Exports have it.
type beside struct {
	tags []string
	from orphan // of a branch whose row does not tell its parent
}

// Tokens are running totals of a session.
type Tokens struct {
	Input, Output, CacheRead, CacheWrite, Reasoning int64
}

// Billing tells what a session cost and who charged it, in US dollars.
type Billing struct {
	Provider, BaseURL, Mode *string
	EstimatedCostUSD        *float64
	ActualCostUSD           *float64
	CostStatus, CostSource  *string
	PricingVersion          *string
}

// sessionColumns are the columns of sessions at schema version 11, in the
// order of their declaration. scanTargets follows it.
var sessionColumns = []string{
	"id", "source", "user_id", "model", "model_config", "system_prompt", "parent_session_id",
	"started_at", "ended_at", "end_reason", "message_count", "tool_call_count",
	"input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens",
	"billing_provider", "billing_base_url", "billing_mode", "estimated_cost_usd", "actual_cost_usd",
	"cost_status", "cost_source", "pricing_version", "title", "api_call_count",
	"handoff_state", "handoff_platform", "handoff_error",
}

// selectColumns qualifies columns with a table alias.
func selectColumns(alias string, columns []string) string {
	return alias + "." + strings.Join(columns, ", "+alias+".")
}

func (s *Session) scanTargets() []any {
	o := &s.odd
	u, b := &s.Usage, &s.Billing
	return []any{
		textColumn{"id", &s.ID, o},
		textColumn{"source", &s.Source, o},
		nullTextColumn{"user_id", &s.UserID, o},
		nullTextColumn{"model", &s.Model, o},
		jsonColumn{"model_config", &s.ModelConfig, o},
		nullTextColumn{"system_prompt", &s.SystemPrompt, o},
		nullTextColumn{"parent_session_id", &s.ParentID, o},
		timeColumn{"started_at", &s.StartedAt, o},
		timeColumn{"ended_at", &s.EndedAt, o},
		nullTextColumn{"end_reason", &s.EndReason, o},
		intColumn{"message_count", &s.MessageCount, o},
		intColumn{"tool_call_count", &s.ToolCallCount, o},
		intColumn{"input_tokens", &u.Input, o},
		intColumn{"output_tokens", &u.Output, o},
		intColumn{"cache_read_tokens", &u.CacheRead, o},
		intColumn{"cache_write_tokens", &u.CacheWrite, o},
		intColumn{"reasoning_tokens", &u.Reasoning, o},
		nullTextColumn{"billing_provider", &b.Provider, o},
		nullTextColumn{"billing_base_url", &b.BaseURL, o},
		nullTextColumn{"billing_mode", &b.Mode, o},
		nullFloatColumn{"estimated_cost_usd", &b.EstimatedCostUSD, o},
		nullFloatColumn{"actual_cost_usd", &b.ActualCostUSD, o},
		nullTextColumn{"cost_status", &b.CostStatus, o},
		nullTextColumn{"cost_source", &b.CostSource, o},
		nullTextColumn{"pricing_version", &b.PricingVersion, o},
		nullTextColumn{"title", &s.Title, o},
		intColumn{"api_call_count", &s.APICallCount, o},
		nullTextColumn{"handoff_state", &s.HandoffState, o},
		nullTextColumn{"handoff_platform", &s.HandoffPlatform, o},
		nullTextColumn{"handoff_error", &s.HandoffError, o},
	}
}

// NewSession describes a session to create. Empty fields are NULL.
type NewSession struct {
	ID           string // empty: one is made, YYYYMMDD_HHMMSS_xxxxxx
	Source       string // empty: "unknown"
	Model        string
	ModelConfig  json.RawMessage
	SystemPrompt string
	UserID       string
	ParentID     string
}

// CreateSession inserts a session and returns its id. When the id exists, what
// is NULL there (or the source "unknown") is filled from n and nothing else
// changes; if a value that is set differs in source, user, model or parent,
// nothing changes and the error is an [*ExistsError]. A parent that does not
// exist is [ErrNotFound].
func (db *DB) CreateSession(ctx context.Context, n NewSession) (string, error) {
	return db.createSession(ctx, n, true)
}

// EnsureSession is CreateSession that leaves differing values as they are
// without an error.
func (db *DB) EnsureSession(ctx context.Context, n NewSession) (string, error) {
	return db.createSession(ctx, n, false)
}

// UnknownSource is the source of a session that was made for messages, or for a
// part of a conversation, before anybody said where it comes from. Who creates
// the session later sets it.
const UnknownSource = "unknown"

const insertSessionSQL = `INSERT INTO sessions
 (id, source, user_id, model, model_config, system_prompt, parent_session_id, started_at)
 VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`

const fillSessionSQL = `UPDATE sessions SET
 source = CASE WHEN source = 'unknown' THEN ? ELSE source END,
 user_id = COALESCE(user_id, ?), model = COALESCE(model, ?), model_config = COALESCE(model_config, ?),
 system_prompt = COALESCE(system_prompt, ?), parent_session_id = COALESCE(parent_session_id, ?)
 WHERE id = ?`

func (db *DB) createSession(ctx context.Context, n NewSession, strict bool) (_ string, err error) {
	defer wrap(&err, "create session %s", n.ID)
	if n.ID == "" {
		n.ID = db.newID(db.now())
	}
	if err := checkID(n.ID); err != nil {
		return "", err
	}
	if n.Source == "" {
		n.Source = UnknownSource
	}
	config, err := jsonOrNull("model_config", n.ModelConfig)
	if err != nil {
		return "", err
	}
	values := []any{validText(n.Source), textOrNull(n.UserID), textOrNull(n.Model), config, textOrNull(n.SystemPrompt), textOrNull(n.ParentID)}
	return n.ID, db.writeAbout(ctx, func(tx engine.Execer) error {
		if err := requireParent(ctx, tx, n); err != nil {
			return err
		}
		made, err := tx.Exec(ctx, insertSessionSQL, append(append([]any{n.ID}, values...), epoch(db.now()))...)
		if err != nil || made > 0 {
			return err
		}
		if strict {
			if err := conflict(ctx, tx, n); err != nil {
				return err
			}
		}
		_, err = tx.Exec(ctx, fillSessionSQL, append(values, n.ID)...)
		return err
	}, n.ID)
}

func requireParent(ctx context.Context, q engine.Queryer, n NewSession) error {
	if n.ParentID == "" {
		return nil
	}
	if n.ParentID == n.ID {
		return fmt.Errorf("%w: a session can't be its own parent", ErrInvalid)
	}
	ok, err := sessionExists(ctx, q, n.ParentID)
	if err == nil && !ok {
		err = fmt.Errorf("parent session %s: %w", n.ParentID, ErrNotFound)
	}
	return err
}

// conflict tells which identifying values differ from those stored.
func conflict(ctx context.Context, q engine.Queryer, n NewSession) error {
	s, err := sessionByID(ctx, q, n.ID)
	if err != nil {
		return err
	}
	var fields []string
	differs := func(name string, have *string, want string) {
		if have != nil && want != "" && *have != want {
			fields = append(fields, name)
		}
	}
	if s.Source != UnknownSource && n.Source != UnknownSource {
		differs("source", &s.Source, n.Source)
	}
	differs("user_id", s.UserID, n.UserID)
	differs("model", s.Model, n.Model)
	differs("parent_session_id", s.ParentID, n.ParentID)
	if fields != nil {
		return &ExistsError{ID: n.ID, Fields: fields}
	}
	return nil
}

// checkID refuses what can't be an id. Other programs may have stored
// anything, so reading is not held to this.
func checkID(id string) error {
	switch {
	case id == "":
		return fmt.Errorf("%w: empty session id", ErrInvalid)
	case strings.ContainsAny(id, "\x00\n\r"):
		return fmt.Errorf("%w: session id %q holds a control character", ErrInvalid, id)
	case validText(id) != id:
		return fmt.Errorf("%w: session id %q is not UTF-8", ErrInvalid, id)
	}
	return nil
}

// EndSession sets the time and the reason of the end. The first reason wins:
// an ended session stays as it is.
func (db *DB) EndSession(ctx context.Context, id, reason string) (err error) {
	defer wrap(&err, "end session %s", id)
	return db.updateSession(ctx, id, `UPDATE sessions SET
 end_reason = CASE WHEN ended_at IS NULL THEN ? ELSE end_reason END,
 ended_at = COALESCE(ended_at, ?) WHERE id = ?`, validText(reason), epoch(db.now()), id)
}

// ReopenSession clears the end of a session.
func (db *DB) ReopenSession(ctx context.Context, id string) (err error) {
	defer wrap(&err, "reopen session %s", id)
	return db.updateSession(ctx, id, `UPDATE sessions SET ended_at = NULL, end_reason = NULL WHERE id = ?`, id)
}

// UpdateSystemPrompt stores the full system prompt of a session.
func (db *DB) UpdateSystemPrompt(ctx context.Context, id, prompt string) (err error) {
	defer wrap(&err, "update system prompt of %s", id)
	return db.updateSession(ctx, id, `UPDATE sessions SET system_prompt = ? WHERE id = ?`, validText(prompt), id)
}

// SetModel records a switch of the model, which usage updates don't make.
func (db *DB) SetModel(ctx context.Context, id, model string) (err error) {
	defer wrap(&err, "set model of %s", id)
	return db.writeAbout(ctx, func(tx engine.Execer) error {
		old, err := sessionByID(ctx, tx, id)
		if err != nil {
			return err
		}
		if err := chargeSoFar(ctx, tx, old, model); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE sessions SET model = ? WHERE id = ?`, textOrNull(model), id)
		return err
	}, id)
}

// updateSession runs an UPDATE of one session; none changed is ErrNotFound.
func (db *DB) updateSession(ctx context.Context, id, query string, args ...any) error {
	return db.writeAbout(ctx, func(tx engine.Execer) error {
		n, err := tx.Exec(ctx, query, args...)
		if err == nil && n == 0 {
			err = ErrNotFound
		}
		return err
	}, id)
}

// Session returns one session, or [ErrNotFound].
func (db *DB) Session(ctx context.Context, id string) (s Session, err error) {
	defer wrap(&err, "session %s", id)
	err = db.readPast(ctx, func(q engine.Queryer) error {
		s, err = sessionByID(ctx, q, id)
		return err
	})
	return s, err
}

var sessionSelect = selectColumns("s", sessionColumns)

// sessionByID takes an id as it is stored, which is text unless another program
// wrote it.
func sessionByID(ctx context.Context, q engine.Queryer, id any) (s Session, err error) {
	found := false
	rows, err := q.QueryColumns(ctx, sessionSelect, `FROM sessions s WHERE s.id = ?`, id)
	err = scanRows(rows, err, func(r engine.Rows) error {
		found = true
		return r.Scan(s.scanTargets()...)
	})
	if err == nil && !found {
		err = ErrNotFound
	}
	return s, err
}

func sessionExists(ctx context.Context, q engine.Queryer, id string) (bool, error) {
	var n int
	err := q.QueryRow(ctx, `SELECT COUNT(*) FROM sessions WHERE id = ?`, id).Scan(&n)
	return n > 0, err
}

// maxCandidates is how many ids an [AmbiguousError] names.
const maxCandidates = 10

// ResolveSessionID returns the id itself if such a session exists, else the
// only id that begins with ref. None is [ErrNotFound], several are an
// [*AmbiguousError]. '%', '_' and '\' are plain characters.
func (db *DB) ResolveSessionID(ctx context.Context, ref string) (id string, err error) {
	defer wrap(&err, "resolve session %q", ref)
	if ref == "" {
		return "", ErrNotFound
	}
	err = db.readPast(ctx, func(q engine.Queryer) error {
		id, err = resolveID(ctx, q, ref)
		return err
	})
	return id, err
}

func resolveID(ctx context.Context, q engine.Queryer, ref string) (string, error) {
	ok, err := sessionExists(ctx, q, ref)
	if ok || err != nil {
		return ref, err
	}
	ids, err := queryStrings(ctx, q, `SELECT id FROM sessions WHERE id LIKE ? ESCAPE '\' AND substr(id, 1, ?) = ?
 ORDER BY started_at DESC, id LIMIT ?`, likePrefix(ref), len([]rune(ref)), ref, maxCandidates)
	switch {
	case err != nil:
		return "", err
	case len(ids) == 0:
		return "", ErrNotFound
	case len(ids) > 1:
		return "", &AmbiguousError{Ref: ref, Candidates: ids}
	}
	return ids[0], nil
}

// FindSession returns the session a person means: an id, a unique prefix of
// one, or a title, which stands for the newest of its lineage. What is both the
// prefix of one and the title of another is an [*AmbiguousError].
func (db *DB) FindSession(ctx context.Context, ref string) (s Session, err error) {
	defer wrap(&err, "resolve session %q", ref)
	err = db.readPast(ctx, func(q engine.Queryer) error {
		s, err = oneOf(ctx, q, ref, func() ([]string, error) {
			id, err := resolveTitle(ctx, q, validText(ref))
			if errors.Is(err, ErrNotFound) {
				return nil, nil
			}
			return []string{id}, err
		})
		return err
	})
	return s, err
}

// SessionNamed returns the session that ref can only mean: an id, else the only
// session of which ref is the beginning of the id or the whole title. It is for
// what changes a session: unlike [DB.FindSession] it takes no title for another
// of its lineage. None is [ErrNotFound], several are an [*AmbiguousError].
func (db *DB) SessionNamed(ctx context.Context, ref string) (s Session, err error) {
	defer wrap(&err, "resolve session %q", ref)
	err = db.readPast(ctx, func(q engine.Queryer) error {
		s, err = oneOf(ctx, q, ref, func() ([]string, error) {
			return queryStrings(ctx, q, `SELECT id FROM sessions WHERE title = ? ORDER BY started_at DESC, id DESC LIMIT ?`, validText(ref), maxCandidates)
		})
		return err
	})
	return s, err
}

// oneOf returns the session of an id, else the only one that ref is the beginning of
// the id of, or that titled returns for it.
func oneOf(ctx context.Context, q engine.Queryer, ref string, titled func() ([]string, error)) (s Session, err error) {
	if ref == "" {
		return s, ErrNotFound
	}
	begins, err := resolveID(ctx, q, ref)
	if err == nil && begins == ref {
		return sessionByID(ctx, q, ref)
	}
	fit := []string{begins}
	var several *AmbiguousError
	switch {
	case errors.As(err, &several):
		fit = several.Candidates
	case errors.Is(err, ErrNotFound):
		fit = nil
	case err != nil:
		return s, err
	}
	byTitle, err := titled()
	if err != nil {
		return s, err
	}
	fit = append(byTitle, slices.DeleteFunc(fit, func(id string) bool { return slices.Contains(byTitle, id) })...)
	switch len(fit) {
	case 0:
		return s, ErrNotFound
	case 1:
		return sessionByID(ctx, q, fit[0])
	}
	return s, &AmbiguousError{Ref: ref, Candidates: fit[:min(len(fit), maxCandidates)]}
}

// SessionCount counts sessions, of one source if source is not empty.
func (db *DB) SessionCount(ctx context.Context, source string) (n int64, err error) {
	defer wrap(&err, "count sessions")
	query, args := `SELECT COUNT(*) FROM sessions`, []any(nil)
	if source != "" {
		query, args = query+` WHERE source = ?`, []any{source}
	}
	err = db.readPast(ctx, func(q engine.Queryer) error { return q.QueryRow(ctx, query, args...).Scan(&n) })
	return n, err
}

// MessageCount counts messages, of one session if id is not empty.
func (db *DB) MessageCount(ctx context.Context, id string) (n int64, err error) {
	defer wrap(&err, "count messages")
	query, args := `SELECT COUNT(*) FROM messages`, []any(nil)
	if id != "" {
		query, args = query+` WHERE session_id = ?`, []any{id}
	}
	err = db.readPast(ctx, func(q engine.Queryer) error { return q.QueryRow(ctx, query, args...).Scan(&n) })
	return n, err
}

package api

import (
	"context"
	"encoding/json"

	"github.com/sessiondb-go/sessiondb"
)

var sessionMethods = []*Method{
	method(WritesSession, "create_session",
		"Creates a session; an existing one gets what it lacks, and a differing source, user, model or parent is an error.",
		"the id", createSession),
	method(WritesSession, "ensure_session",
		"Creates a session, or fills what an existing one lacks, whatever else differs.",
		"the id", ensureSession),
	method(WritesSession, "end_session", "Ends a session; the first reason stays.", "null", endSession),
	method(WritesSession, "reopen_session", "Clears the end of a session.", "null",
		func(ctx context.Context, db *sessiondb.DB, p ofSession) (any, error) {
			return done(db.ReopenSession(ctx, p.SessionID))
		}),
	method(WritesSession, "update_system_prompt", "Stores the system prompt of a session.", "null",
		func(ctx context.Context, db *sessiondb.DB, p systemPromptParams) (any, error) {
			return done(db.UpdateSystemPrompt(ctx, p.SessionID, p.SystemPrompt))
		}),
	method(WritesSession, "set_model", "Records that a session changed its model.", "null",
		func(ctx context.Context, db *sessiondb.DB, p modelParams) (any, error) {
			return done(db.SetModel(ctx, p.SessionID, p.Model))
		}),
	method(WritesSession, "update_token_counts",
		"Adds to the counters and costs of a session, or sets them; an unknown session is made.", "null", updateTokenCounts),
	method(ReadsSession, "get_session", "Returns one session.", "the columns of the session",
		func(ctx context.Context, db *sessiondb.DB, p ofSession) (any, error) {
			return result(db.Session(ctx, p.SessionID))
		}),
	method(ReadsStore, "resolve_session_id", "Finds a session by its id or a unique prefix of it.", "the id",
		func(ctx context.Context, db *sessiondb.DB, p prefixParams) (any, error) {
			return result(db.ResolveSessionID(ctx, p.Ref))
		}),
	method(ReadsStore, "find_session", "Finds the session a person means: by id, unique prefix or title.", "the columns of the session",
		func(ctx context.Context, db *sessiondb.DB, p refParams) (any, error) {
			return result(db.FindSession(ctx, p.Ref))
		}),
	method(ReadsStore, "session_count", "Counts sessions.", "a number",
		func(ctx context.Context, db *sessiondb.DB, p sourceParams) (any, error) {
			return result(db.SessionCount(ctx, p.Source))
		}),
	method(ReadsStore, "message_count", "Counts messages.", "a number",
		func(ctx context.Context, db *sessiondb.DB, p messageCountParams) (any, error) {
			return result(db.MessageCount(ctx, p.SessionID))
		}),
	method(WritesSession, "request_handoff", "Asks for a session to be moved to another platform.", "whether none was under way",
		func(ctx context.Context, db *sessiondb.DB, p platformParams) (any, error) {
			return result(db.RequestHandoff(ctx, p.SessionID, p.Platform))
		}),
	method(WritesSession, "claim_handoff", "Takes a pending handoff; of several claimants one wins.", "whether this call took it",
		func(ctx context.Context, db *sessiondb.DB, p ofSession) (any, error) {
			return result(db.ClaimHandoff(ctx, p.SessionID))
		}),
	method(WritesSession, "complete_handoff", "Marks a handoff as done.", "null",
		func(ctx context.Context, db *sessiondb.DB, p ofSession) (any, error) {
			return done(db.CompleteHandoff(ctx, p.SessionID))
		}),
	method(WritesSession, "fail_handoff", "Marks a handoff as failed.", "null",
		func(ctx context.Context, db *sessiondb.DB, p handoffErrorParams) (any, error) {
			return done(db.FailHandoff(ctx, p.SessionID, p.Error))
		}),
	method(ReadsSession, "get_handoff_state", "Returns the handoff of a session.", "state, platform, error",
		func(ctx context.Context, db *sessiondb.DB, p ofSession) (any, error) {
			return result(db.HandoffState(ctx, p.SessionID))
		}),
	method(ReadsStore, "list_pending_handoffs", "Lists the sessions that wait to be moved, oldest start first.", "a list of sessions",
		func(ctx context.Context, db *sessiondb.DB, _ none) (any, error) {
			return list(db.PendingHandoffs(ctx))
		}),
}

type newSessionParams struct {
	SessionID    string          `json:"session_id" also:"id" doc:"id; one is made if absent"`
	Source       string          `json:"source" default:"\"unknown\"" doc:"where it takes place: cli, telegram, ..."`
	Model        string          `json:"model"`
	ModelConfig  json.RawMessage `json:"model_config" doc:"JSON; an empty one is none"`
	SystemPrompt string          `json:"system_prompt"`
	UserID       string          `json:"user_id"`
	ParentID     string          `json:"parent_session_id" doc:"id of the session this one comes from"`
}

func (p newSessionParams) sessions() []string { return []string{p.SessionID, p.ParentID} }

func (p newSessionParams) session() sessiondb.NewSession {
	return sessiondb.NewSession{
		ID: p.SessionID, Source: p.Source, Model: p.Model, ModelConfig: p.ModelConfig,
		SystemPrompt: p.SystemPrompt, UserID: p.UserID, ParentID: p.ParentID,
	}
}

func createSession(ctx context.Context, db *sessiondb.DB, p newSessionParams) (any, error) {
	return result(db.CreateSession(ctx, p.session()))
}

func ensureSession(ctx context.Context, db *sessiondb.DB, p newSessionParams) (any, error) {
	return result(db.EnsureSession(ctx, p.session()))
}

type endParams struct {
	ofSession
	Reason string `json:"end_reason" also:"reason" need:"true" doc:"why: user_exit, compression, branched, ..."`
}

func endSession(ctx context.Context, db *sessiondb.DB, p endParams) (any, error) {
	return done(db.EndSession(ctx, p.SessionID, p.Reason))
}

type systemPromptParams struct {
	ofSession
	SystemPrompt string `json:"system_prompt" also:"text" need:"true" doc:"the whole text"`
}

type modelParams struct {
	ofSession
	Model string `json:"model" need:"true"`
}

type tokenParams struct {
	ofSession
	Input            int64    `json:"input_tokens" also:"input" default:"0"`
	Output           int64    `json:"output_tokens" also:"output" default:"0"`
	CacheRead        int64    `json:"cache_read_tokens" also:"cache_read" default:"0"`
	CacheWrite       int64    `json:"cache_write_tokens" also:"cache_write" default:"0"`
	Reasoning        int64    `json:"reasoning_tokens" also:"reasoning" default:"0"`
	Model            *string  `json:"model" doc:"set only where there is none yet"`
	EstimatedCostUSD *float64 `json:"estimated_cost_usd"`
	ActualCostUSD    *float64 `json:"actual_cost_usd"`
	CostStatus       *string  `json:"cost_status"`
	CostSource       *string  `json:"cost_source"`
	PricingVersion   *string  `json:"pricing_version"`
	BillingProvider  *string  `json:"billing_provider" doc:"set only where there is none yet"`
	BillingBaseURL   *string  `json:"billing_base_url" doc:"set only where there is none yet"`
	BillingMode      *string  `json:"billing_mode" doc:"set only where there is none yet"`
	APICalls         int64    `json:"api_call_count" default:"0"`
	Absolute         bool     `json:"absolute" default:"false" doc:"set the totals instead of adding to them"`
}

func updateTokenCounts(ctx context.Context, db *sessiondb.DB, p tokenParams) (any, error) {
	return done(db.UpdateUsage(ctx, p.SessionID, sessiondb.UsageUpdate{
		Tokens: sessiondb.Tokens{
			Input: p.Input, Output: p.Output, CacheRead: p.CacheRead, CacheWrite: p.CacheWrite, Reasoning: p.Reasoning,
		},
		APICalls: p.APICalls, Model: p.Model, EstimatedCostUSD: p.EstimatedCostUSD, ActualCostUSD: p.ActualCostUSD,
		CostStatus: p.CostStatus, CostSource: p.CostSource, PricingVersion: p.PricingVersion,
		BillingProvider: p.BillingProvider, BillingBaseURL: p.BillingBaseURL, BillingMode: p.BillingMode,
		Absolute: p.Absolute,
	}))
}

type prefixParams struct {
	Ref string `json:"session_id_or_prefix" also:"id_or_prefix" need:"true" doc:"id, or the beginning of one"`
}

type refParams struct {
	Ref string `json:"ref" need:"true" doc:"id, the beginning of one, or a title"`
}

type sourceParams struct {
	Source string `json:"source" doc:"only sessions of this source"`
}

type messageCountParams struct {
	SessionID string `json:"session_id" also:"id" doc:"only messages of this session"`
}

type platformParams struct {
	ofSession
	Platform string `json:"platform" need:"true" doc:"where to"`
}

type handoffErrorParams struct {
	ofSession
	Error string `json:"error" need:"true" doc:"what went wrong; 500 characters are kept"`
}

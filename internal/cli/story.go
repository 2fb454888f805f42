package cli

import (
	"context"
	"encoding/json"
	"time"

	"github.com/sessiondb-go/sessiondb"
)

// story fills the store of the demo through the public API. After an error
// nothing more happens.
type story struct {
	ctx context.Context
	db  *sessiondb.DB
	now time.Time
	err error
}

// tell makes two days of work over four sources.
func (s *story) tell() {
	s.docker()
	s.pricing()
	s.at(5, 10, 0)
	const korean, cron = "20260505_100000_b0b0b0", "20260505_113000_c40400"
	s.begin(sessiondb.NewSession{ID: korean, Source: "telegram", UserID: "777", Model: "sonnet-5"}, "회의록 정리")
	s.user(korean, "어제 회의록을 세 줄로 요약해 줘.")
	s.assistant(korean, "1. 배포는 목요일. 2. 요금제는 사용량 기준으로 다시 계산. 3. 다음 회의는 월요일 10시.")
	s.usage(korean, 700, 150, 0.004)
	s.end(korean, "user_exit")

	s.at(5, 11, 30)
	s.begin(sessiondb.NewSession{ID: cron, Source: "cron", Model: "haiku-5"}, "")
	s.user(cron, "Check the backups.")
	s.call(cron, "", "backup_status", `{"days":1}`, "3 backups, the last 2 h old, all readable")
	s.assistant(cron, "All backups of the last day are readable.")
	s.usage(cron, 400, 60, 0.0004)
	s.end(cron, "cron_complete")
	s.at(5, 13, 0)
}

// docker is a conversation that was compressed twice, with a delegate.
func (s *story) docker() {
	const first, second, third, delegate = "20260504_090000_d0cc01", "20260504_091000_d0cc02", "20260504_092000_d0cc03", "20260504_091200_5ba9e1"
	s.at(4, 9, 0)
	s.begin(sessiondb.NewSession{ID: first, Source: "cli", Model: "opus-5"}, "move to docker")
	s.user(first, "Put the gateway into a docker image, please. It must stay under 40 MB.")
	s.call(first, "I'll look at what is there.", "terminal", `{"command":"ls && cat Makefile"}`, "Makefile  cmd  go.mod  internal")
	s.assistant(first, "Two stages: build with CGO_ENABLED=0, then copy the binary into scratch.")
	s.usage(first, 5200, 840, 0.061)
	s.end(first, "compression")

	s.at(4, 9, 10)
	s.begin(sessiondb.NewSession{ID: second, Source: "cli", Model: "opus-5", ParentID: first}, "move to docker #2")
	s.user(second, "Now the health check. Don't use curl, the image has no shell.")
	s.at(4, 9, 12)
	s.begin(sessiondb.NewSession{ID: delegate, Source: "subagent", Model: "haiku-5", ParentID: second}, "")
	s.user(delegate, "Find out how others check health in a scratch image.")
	s.assistant(delegate, "Most ship a flag, such as gateway --health, and call that.")
	s.usage(delegate, 900, 120, 0.001)
	s.assistant(second, "The binary gets a flag --health, and HEALTHCHECK calls it.")
	s.usage(second, 2100, 310, 0.022)
	s.end(second, "compression")

	s.at(4, 9, 20)
	s.begin(sessiondb.NewSession{ID: third, Source: "cli", Model: "opus-5", ParentID: second}, "move to docker #3")
	s.user(third, "docker 이미지 배포는 언제 하지? 금요일 배포는 피하고 싶어.")
	s.assistant(third, "docker 이미지는 38 MB입니다. 배포는 목요일 오전으로 잡아 두었습니다.")
	s.usage(third, 1800, 260, 0.019)
}

// pricing is a conversation and a branch of it.
func (s *story) pricing() {
	const draft, branch = "20260504_130000_c0ffee", "20260504_140000_c0ffe2"
	s.at(4, 13, 0)
	s.begin(sessiondb.NewSession{ID: draft, Source: "telegram", UserID: "777", Model: "sonnet-5"}, "pricing page")
	s.user(draft, "Draft the pricing page: free, team and enterprise.")
	s.assistant(draft, "Free for one machine, team by seat, enterprise by agreement.")
	s.end(draft, "branched")
	s.at(4, 14, 0)
	s.begin(sessiondb.NewSession{ID: branch, Source: "telegram", UserID: "777", Model: "sonnet-5", ParentID: draft}, "pricing page, by usage")
	s.user(branch, "Another try: by usage only, no seats.")
	s.assistant(branch, "One price for a million tokens kept, the first ten million free.")
	s.usage(branch, 1500, 400, 0.011)
}

// at sets the clock to a time of May 2026.
func (s *story) at(day, hour, minute int) {
	s.now = time.Date(2026, 5, day, hour, minute, 0, 0, time.Local)
}

func (s *story) do(fn func() error) {
	if s.err == nil {
		s.now = s.now.Add(20 * time.Second)
		s.err = fn()
	}
}

func (s *story) begin(n sessiondb.NewSession, title string) {
	s.do(func() error {
		if _, err := s.db.CreateSession(s.ctx, n); err != nil || title == "" {
			return err
		}
		return s.db.SetTitle(s.ctx, n.ID, title)
	})
}

func (s *story) end(id, reason string) {
	s.do(func() error { return s.db.EndSession(s.ctx, id, reason) })
}

func (s *story) append(id string, m sessiondb.Message) {
	s.do(func() error {
		_, err := s.db.AppendMessage(s.ctx, id, m)
		return err
	})
}

func (s *story) user(id, text string) {
	s.append(id, sessiondb.Message{Role: "user", Content: sessiondb.Text(text)})
}

func (s *story) assistant(id, text string) {
	stop := "stop"
	s.append(id, sessiondb.Message{Role: "assistant", Content: sessiondb.Text(text), FinishReason: &stop})
}

// call appends a tool call and its result.
func (s *story) call(id, text, tool, arguments, result string) {
	callID, reason := "call_1", "tool_calls"
	calls, err := json.Marshal([]any{map[string]any{
		"id": callID, "type": "function", "function": map[string]string{"name": tool, "arguments": arguments},
	}})
	if err != nil {
		s.err = err
		return
	}
	m := sessiondb.Message{Role: "assistant", ToolCalls: calls, FinishReason: &reason}
	if text != "" {
		m.Content = sessiondb.Text(text)
	}
	s.append(id, m)
	s.append(id, sessiondb.Message{Role: "tool", Content: sessiondb.Text(result), ToolCallID: &callID, ToolName: &tool})
}

func (s *story) usage(id string, input, output int64, usd float64) {
	s.do(func() error {
		return s.db.UpdateUsage(s.ctx, id, sessiondb.UsageUpdate{
			Tokens: sessiondb.Tokens{Input: input, Output: output}, APICalls: 1, EstimatedCostUSD: &usd,
		})
	})
}

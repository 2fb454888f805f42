package redact

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// redacted masks the parts of a session.
func redacted(t testing.TB, parts ...string) ([]string, []Count) {
	t.Helper()
	var all [][]byte
	for _, p := range parts {
		all = append(all, []byte(p))
	}
	r := New()
	mask := r.Session(slices.Values(all))
	if mask == nil {
		return parts, nil
	}
	var out []string
	for _, p := range all {
		b := mask(p)
		if !json.Valid(b) {
			t.Fatalf("no JSON: %s", b)
		}
		out = append(out, string(b))
	}
	return out, r.Counts()
}

// message is a message that says something.
func message(content string) string {
	b, err := json.Marshal(map[string]string{"id": "1", "role": "user", "content": content})
	if err != nil {
		panic(err)
	}
	return string(b)
}

// Keys that are none, put together here so that no one takes them for any.
var (
	githubKey    = "gh" + "p_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
	awsKey       = "AK" + "IA" + "IOSFODNN7EXAMPLE"
	awsSecret    = "wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCYEXAMPLEKEY"
	slackKey     = "xo" + "xb-" + "123456789012-1234567890123-AbCdEfGhIjKlMnOpQrStUvWx"
	stripeKey    = "sk" + "_live_" + "4eC39HqLyjWDarjtT1zdp7dc"
	anthropicKey = "sk-" + "ant-api03-" + strings.Repeat("aB3_x-Y9", 11) + "zz9QQAA"
	openRouter   = "sk-" + "or-v1-" + strings.Repeat("0f1e2d3c", 8)
	openAI       = "sk-" + "proj-" + "Zx9Yw8Vu7Ts6Rq5Po4Nm3Lk2Ji1Hg0Fe"
	telegramKey  = "123456789" + ":AA" + "Fh3kd83jdKSL29dk_jd83kdJDK29dkLs9"
	jwt          = "ey" + "JhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.ey" + "JzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4ifQ.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c"
	googleKey    = "AI" + "za" + "SyD8f7g6h5j4k3l2z1x0c9v8b7n6m5q4w3e"
	pem          = "-----BEGIN RSA " + "PRIVATE KEY-----\n" + strings.Repeat("MIIEpAIBAAKCAQEA7bq3kd83jdKSL29dkjd83kdJDK29dkLs9aBcDeFgHiJkLmNo\n", 6) + "c2hvcnQ=\n-----END RSA " + "PRIVATE KEY-----"
)

func TestMasks(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"github", "use " + githubKey + ".", "use [redacted:github-pat]."},
		{"hangul behind", "토큰은 " + githubKey + "입니다", "토큰은 [redacted:github-pat]입니다"},
		{"hangul around a boundary", "키" + awsKey + "를 쓰세요", "키[redacted:aws-access-token]를 쓰세요"},
		{"named by the most exact rule", "export GITHUB_TOKEN=" + githubKey, "export GITHUB_TOKEN=[redacted:github-pat]"},
		{"longer than the rule knows", githubKey + "X9", "[redacted:github-pat]"},
		{"aws secret", "aws_secret_access_key = " + awsSecret, "aws_secret_access_key = [redacted:aws-secret-access-key]"},
		{"slack", "(" + slackKey + ")", "([redacted:slack-bot-token])"},
		{"stripe", "key: " + stripeKey + ",", "key: [redacted:stripe-access-token],"},
		{"anthropic", anthropicKey + ",", "[redacted:anthropic-api-key],"},
		{"openrouter", openRouter, "[redacted:model-provider-key]"},
		{"openai, any length", openAI + "입니다", "[redacted:model-provider-key]입니다"},
		{"telegram", "bot " + telegramKey, "bot [redacted:telegram-bot-token]"},
		{"jwt", "token is " + jwt + ".", "token is [redacted:jwt]."},
		{"google", "?key=" + googleKey + "&x=1", "?key=[redacted:gcp-api-key]&x=1"},
		{"private key", "a\n" + pem + "\nb", "a\n[redacted:private-key]\nb"},
		{"private key, cut off", pem[:300] + "\n... cut", "[redacted:private-key]\n... cut"},
		{"private key, the rest", "cat:\n" + pem[100:], "cat:\n[redacted:private-key]"},
		{"private key, escaped", strings.ReplaceAll(pem, "\n", `\n`), "[redacted:private-key]"},
		{"private key, numbered", "1|" + strings.ReplaceAll(pem, "\n", "\n   2|"), "1|[redacted:private-key]"},
		{"url", "postgres://user:pw@host/db", "postgres://user:[redacted:url-password]@host/db"},
		{"url, an at sign", "redis://:p@ss@localhost:6379", "redis://:[redacted:url-password]@localhost:6379"},
		{"bearer", "Authorization: Bearer abc123.def", "Authorization: Bearer [redacted:authorization-header]"},
		{"basic", `-H "Authorization: Basic dXNlcjpwYXNz"`, `-H "Authorization: Basic [redacted:authorization-header]"`},
		{"a header in an object", `{Authorization: "Bearer 0123456789"}`, `{Authorization: "Bearer [redacted:authorization-header]"}`},
		{"dsn", "host=db user=me password=s3cr3t! dbname=x", "host=db user=me password=[redacted:password] dbname=x"},
		{"ado", "Server=x;Password=hunter2;", "Server=x;Password=[redacted:password];"},
		{"yaml", "password: hunter2\nuser: me", "password: [redacted:password]\nuser: me"},
		{"korean", "비밀번호: hunter2!", "비밀번호: [redacted:password]"},
		{"environment", `export DB_PASS='hunter2'`, `export DB_PASS='[redacted:environment-secret]'`},
		{"odd characters", "DB_PASSWORD: Tr0ub4dor&3(x)y\nDB_PASS='a b;c&d1'", "DB_PASSWORD: [redacted:password]\nDB_PASS='[redacted:environment-secret]'"},
		{"a word", "PGPASSWORD=letmein psql", "PGPASSWORD=[redacted:environment-secret] psql"},
		{"in brackets", "(password=abc123) {password: abc123!}", "(password=[redacted:password]) {password: [redacted:password]}"},
		{"redis", "redis-cli -a mypass123 ping", "redis-cli -a [redacted:command-line-secret] ping"},
		{"flag", "cli --password hunter2 --verbose", "cli --password [redacted:command-line-secret] --verbose"},
		{"sshpass", "sshpass -p 'hunter2' ssh x", "sshpass -p '[redacted:command-line-secret]' ssh x"},
		{"mysql", "mysql -u root -phunter2 db", "mysql -u root -p[redacted:command-line-secret] db"},
		{"query", "https://x.example/a?sig=a1b2c3d4e5f6&y=2", "https://x.example/a?sig=[redacted:url-parameter]&y=2"},
		{"escaped once more", `{\"key\":\"x\",\n\"t\":\"\nAKIA` + awsKey[4:] + `\"`, `{\"key\":\"x\",\n\"t\":\"\n[redacted:aws-access-token]\"`},
		{"as \\u", `x \u0067` + githubKey[1:] + " y", `x [redacted:github-pat] y`},
		{"in base64", "data: " + "Z2l0aHViIGtleTogZ2hwX0ExYjJDM2Q0RTVmNkc3aDhJOWowSzFsMk0zbjRPNXA2UTdyOCBlbmQ=" + " .", "data: [redacted:github-pat] ."},
		{"two", githubKey + " " + awsKey, "[redacted:github-pat] [redacted:aws-access-token]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in, want := message(c.in), message(c.want)
			got, counts := redacted(t, in)
			if !sameJSON(t, got[0], want) {
				t.Errorf("got  %s\nwant %s", got[0], want)
			}
			total := int64(0)
			for _, c := range counts {
				total += c.Count
			}
			if n := strings.Count(got[0], maskBegin); total != int64(n) {
				t.Errorf("%d counted, %d masks: %v", total, n, counts)
			}
			if again, _ := redacted(t, got[0]); again[0] != got[0] {
				t.Errorf("again: %s", again[0])
			}
		})
	}
}

func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	var x, y any
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		t.Fatalf("no JSON: %s, %s", a, b)
	}
	p, _ := json.Marshal(x)
	q, _ := json.Marshal(y)
	return string(p) == string(q)
}

// What looks a little like a secret and is none.
func TestKeeps(t *testing.T) {
	for _, text := range []string{
		"session 550e8400-e29b-41d4-a716-446655440000 began",
		"commit 3f786850e387550fdab836ed7e6dc881de23001b",
		"sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		"h1:PmEvCfVI7ti9dV3s5aMZUY7sS2GxRvG3yzih7E+cS3w=",
		"call_abc123DEF456ghi789 returned",
		"password: required, at least 8 characters",
		"password = os.environ['DB_PASSWORD']",
		"password=args.password, password=get_pw2(user), password = conf[\"pw1\"]",
		"PASSWORD=${DB_PASSWORD} PWD=/home/me/project1",
		"const token = await getToken(session.id2)",
		"token_count: 128000, max_tokens=4096",
		"key := keys[i+1]",
		"Authorization: Bearer $TOKEN",
		"Authorization: Bearer YOUR_API_KEY",
		"Authorization: Bearer <token>",
		"git clone https://github.com/user/repo.git && git@github.com:user/repo.git",
		"http://localhost:8080/path?email=me@example.com",
		"postgres://user:${PGPASSWORD}@host/db and postgres://{user}:{password}@{host}",
		"비밀번호를 잊어버렸습니다. 토큰은 나중에 알려 드릴게요.",
		"API 키는 설정에서 만드세요: 설정 > 보안 > 키",
		"-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA\n-----END PUBLIC KEY-----",
		`strings.Contains(s, "-----BEGIN RSA ` + `PRIVATE KEY-----")`,
		"--token-limit 4096 --password-stdin --api-key-file key.txt",
		"sk-learn and sk-toggleable__label-arrow, sk-estimator-doc-link",
		"curl -s https://example.com | mysql -u root -p db",
		`{"type":"object","properties":{"password":{"type":"string"},"api_key":{"type":"string"}}}`,
		"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg==",
		"2026-03-24T16:53:20.123456+09:00 request_id=req_011CSHoEeqs5C35K2UUqR7Fy",
	} {
		if got, counts := redacted(t, message(text)); got[0] != message(text) {
			t.Errorf("%v: %s", counts, got[0])
		}
	}
}

// Every member but ids and times is looked at, JSON in strings as JSON.
func TestEveryMember(t *testing.T) {
	inner, _ := json.Marshal(map[string]any{"command": "echo \"" + githubKey + "\"\n", "env": map[string]string{"password": "hunter2"}})
	for name, value := range map[string]any{
		"content": githubKey, "tool_calls": []any{map[string]any{"id": "call_1", "function": map[string]any{"name": "x", "arguments": string(inner)}}},
		"reasoning": githubKey, "reasoning_content": githubKey, "reasoning_details": []any{map[string]string{"text": githubKey}},
		"codex_reasoning_items": []any{githubKey}, "codex_message_items": githubKey, "title": githubKey, "system_prompt": githubKey,
		"model_config": map[string]any{"api_key": "0a1b2c3d4e5f6071", "headers": []any{"Authorization: Bearer 12345678"}},
		"tool_name":    githubKey, "tool_call_id": githubKey, "finish_reason": githubKey, "billing_base_url": "https://u:" + "pw@x", "user_id": githubKey,
		"handoff_error": githubKey, "what nobody knows": githubKey,
	} {
		in, _ := json.Marshal(map[string]any{"id": 7, "session_id": "s_1", "role": "tool", "timestamp": 1.5, name: value})
		got, _ := redacted(t, string(in))
		for _, secret := range []string{githubKey, "hunter2", "0a1b2c3d4e5f6071", "12345678", "u:pw"} {
			if strings.Contains(got[0], secret) {
				t.Errorf("%s: %s stays: %s", name, secret, got[0])
			}
		}
		if !strings.Contains(got[0], maskBegin) || !strings.Contains(got[0], `"session_id":"s_1"`) || !strings.Contains(got[0], `"timestamp":1.5`) {
			t.Errorf("%s: %s", name, got[0])
		}
	}
}

// What was recognized in one place is masked in all of the session, and in no
// other session.
func TestEverywhereInTheSession(t *testing.T) {
	head := `{"id":"hunter2!","title":"about hunter2!","kind":"root"}`
	got, counts := redacted(t, head, message("I said hunter2! (not hunter2!!1)"), message(`{"password":"hunter2!"}`))
	if want := `{"id":"hunter2!","title":"about [redacted:password]","kind":"root"}`; got[0] != want {
		t.Errorf("got %s, want %s", got[0], want)
	}
	if strings.Contains(got[1], "said hunter2!") || strings.Contains(got[2], "hunter2") {
		t.Error(got)
	}
	if len(counts) != 1 || counts[0].Rule != "password" {
		t.Errorf("counts %v", counts)
	}
	if got, _ := redacted(t, head); got[0] != head {
		t.Errorf("another session: %s", got)
	}
	// A word is no secret elsewhere, only because it is one here.
	got, _ = redacted(t, message("postgres://postgres:postgres@db"), message("use postgres"))
	if !strings.Contains(got[0], "postgres:[redacted:url-password]@db") || !strings.Contains(got[1], "use postgres") {
		t.Error(got)
	}
}

// What is near a value names it: the key before, a flag before, a name beside.
func TestNames(t *testing.T) {
	for _, in := range []string{
		`{"id":1,"content":[{"api_key":"0a1b2c3d4e5f60718293"}]}`,
		`{"id":1,"content":[{"api_keys":["0a1b2c3d4e5f60718293"]}]}`,
		`{"id":1,"content":{"args":["--password","0a1b2c3d4e5f60718293"]}}`,
		`{"id":1,"content":{"env":[{"name":"API_KEY","value":"0a1b2c3d4e5f60718293"}]}}`,
		`{"id":1,"content":"{\"headers\": {\"Authorization\" : \"Bearer 0a1b2c3d4e5f60718293\"} }"}`,
	} {
		got, _ := redacted(t, in)
		if strings.Contains(got[0], "0a1b2c3d4e5f60718293") {
			t.Errorf("stays: %s", got[0])
		}
	}
}

// A text made to be slow is not: keywords without end, and lines.
func TestHostileText(t *testing.T) {
	for _, unit := range []string{"curl ", "PASS=/", "curl -H 'a' ", "-----BEGIN PRIVATE KEY----- ", "eyAAAAAAAAAAAAAAAAAAA.eyAAAAAAAAAAAAAAAAAAA/", "key=ab12cd34ef56gh78, ", "kind: secret data:\n ", "authorization: basic ", `\\u0041\"`, "\x1b[31m", "sk-\x1b[", "%25", "&amp;", "0sk-", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="} {
		text := strings.Repeat(unit, 100_000/len(unit)) + githubKey
		if got, _ := redacted(t, message(text)); strings.Contains(got[0], githubKey) {
			t.Errorf("%q: the key stays", unit)
		}
	}
}

package redact

import (
	"encoding/json"
	"strings"
	"testing"
)

// More keys that are none.
var (
	huggingKey  = "hf" + "_" + "aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgH"
	npmKey      = "np" + "m_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"
	sendgridKey = "SG" + "." + "aB3dE5fG7hI9jK1lM3nO5p" + "." + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5zA7bC9d"
	gitlabKey   = "gl" + "pat-" + "aB3dE5fG7hI9jK1lM3nO"
	aPassword   = "Tr0ub4dor3xyz9"
)

var tokens = map[string]string{
	"github": githubKey, "aws": awsKey, "slack": slackKey, "stripe": stripeKey, "anthropic": anthropicKey, "openrouter": openRouter,
	"openai": openAI, "telegram": telegramKey, "jwt": jwt, "google": googleKey, "huggingface": huggingKey, "npm": npmKey,
	"sendgrid": sendgridKey, "gitlab": gitlabKey,
}

// A token is found whatever stands around it, and what stands there stays. Two
// rules may take a little of it: a JWT holds slashes and backslashes, and a token of
// Telegram begins with digits. TOKEN is where it stands.
func TestSurroundings(t *testing.T) {
	for _, around := range []string{
		"\x1b[32mTOKEN\x1b[0m",
		"key: \x1b[01;31m\x1b[KTOKEN\x1b[m\x1b[K end",
		"see\x1b(B\x1b[m \x1b[38;5;208mTOKEN\x1b(B\x1b[m, end",
		`\x1b[31mTOKEN\x1b[0m`,
		`\u001b[31mTOKEN\u001b[0m`,
		`\\u001b[31mTOKEN`,
		`{"out":"\u001b[32mTOKEN\u001b[0m"}`,
		`\033[1;32mTOKEN\033[0m`,
		`\e[36mTOKEN\e[0m`,
		"^[[31mTOKEN^[[0m",
		`%22TOKEN%22`,
		`x%3DTOKEN%26y%3D1`,
		`https://h.example/cb?d=%7B%22k%22%3A%22TOKEN%22%7D`,
		`https://h.example/cb?d=%257B%2522k%2522%253A%2522TOKEN%2522%257D`,
		"&quot;TOKEN&quot;",
		"&#34;TOKEN&#x22;",
		"&lt;b&gt;TOKEN&lt;/b&gt;",
		"/TOKEN/",
		"https://proxy.example/TOKEN/v1/a",
		"//r.example/TOKEN",
		"`TOKEN`", "<b>TOKEN</b>", "(TOKEN)", "키TOKEN입니다",
	} {
		for name, token := range tokens {
			got, counts := redacted(t, message(strings.ReplaceAll(around, "TOKEN", token)))
			content := contentOf(t, got[0])
			greedy := name == "jwt" || name == "telegram"
			if len(counts) != 1 || strings.Contains(content, token) ||
				!greedy && content != strings.ReplaceAll(around, "TOKEN", maskBegin+counts[0].Rule+maskEnd) {
				t.Errorf("%s in %q: %q", name, around, content)
			}
			if again, _ := redacted(t, got[0]); again[0] != got[0] {
				t.Errorf("%s in %q: again %s", name, around, again[0])
			}
		}
	}
}

// A token that a word touches, but for a colour or an underscore between them, is
// found, and may take the word along.
func TestTokensBesideWords(t *testing.T) {
	for _, around := range []string{"word\x1b[32mTOKEN\x1b[0mword", `word\e[1;32mTOKEN\e[mword`, "key_TOKEN", "__TOKEN__"} {
		for name, token := range tokens {
			if name == "telegram" && strings.HasPrefix(around, "word") || name == "aws" && strings.HasSuffix(around, "_") {
				continue // a number that a word touches, and a word in capitals, are too often none
			}
			got, counts := redacted(t, message(strings.ReplaceAll(around, "TOKEN", token)))
			if len(counts) != 1 || strings.Contains(got[0], token) {
				t.Errorf("%s in %q: %s", name, around, got[0])
			}
		}
	}
}

func contentOf(t *testing.T, message string) string {
	t.Helper()
	var m struct{ Content string }
	if err := json.Unmarshal([]byte(message), &m); err != nil {
		t.Fatal(err)
	}
	return m.Content
}

// What names a value does so when it has another colour, or is written for an
// address or a page.
func TestNamesInSurroundings(t *testing.T) {
	for _, around := range []string{
		"\x1b[36mAPI_KEY\x1b[0m=\x1b[32mVALUE\x1b[0m",
		`\e[36mAPI_KEY\e[0m=\e[32mVALUE\e[0m`,
		"\x1b[34;1m\"password\"\x1b[0m\x1b[1;39m: \x1b[0;32m\"VALUE\"\x1b[0m",
		"\x1b[1mAuthorization\x1b[0m: Bearer VALUE",
		"pass\x1b[31mword\x1b[0m=VALUE",
		"%22password%22%3A%22VALUE%22",
		"%7B%22password%22%3A%20%22VALUE%22%7D",
		"q=password%3DVALUE",
		"password%3DVALUE%26next%3D1",
		"password=&quot;VALUE&quot;",
		"{&quot;password&quot;:&quot;VALUE&quot;}",
		"password: &#39;VALUE&#39;",
	} {
		got, _ := redacted(t, message(strings.ReplaceAll(around, "VALUE", aPassword)))
		if content := contentOf(t, got[0]); strings.Contains(content, aPassword) || !strings.Contains(content, maskBegin) {
			t.Errorf("%q: %q", around, content)
		}
	}
}

// Colours, addresses and pages without a secret stay.
func TestSurroundingsKeep(t *testing.T) {
	for _, text := range []string{
		"\x1b[32mPASS\x1b[0m: 12 tests, \x1b[31mtoken\x1b[0m expected",
		`printf '\e[36m%s\e[0m\n' "$API_KEY"`,
		"https://h.example/search?q=reset%20password%20for%20me%3F&lang=ko",
		"https://h.example/api/v1/550e8400-e29b-41d4-a716-446655440000/keys/a_rather_long_name",
		"100%abc %d0 &copy; &notanentity; a&b;c %zz ^[ \\e[ \\x1b[",
		"&lt;input type=&quot;password&quot; placeholder=&quot;at least 8&quot;&gt;",
		"task_sk-learn_estimator and disk-usage-of-a-rather-long-name/x",
		"data:image/png;base64,iVBOR/EAAAxAAC0b2xvciBzcGFjZXM0aB1xyz/AB0123+EAAAxAAC0b2xvciBzcGFjZXM0aB1xyz/aa==",
	} {
		if got, counts := redacted(t, message(text)); got[0] != message(text) {
			t.Errorf("%v: %s", counts, got[0])
		}
	}
}

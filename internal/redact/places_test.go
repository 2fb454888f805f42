package redact

import (
	"encoding/json"
	"strings"
	"testing"
)

// Secrets that only their place tells. Each text holds the secret once, between
// « and »; nothing of it may stay, and what is around it may.
func TestPlaces(t *testing.T) {
	hex := strings.Repeat("0a1b2c3d4e", 4)
	for _, text := range []string{
		`{"password": "«Tr0ub\"pL0r&3»", "n": 1}`,
		`DB_PASS="«ab\"cd,e1f2»"`,
		`API_KEY=«abc123,def456» next`,
		`password: «hunter2,with,more1»`,
		"amqp://user:«pa/ss#wo?rd1»@rabbit.example.com:5672/vhost",
		"git clone https://«" + hex + "»@github.com/me/repo",
		"host=db dbname=x user=me password='«a b\\'c d»'",
		"https://api.telegram.org/bot«" + telegramKey + "»/sendMessage",
		`{"api_token": "«x!y$z%9+8=7»"}`,
		`os.environ['HF_TOKEN'] = "«abcd1234efgh»"`,
		`os.Setenv("HF_TOKEN", "«abcd1234efgh»")`,
		"| user | password |\n|--|--|\n| Password | «hunter2!x» |",
		"**Password:** «hunter2!x»",
		"**비밀번호**: `«hunter2!x»`",
		`<input name="p" type="password" value="«letmein1»">`,
		`<input value='«letmein1»' name=p type=password>`,
		"private_key: |\n  «MIIEpAIBAAKCAQEA7bq3kd83jdKSL29d\n  kjd83kdJDK29dkLs9aBcDeFg»\nnext: 1",
		"set -gx HF_TOKEN «abcd1234efgh»",
		"docker login -u me -p «hunter2!x» registry.example.com",
		"Cookie: session=«0a1b2c3d4e5f6071; theme=dark»",
		`curl -b 'sid=«0a1b2c3d4e5f6071»' https://x.example`,
		"wget --http-user=me --http-password=«hunter2x» https://x.example",
		"ansible_ssh_pass=«hunter2x» ansible_host=1.2.3.4",
		"CREATE USER me IDENTIFIED BY '«hunter2x»';",
		"ALTER ROLE me WITH LOGIN PASSWORD '«hunter2x»';",
		"echo 'me:«hunter2x»' | sudo chpasswd",
		"openssl enc -aes-256-cbc -pass pass:«hunter2x» -in a",
		"db.example.com:5432:app:me:«hunter2x»",
		"root:«$6$rounds=5000$saltsalt$Zk3jd83kdJDK29dkLs9aBcDeFgHiJkLmNoPqRsTuVwXyZ01»:19000:0:::",
		"me:«$apr1$Q1w2E3r4$a8Sd7Fg6Hj5Kl4Zx3Cv2B1»",
		"refresh: «1//0" + "gk3jd83kdJDK29dkLs9aBcDeFgHiJkLmNo»",
		"aws configure set aws_secret_access_key «" + awsSecret + "»",
		"|  SecretAccessKey\t«" + awsSecret + "»",
		"password: |\n  «Tr0ub4dor3»\nnext: 1",
		"db:\n  api_key: >-\r\n    «abcd1234efgh»",
		`<add key="ApiKey" value="«abcd1234efgh»" />`,
		`<add key='DbPassword' value='«Tr0ub4 dor3»'/>`,
		"- name: DB_PASSWORD\n  value: «Tr0ub4dor&3»\n- name: x",
		"- name: \"DB_PASSWORD\"\n      value: \"«Tr0ub4dor&3»\"",
		`[{"name": "DB_PASSWORD", "value": "«Tr0ub4dor&3»", "x`,
		"API_KEY\t«abcd1234efgh»",
		"«ntn_" + strings.Repeat("a1B2c3D4", 6) + "»",
		"«figd_" + strings.Repeat("a1B2-c3D4", 5) + "»",
		"«tskey-auth-" + "kA1b2C3d4CNTRL-Zx9Yw8Vu7Ts6Rq5Po4»",
		"«sbp_" + hex + "»",
	} {
		before, rest, _ := strings.Cut(text, "«")
		secret, after, _ := strings.Cut(rest, "»")
		got, counts := redacted(t, message(before+secret+after))
		if len(counts) == 0 {
			t.Errorf("nothing masked: %s", text)
		}
		for i := 0; i+6 <= len(secret); i++ {
			if part := secret[i : i+6]; strings.Contains(got[0], strings.Trim(string(mustJSON(part)), `"`)) {
				t.Errorf("%q of %s stays: %s", part, text, got[0])
				break
			}
		}
	}
}

// What stands in such places and is no secret.
func TestPlacesKeep(t *testing.T) {
	for _, text := range []string{
		"http://localhost:8080/users?mail=me@example.com and http://[::1]:80/a@b.example",
		"see https://example.com/a:b/c@d.example",
		"https://registry.npmjs.org/@scope/package-with-a-long-name@1.2.3",
		"git@github.com:user/a-rather-long-repository-name.git",
		"pip install 'package-name-that-is-long @ git+https://github.com/user/repo'",
		"| password | string | required |",
		"| password | yes |\n|----------|-----|",
		"**Password:** required",
		`<input type="password" placeholder="at least 8">`,
		"private_key: |\n  see the vault\n",
		"set -x; set -e; set -euo pipefail",
		"Cookie: a small text file that a site leaves behind",
		"az login --use-device-code and docker login ghcr.io",
		"--max-token 4096 --idle-token=none --no-password",
		"the user has a password 'policy' and is identified by name",
		"12:34:56 2026-05-05T16:53:20 10.0.0.1:5432: connection refused",
		"price: $6.50, $1$, echo $1 $2a",
		`{"access_token": "<your token here>", "client_secret": "${SECRET}"}`,
		`keys["api_key"]: "configured"`,
		"os.environ['PASSWORD_FILE'] = '/run/secrets/db'",
		"password: |\n  at least 8 characters\n",
		"token: >\n  see-the-vault\n",
		`<input name="token" value="">, <add key="ApiKey" value="${KEY}"/>`,
		"- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef:\n      key: the-name-of-it",
		"- name: DB_PASSWORD\n  value: $(DB_PASSWORD)",
		"TOKEN\tOTHER_NAME\t12\nAPI_KEY\t/run/secrets/key1\nTOKEN\t12345678",
		"the secret value: abc, a token, value: 12345678",
		"commit 3f786850e387550fdab836ed7e6dc881de23001b by me",
	} {
		if got, counts := redacted(t, message(text)); got[0] != message(text) {
			t.Errorf("%v: %s", counts, got[0])
		}
	}
}

func mustJSON(s string) []byte {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return b
}

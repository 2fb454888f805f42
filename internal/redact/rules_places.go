package redact

// placeRules are for secrets that only the place tells where they stand: what a
// command, a file or a page says before them.
var placeRules = []rule{
	{ // one that holds what divides an address
		id: "url-password", rank: 1, keywords: []string{"://"},
		regex: `://[^\s/:@?#"'<>\x60\\\[]{1,128}:([^\s"'<>\x60\\]{1,200})@[\w-]+(?:\.[\w-]+|:\d|[/?\s"'])`,
		allow: []allowlist{templates, {regexes: []string{`^\d{1,5}(?:[/?#]|$)`, `^\[`, `[?&]\w+=`}}},
	},
	{ // a token instead of a user
		id: "url-password", rank: 1, keywords: []string{"://"},
		regex:   `://([\w~.-]{20,200}):?@[\w-]+\.`,
		entropy: 3, allow: notSecret,
	},
	{
		id: "dsn-password", rank: 1, keywords: []string{"host=", "dbname="},
		regex: `\b(?:host|dbname)=[^\n]{0,200}?\bpassword\s?=\s?'((?:[^'\\\n]|\\.){3,200})'`,
		allow: []allowlist{templates, placeholders},
	},
	{
		id: "named-secret", rank: 3, keywords: []string{
			"api_key", "api-key", "apikey", "api_token", "api-token", "apitoken", "api_secret", "api-secret", "auth_token", "auth-token",
			"authtoken", "access_token", "access-token", "accesstoken", "access_key", "refresh_token", "refreshtoken", "bot_token",
			"session_token", "client_secret", "client-secret", "clientsecret", "webhook_secret", "jwt_secret", "secret_key", "secret-key", "secretkey",
		},
		regex: `(?i)(?:api[_-]?(?:key|token)|api[_-]secret|auth[_-]?token|access[_-]?token|access_key|refresh_?token|(?:bot|session)_token|client[_-]?secret|(?:webhook|jwt)_secret|secret[_-]?key)["']\]?\s?(?:=>|[:=])\s?` +
			`(?:"((?:[^"\\\s]|\\[^\s]){8,200})"|'((?:[^'\\\s]|\\[^\s]){8,200})')`,
		allow: append([]allowlist{{regexes: []string{`^(?:[/~]|\.{1,2}/|https?:)`}}}, notSecret...),
	},
	{
		id: "environment-secret", rank: 1, keywords: []string{"token", "secret", "_key", "apikey", "password", "passwd", "_pass"},
		regex: `(?:TOKEN|SECRET|_KEY|APIKEY|PASSWORD|PASSWD|_PASS)(?:["']\]\s{0,2}=\s{0,2}|["'],\s{0,2}|\s{1,2})(?:"([^"\s]{6,200})"|'([^'\s]{6,200})')`,
		allow: append([]allowlist{{regexes: []string{`^(?:[/~]|\.{1,2}/|https?:)`}}}, notSecret...),
	},
	{ // a table, as a terminal copies it
		id: "environment-secret", rank: 1, keywords: []string{"token\t", "secret\t", "_key\t", "apikey\t", "password\t", "passwd\t", "_pass\t"},
		regex: `(?:TOKEN|SECRET|_KEY|APIKEY|PASSWORD|PASSWD|_PASS)\t{1,4}` + bare,
		allow: append([]allowlist{{regexes: []string{`^(?:[/~]|\.{1,2}/|https?:)`}}}, notSecret...),
	},
	{ // the name of a value, and the value: XML, YAML, JSON that is cut off
		id: "named-secret", rank: 1, keywords: []string{"password", "passwd", "passphrase", "token", "secret", "_key", "-key", "apikey"},
		regex: `(?i)(?:password|passwd|passphrase|token|secret|[_-]key|apikey)["']?(?:,\s{0,20}|\s{1,20})["']?value["']?(?:=|:\s{1,3})` +
			`(?:"([^"\n]{6,200})"|'([^'\n]{6,200})'|` + bare + `)`,
		allow: append([]allowlist{{regexes: []string{`^(?:[/~]|\.{1,2}/|https?:)`}}}, notSecret...),
	},
	{ // a block of YAML
		id: "named-secret", rank: 1, keywords: []string{"password:", "passwd:", "passphrase:", "token:", "secret:", "_key:", "-key:", "apikey:"},
		regex: `(?i)(?:password|passwd|passphrase|token|secret|[_-]key|apikey):[ \t]{0,3}[|>][+-]?\d?[ \t]{0,3}\r?\n[ \t]{1,20}([^\s"'\x60]{6,200})[ \t]{0,3}(?:[\r\n]|$)`,
		allow: append([]allowlist{{regexes: []string{`^(?:[/~]|\.{1,2}/|https?:)`}}}, notSecret...),
	},
	{
		id: "environment-secret", rank: 1, keywords: []string{"set -", "setx ", "setenv "},
		regex: `(?i)\b(?:set\s+(?:-\w{1,3}\s+){1,3}|setx\s+|setenv\s+)\w{0,60}(?:token|secret|_key|apikey|password|passwd|_pass)\s+(?:"([^"\n]{6,200})"|'([^'\n]{6,200})'|` + bare + `)`,
		allow: append([]allowlist{{regexes: []string{`^(?:[/~(]|\.{1,2}/)`}}}, notSecret...),
	},
	{
		id: "password", rank: 1, keywords: []string{"password", "passwd", "passphrase", "비밀번호", "パスワード", "密码", "密碼"},
		regex: `(?i)(?:password|passwd|passphrase|비밀번호|パスワード|密码|密碼)` +
			`(?:(?:[:：](?:\*\*|__)|(?:\*\*|__)\s?[:：])\s{0,2}|(?:\*\*|__|\x60)?\s{0,20}\|\s{0,20})(?:\x60([^\x60\n]{4,200})\x60|([^\s\x60|*]{5,200}))`,
		allow: append([]allowlist{{regexes: []string{`^[-:]+$`, `^(?:[/~]|\.{1,2}/|https?:)`}}}, notSecret...),
	},
	{
		id: "password", rank: 1, keywords: []string{"password"},
		regex: `(?i)<input\b[^>\n]{0,200}?(?:type=["']?password\b["']?[^>\n]{0,200}?\svalue=(?:"([^"\n]{3,200})"|'([^'\n]{3,200})')|\svalue=(?:"([^"\n]{3,200})"|'([^'\n]{3,200})')[^>\n]{0,200}?\stype=["']?password\b)`,
		allow: []allowlist{templates, placeholders},
	},
	{
		id: "password", rank: 1, keywords: []string{"ansible_"},
		regex: `\bansible_\w{0,40}pass(?:word)?["']?\s?[:=]\s?(?:"([^"\n]{3,200})"|'([^'\n]{3,200})'|` + bare + `)`,
		allow: []allowlist{templates, placeholders},
	},
	{
		id: "sql-password", rank: 1, keywords: []string{"identified", "create", "alter"},
		regex: `(?i)\b(?:identified\s+(?:with\s+["'\x60]?\w+["'\x60]?\s+)?(?:by|as)\s+(?:password\s+)?|(?:create|alter)\s+(?:user|role)\s+\S{1,80}\s[^\n;]{0,120}?\bpassword\s+)(?:'((?:[^'\n]|''){3,200})'|"([^"\n]{3,200})")`,
		allow: []allowlist{templates, placeholders},
	},
	{
		id: "command-line-secret", rank: 1, keywords: []string{"-password", "-passwd", "-token", "-secret"},
		regex: `--[\w-]{1,30}-(?:password|passwd|token|secret)(?:=|\s{1,2})(?:"([^"\n]{4,200})"|'([^'\n]{4,200})'|` + bare + `)`,
		allow: append([]allowlist{{regexes: []string{`^(?:[/~-]|\.{1,2}/)`}}}, notSecret...),
	},
	{
		id: "command-line-secret", rank: 1, keywords: []string{" login "},
		regex: `\b(?:docker|podman|helm\s+registry|az|oc)\s+login\b[^\n|;&]{0,200}?\s(?:-p|--password)[\s=]\s?(?:"([^"\n]{3,200})"|'([^'\n]{3,200})'|([^\s"'\x60\\;|$<-][^\s"'\x60\\;|]{2,200}))`,
		allow: []allowlist{templates, placeholders},
	},
	{
		id: "command-line-secret", rank: 1, keywords: []string{"chpasswd"},
		regex: `[\w.-]{1,40}:([^\s"'|:]{3,200})["']?\s{0,4}\|\s{0,4}(?:sudo\s+)?chpasswd`,
		allow: []allowlist{templates, placeholders},
	},
	{
		id: "command-line-secret", rank: 1, keywords: []string{"pass:"},
		regex: `\s-(?:pass|passin|passout|k)\s+["']?pass:([^\s"'\x60]{3,200})`,
		allow: []allowlist{templates, placeholders},
	},
	{
		id: "cookie", rank: 1, keywords: []string{"cookie"},
		regex:   `(?i)\bcookie["']?\s?:\s?["']?([\w.-]{1,80}=[^\s;"'\\]{8,}(?:;[^\n"'\\]*)?)`,
		entropy: 3, allow: []allowlist{templates},
	},
	{
		id: "cookie", rank: 1, keywords: []string{"curl "},
		regex:   `\bcurl\b[^\n]{0,300}?\s(?:-b|--cookie)[\s=]{0,2}(?:"([\w.-]{1,80}=[^"\n]{8,})"|'([\w.-]{1,80}=[^'\n]{8,})'|([\w.-]{1,80}=[^\s"'\\;|&]{8,}))`,
		entropy: 3, allow: []allowlist{templates},
	},
	{
		id: "pgpass", rank: 1, keywords: []string{":5432:", ":*:", ":5433:", ":6432:"},
		regex: `(?:[\w-]+(?:\.[\w-]+)*|\*):(?:\d{2,5}|\*):[\w*-]+:[\w*.-]+:([^\s:]{3,200})`,
		allow: []allowlist{templates, placeholders},
	},
	{
		id: "password-hash", keywords: []string{"$1$", "$5$", "$6$", "$y$", "$2a$", "$2b$", "$2y$", "$apr1$", "$argon2"},
		regex:   `\$(?:1|5|6|y|2[aby]|apr1|argon2(?:id|i|d))\$[\w./,=+-]{1,40}(?:\$[\w./,=+-]{1,120}){0,4}`,
		entropy: 3.2,
	},
	{ // lines of a key in a block
		id: "private-key", keywords: []string{"private_key:", "privatekey:", "private-key:"},
		regex: `(?i)private[_-]?key:\s{0,2}[|>][+-]?\d?\n((?:[ \t]+[A-Za-z0-9+/=]{16,}(?:\n|$))+)`,
	},
	{
		id: "service-token", keywords: []string{"ntn_", "figd_", "tskey-", "sbp_", "1//0"},
		regex:   `\b(?:ntn_[A-Za-z0-9]{40,}|figd_[\w-]{30,}|tskey-(?:auth|api|client|webhook)-[\w-]{16,}|sbp_[0-9a-f]{40}|1//0[\w-]{30,})`,
		entropy: 3,
	},
}

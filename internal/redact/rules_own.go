package redact

// ownRules are for what people and agents write and gitleaks does not look for,
// since it reads source code: connection strings, headers, flags, passwords that
// are short, keys of model providers in any length, and keys cut in half.
var ownRules = []rule{
	{
		id: "url-password", rank: 1, keywords: []string{"://"},
		regex: `://[^\s/:@?#"'<>\x60\\]{0,128}:([^\s/?#"'<>\x60\\]{1,512})@[^\s@]`,
		allow: []allowlist{templates},
	},
	{
		id: "url-parameter", rank: 1, keywords: []string{"token=", "key=", "sig=", "signature=", "secret=", "password=", "passwd=", "pwd="},
		regex:   `(?i)[?&;](?:[\w-]{0,40}[_-])?(?:token|api_?key|key|sig|signature|secret|password|passwd|pwd)=([^\s&;"'<>#\x60\\]{8,})`,
		entropy: 2.5, allow: notSecret,
	},
	{
		id: "authorization-header", rank: 1, keywords: []string{"authorization"},
		regex: `(?i)authorization["'\x60]{0,2}\s{0,4}[:=,]?\s{0,4}["'\x60]{0,2}(?:basic|bearer|token|bot|apikey|digest|negotiate)\s{1,4}([\w.~+/=:%-]{6,})`,
		allow: []allowlist{templates, placeholders},
	},
	{
		id: "bearer-token", rank: 1, keywords: []string{"bearer"},
		regex:   `(?i)\bbearer\s{1,4}([\w.~+/%-]{16,}={0,2})`,
		entropy: 3, allow: notSecret,
	},
	{
		id: "password", rank: 1, keywords: []string{"password", "passwd", "passphrase", "pwd", "비밀번호", "패스워드", "パスワード", "密码", "密碼"},
		regex: `(?i)(?:password|passwd|passphrase|pwd|비밀번호|패스워드|パスワード|密码|密碼)\d?["'\x60]{0,2}\s{0,3}(?:=>|:=|=|:|：)\s{0,3}` +
			`(?:"((?:[^"\\\s]|\\[^\s]){6,})"|'((?:[^'\\\s]|\\[^\s]){6,})'|\x60([^\x60\s]{6,})\x60|` + bare + `)`,
		allow: append([]allowlist{{regexes: []string{`^(?:[/~:]|\.{1,2}/|[A-Za-z]:[\\/]|https?:)`, `^[a-z_]\w*(?:\.\w+)+$`, `^[A-Za-z_][\w.]*[(\[]`}}}, notSecret...),
	},
	{
		id: "environment-secret", rank: 1, keywords: []string{"token=", "secret=", "_key=", "apikey=", "password=", "passwd=", "pass=", "credentials="},
		regex: `(?:TOKEN|SECRET|_KEY|APIKEY|PASSWORD|PASSWD|PASS|CREDENTIALS)=(?:"((?:[^"\\\n]|\\.){6,})"|'([^'\n]{6,})'|` + bare + `)`,
		allow: append([]allowlist{{regexes: []string{`^(?:[/~]|\.{1,2}/|https?:)`}}}, notSecret...),
	},
	{ // here a word is one, too
		id: "environment-secret", rank: 1, keywords: []string{"password="},
		regex: `PASSWORD=(?:"((?:[^"\\\n]|\\.){6,})"|'([^'\n]{6,})'|` + bare + `)`,
		allow: []allowlist{templates, placeholders, {regexes: []string{`^(?:[/~]|\.{1,2}/|https?:)`, `^[A-Za-z_][\w.]*[(\[.]`}}},
	},
	{
		id: "command-line-secret", rank: 1, keywords: []string{"--pass", "--token", "--api", "--secret", "--access", "--client", "--auth"},
		regex: `--(?:password|passwd|pass|token|api[-_]?key|api[-_]?token|secret|secret[-_]?key|access[-_]?key|access[-_]?token|client[-_]?secret|auth[-_]?token)(?:=|\s{1,2}|": ")(?:"([^"\n]{4,})"|'([^'\n]{4,})'|` + bare + `)`,
		allow: append([]allowlist{{regexes: []string{`^(?:[/~-]|\.{1,2}/)`}}}, notSecret...),
	},
	{
		id: "command-line-secret", rank: 1, keywords: []string{"sshpass", "mysql", "mariadb", "redis-cli"},
		regex: `\b(?:sshpass\s-p\s?|redis-cli\b[^\n|;&]{0,120}?\s-a\s|(?:mysql|mariadb)(?:dump|admin)?\b[^\n|;&]{0,120}?\s-p)(?:"([^"\n]{3,})"|'([^'\n]{3,})'|([^\s"'\x60\\;|$<-][^\s"'\x60\\;|]{2,}))`,
		allow: []allowlist{templates, placeholders},
	},
	{
		id: "model-provider-key", keywords: []string{"sk-"},
		regex:   `\bsk-(?:(?:ant|or|proj|svcacct|admin|lf|kimi|cp)-[\w-]{20,}|[A-Za-z0-9]{20,}[\w-]*)`,
		entropy: 3, allow: wordsOnly,
	},
	{
		id: "model-provider-key", keywords: []string{"gsk_", "xai-", "nvapi-", "r8_", "tvly-", "tgp_v1_", "fw_", "fc-", "csk-", "jina_", "lsv2_"},
		regex:   `\b(?:gsk_[A-Za-z0-9]{40,}|xai-[A-Za-z0-9]{40,}|nvapi-[\w-]{40,}|r8_[A-Za-z0-9]{37,}|tvly-(?:dev-|prod-)?[A-Za-z0-9]{20,}|tgp_v1_[\w-]{40,}|fw_[A-Za-z0-9]{22,}|fc-[0-9a-f]{32}|csk-[a-z0-9]{40,}|jina_[\w-]{40,}|lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]+)`,
		entropy: 3, allow: wordsOnly,
	},
	{
		id: "telegram-bot-token", keywords: []string{":aa"},
		regex:   `(?:\bbot|\b|_)([0-9]{8,11}:AA[\w-]{33})`,
		entropy: 3,
	},
	{
		id: "discord-bot-token", keywords: []string{"discord", "bot "},
		regex:   `\b[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,40}`,
		entropy: 4,
	},
	{
		id: "discord-webhook", keywords: []string{"discord.com/api/webhooks/", "discordapp.com/api/webhooks/"},
		regex: `(?i)discord(?:app)?\.com/api/webhooks/\d{10,}/([\w-]{40,})`,
	},
	{
		id: "aws-secret-access-key", keywords: []string{"secret_access_key", "secret-access-key", "secretaccesskey"},
		regex: `(?i)secret[_-]?access[_-]?key["'\x60\s]{0,3}(?:=>|=|:|,|\s)\s{0,3}["'\x60]?([A-Za-z0-9/+]{40}=?)`,
	},
	{ // one that was cut off, so that the rule of gitleaks finds no end
		id: "private-key", keywords: []string{"-----begin"},
		regex: `-----BEGIN[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----(?:` + between + `[A-Z][A-Za-z-]{2,20}: [^\n\\]{1,100})*` +
			`(?:(?:` + between + `[A-Za-z0-9+/=]{40,})+` + between + `[A-Za-z0-9+/=]*|` + between + `[A-Za-z0-9+/=]{16,})`,
	},
	{ // the rest of it
		id: "private-key", keywords: []string{"-----end"},
		regex: `[A-Za-z0-9+/=]*` + between + `(?:[A-Za-z0-9+/=]{40,}` + between + `)+(?:[A-Za-z0-9+/=]+` + between + `)?-----END[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----`,
	},
	{ // all entries, of which the rule of gitleaks finds the first
		id: "kubernetes-secret-yaml", keywords: []string{"kind: secret", `kind: "secret"`, "kind: 'secret'"},
		regex: `(?i)\bkind: ["']?secret\b(?s:.){0,300}?\n(?:data|stringData):[ \t]*\n((?:[ \t]+[^\n]*(?:\n|$))+)`,
	},
	{
		id: "kubernetes-secret-yaml", keywords: []string{"kind: secret", `kind: "secret"`, "kind: 'secret'"},
		regex: `(?i)\b(?:data|stringData):[ \t]*\n((?:[ \t]+[^\n]*\n)+)(?:[^ \n-][^\n]*\n(?:[ \t]+[^\n]*\n)*){0,10}?kind: ["']?secret\b`,
	},
	{
		id: "netrc-password", rank: 1, keywords: []string{"machine "},
		regex: `\bmachine\s+\S+\s+login\s+\S+\s+password\s+(\S{3,})`,
		allow: notSecret,
	},
}

// between stands between the lines of a key: also numbers of lines, marks of a
// quotation, and line ends of text within text.
const between = `(?:\s|\\[nrt]|>|\d{0,6}\|)*`

// bare is a value without quotes: up to a space or a semicolon, but for a comma, a
// bracket or a stop at its end. It takes rather too much than to leave a part.
const bare = `([^\s"'\x60;\\]{5,}[^\s"'\x60,;\\)}\]>|&.])`

// templates stand for a value that is filled in elsewhere.
var templates = allowlist{regexes: []string{
	`^\$`, `^\{[^{}]*\}$`, `^\{\{`, `^<`, `^%(?:s|d|v|q|\w+%|\(\w+\)s)$`, `^[*•.…xX]+$`,
}}

// placeholders stand for a value in instructions.
var placeholders = allowlist{regexes: []string{
	`(?i)^(?:(?:your|my|the|some|an?|new|old|access|api|auth|bearer|jwt|id|user|admin|client|session|secret|oauth2?|refresh|test|invalid|valid|example|provider|service)[_.-]?)*` +
		`(?:token|key|credentials?|jwt|here|secret|auth|authentication|authorization|schemes?|string|value|header|password|passwd|pass)s?(?:[_-]here|\.{1,3})?$`,
	`^[A-Z]+(?:_[A-Z]+)+$`, `^[xX*]+$`,
}}

// wordsOnly holds what is made of letters alone: a name, not a key.
var wordsOnly = []allowlist{{regexes: []string{`^[A-Za-z_.-]+$`}}}

// notSecret is for rules whose match may be anything.
var notSecret = append([]allowlist{templates, placeholders, {regexes: []string{`^[\d.,:%_-]+$`}}}, wordsOnly...)

package sessiondb_test

import (
	"strings"
	"testing"

	"github.com/sessiondb-go/sessiondb"
)

func TestTermsFind(t *testing.T) {
	for _, c := range []struct{ query, text, want string }{
		{"docker", "Docker, dockerd and DOCKER.", "[Docker], dockerd and [DOCKER]."},
		{"dock*", "Docker, dockerd", "[Docker], [dockerd]"},
		{`"docker compose"`, "docker-compose, docker and compose", "[docker-compose], docker and compose"},
		{"docker compose", "docker-compose", "[docker]-[compose]"},
		{"배포", "재배포를 배포", "재[배포]를 [배포]"},
		{"cafe", "Café", "[Café]"},
		{"docker OR role:user podman", "a podman docker user", "a [podman] [docker] user"},
		{"docker -podman", "podman docker", "podman [docker]"},
		{`배포배 포배`, "배포배포배", "[배포배포배]"},
		{"role:user", "role user", "role user"},
		{"", "anything", "anything"},
		{"x", "\xffx\xff", "\xff[x]\xff"},
	} {
		var got strings.Builder
		pos := 0
		for _, at := range sessiondb.QueryTerms(c.query).Find(c.text) {
			got.WriteString(c.text[pos:at.Start] + "[" + c.text[at.Start:at.End] + "]")
			pos = at.End
		}
		got.WriteString(c.text[pos:])
		if got.String() != c.want {
			t.Errorf("%q in %q: %s, want %s", c.query, c.text, got.String(), c.want)
		}
	}
}

package postgres

import (
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sessiondb-go/sessiondb/internal/text"
)

// placeOf is a URL that opens the same store again, on whichever of its servers
// answers, without the password.
func placeOf(config *pgxpool.Config, dsn, schema string) string {
	c := config.ConnConfig
	u := url.URL{Scheme: "postgres", User: url.User(c.User), Path: "/" + c.Database}
	q := url.Values{}
	hosts, ports, sockets := []string{c.Host}, []uint16{c.Port}, strings.HasPrefix(c.Host, "/")
	for _, f := range c.Fallbacks { // each comes once more where it is tried without TLS
		if last := len(hosts) - 1; f.Host != hosts[last] || f.Port != ports[last] {
			hosts, ports, sockets = append(hosts, f.Host), append(ports, f.Port), sockets || strings.HasPrefix(f.Host, "/")
		}
	}
	if sockets {
		var numbers []string
		for _, p := range ports {
			numbers = append(numbers, strconv.Itoa(int(p)))
		}
		q.Set("host", strings.Join(hosts, ","))
		q.Set("port", strings.Join(numbers, ","))
	} else {
		for i, h := range hosts {
			hosts[i] = net.JoinHostPort(h, strconv.Itoa(int(ports[i])))
		}
		u.Host = strings.Join(hosts, ",")
	}
	if schema != defaultSchema {
		q.Set("search_path", schema)
	}
	if role := setting(config, "role"); role != "" {
		q.Set("role", role)
	}
	if m := sessionAttrs().FindStringSubmatch(dsn); m != nil && slices.Contains(knownAttrs, m[1]) {
		q.Set("target_session_attrs", m[1])
	}
	u.RawQuery = q.Encode()
	return u.String()
}

// sessionAttrs finds which of several servers is wanted, in either form of a
// connection string; what was read of it does not tell.
var sessionAttrs = text.Regexp(`(?:[?&]|\b)target_session_attrs\s*=\s*'?([a-z-]+)`)

var knownAttrs = []string{"any", "read-write", "read-only", "primary", "standby", "prefer-standby"}

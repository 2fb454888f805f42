package postgres

import (
	"bytes"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// cut says where a proxy ends a connection.
type cut int32

const (
	never        cut = iota
	atBegin          // where a transaction begins
	inside           // after its first statements
	beforeCommit     // the server never hears of it
	afterCommit      // the server has done it, nobody hears of it
)

// proxy stands between a store and the server, and ends the next connection that
// gets to where it is to be cut.
type proxy struct {
	t        *testing.T
	listener net.Listener
	server   func() (net.Conn, error)
	next     atomic.Int32
	group    sync.WaitGroup
}

// newProxy returns a proxy and the connection string of a store behind it.
func newProxy(t *testing.T, dsn string) (*proxy, string) {
	t.Helper()
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	network, address := pgconn.NetworkAddress(config.Host, config.Port)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{t: t, listener: l, server: func() (net.Conn, error) { return net.Dial(network, address) }}
	p.group.Go(p.serve)
	t.Cleanup(func() {
		_ = l.Close()
		p.group.Wait()
	})
	q := url.Values{"search_path": {config.RuntimeParams["search_path"]}, "sslmode": {"disable"}}
	u := url.URL{Scheme: "postgres", User: url.UserPassword(config.User, config.Password), Host: l.Addr().String(), Path: "/" + config.Database, RawQuery: q.Encode()}
	return p, u.String()
}

func (p *proxy) serve() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := p.server()
		if err != nil {
			p.t.Error(err)
			_ = client.Close()
			return
		}
		p.group.Go(func() { p.carry(client, server) })
	}
}

// carry passes bytes on, both ways, until one side ends or the cut comes.
func (p *proxy) carry(client, server net.Conn) {
	var deaf atomic.Bool
	p.group.Go(func() {
		buf := make([]byte, 1<<16)
		for {
			n, err := server.Read(buf)
			if deaf.Load() { // the answer has come: the server has done it
				_ = client.Close()
				return
			}
			if _, failed := client.Write(buf[:n]); err != nil || failed != nil {
				_ = client.Close()
				return
			}
		}
	})
	defer func() { _ = server.Close() }()
	buf := make([]byte, 1<<16)
	for since := 0; ; since++ { // messages of this transaction
		n, err := client.Read(buf)
		if err != nil {
			return
		}
		if bytes.Contains(buf[:n], []byte("BEGIN")) {
			since = 0
		}
		switch at := p.reached(buf[:n], since); at {
		case never:
		case afterCommit:
			deaf.Store(true)
		default:
			_ = client.Close()
			return
		}
		if _, err := server.Write(buf[:n]); err != nil {
			return
		}
	}
}

// reached is the cut that a message to the server is.
func (p *proxy) reached(message []byte, since int) cut {
	at, hit := cut(p.next.Load()), false
	switch at {
	case atBegin:
		hit = since == 0
	case inside:
		hit = since == 2
	case beforeCommit, afterCommit:
		hit = bytes.Contains(message, []byte("COMMIT\x00"))
	}
	if hit && p.next.CompareAndSwap(int32(at), int32(never)) {
		return at
	}
	return never
}

package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"net"
	"net/url"
	"os"

	"github.com/spf13/cobra"

	"github.com/sessiondb-go/sessiondb"
	"github.com/sessiondb-go/sessiondb/internal/httpaccess"
	"github.com/sessiondb-go/sessiondb/internal/serve"
)

// usualAddress is where the pages are unless somebody says otherwise.
const usualAddress = "127.0.0.1:7878"

func (a *app) serveCommand() *cobra.Command {
	var o serve.Options
	var listen string
	var readOnly bool
	var files transcriptFiles
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Show the store in a browser, and offer it to programs over HTTP",
		Long: `Show the store in a browser, and offer it to programs over HTTP: open the link
that is printed. Only this machine reaches the pages, and only who knows the token
in the link, or $SESSIONDB_TOKEN. With --listen other machines can reach them too;
the token then travels unencrypted. Programs call any method of 'sessiondb rpc' as
POST /rpc/METHOD; /openapi.json describes them.`,
		Example: `  sessiondb serve
  sessiondb serve --read-only --listen 127.0.0.1:8080`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			a.strict = true // a program must not take a part for the whole
			open := a.write
			if readOnly {
				open = a.read
			}
			o.Version, o.Logger, o.Now, o.LogSize = buildVersion().Version, a.logger(), a.now, a.logSize
			var gone sessiondb.DeleteOptions
			if err := files.set(a, &gone); err != nil {
				return err
			}
			o.SessionsDir = gone.SessionsDir
			return open(ctx, func(db *sessiondb.DB) error { return a.serve(ctx, db, listen, o) })
		},
	}
	cmd.Flags().BoolVar(&readOnly, "read-only", false, "refuse every change")
	cmd.Flags().StringVar(&listen, "listen", "", "serve at `ADDRESS` instead of "+usualAddress+", or any port where that is taken")
	files.flags(cmd)
	cmd.Flags().StringSliceVar(&o.Names, "host", nil, "also go by the host `NAME`, of this machine or of a proxy")
	return cmd
}

func (a *app) serve(ctx context.Context, db *sessiondb.DB, address string, o serve.Options) error {
	l, err := listenAt(ctx, address)
	if err != nil {
		return usagef("--listen %s: %v", address, cause(err))
	}
	o.Local = httpaccess.Loopback(l.Addr())
	link := url.URL{Scheme: "http", Host: l.Addr().String(), Path: "/"}
	if !o.Local {
		link.Host = reachable(l.Addr(), &o)
	}
	if o.Token = a.env("SESSIONDB_TOKEN"); o.Token == "" {
		o.Token = rand.Text()
		link.RawQuery = "token=" + o.Token
	}
	a.note("serving at %s", &link)
	if !o.Local {
		a.note("warning: other machines reach this address, and the token travels unencrypted; without --listen this machine alone does")
	}
	return serve.Serve(ctx, l, db, o)
}

// logSize is how long the write-ahead log of the store is.
func (a *app) logSize() (int64, bool) {
	path, err := a.storePath()
	if err != nil || onServer(path) {
		return 0, false
	}
	info, err := os.Stat(path + "-wal")
	if errors.Is(err, fs.ErrNotExist) {
		return 0, true
	}
	if err != nil {
		return 0, false
	}
	return info.Size(), true
}

// listenAt takes the address, or the usual one, or else any port.
func listenAt(ctx context.Context, address string) (net.Listener, error) {
	var c net.ListenConfig
	if address != "" {
		return c.Listen(ctx, "tcp", address)
	}
	if l, err := c.Listen(ctx, "tcp", usualAddress); err == nil {
		return l, nil
	}
	return c.Listen(ctx, "tcp", "127.0.0.1:0")
}

// reachable is a host by which other machines may find an address of ours. A
// server at all addresses goes by the name of the machine as well.
func reachable(at net.Addr, o *serve.Options) string {
	t, ok := at.(*net.TCPAddr)
	if !ok || !t.IP.IsUnspecified() {
		return at.String()
	}
	_, port, _ := net.SplitHostPort(at.String())
	name, err := os.Hostname()
	if err != nil || name == "" {
		return net.JoinHostPort("127.0.0.1", port)
	}
	o.Names = append(o.Names, name)
	return net.JoinHostPort(name, port)
}

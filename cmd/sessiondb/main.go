// Command sessiondb keeps and finds the conversations of AI agents.
package main

import (
	"os"

	"github.com/sessiondb-go/sessiondb/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:])) }

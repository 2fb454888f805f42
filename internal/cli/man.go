package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// manCommand writes manual pages, made from the same definitions as --help.
func (a *app) manCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "man DIR",
		Short:  "Write a manual page for each command into a folder",
		Hidden: true, // who packages the program needs it
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("which folder?")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil { // #nosec G301 -- manual pages are for everybody
				return fmt.Errorf("write manual pages: %w", err)
			}
			return manPages(cmd.Root(), func(name, page string) error {
				path := filepath.Join(args[0], name)
				if err := os.WriteFile(path, []byte(page), 0o644); err != nil { // #nosec G306 -- so they are
					return fmt.Errorf("write manual pages: %w", err)
				}
				_, err := fmt.Fprintln(a.Out, path)
				return err
			})
		},
	}
}

// manPages gives the page of a command and of those below it, by file name.
func manPages(cmd *cobra.Command, write func(name, page string) error) error {
	if cmd.Hidden || cmd.Name() == "help" {
		return nil
	}
	if err := write(manName(cmd)+".1", manPage(cmd)); err != nil {
		return err
	}
	for _, sub := range cmd.Commands() {
		if err := manPages(sub, write); err != nil {
			return err
		}
	}
	return nil
}

func manName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// manPage is the page of one command.
func manPage(cmd *cobra.Command) string {
	cmd.InitDefaultHelpFlag()
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"sessiondb\" \"sessiondb\"\n.SH NAME\n%s \\- %s\n", strings.ToUpper(roff(manName(cmd))), roff(manName(cmd)), roff(lowerFirst(cmd.Short)))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", roff(cmd.UseLine()))
	about := cmd.Long
	if about == "" {
		about = cmd.Short + "."
	}
	fmt.Fprintf(&b, ".SH DESCRIPTION\n%s", paragraphs(about))
	if cmd.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roff(cmd.Example))
	}
	manFlags(&b, "OPTIONS", cmd.NonInheritedFlags())
	manFlags(&b, "OPTIONS OF EVERY COMMAND", cmd.InheritedFlags())
	manSeeAlso(&b, cmd)
	return b.String()
}

// paragraphs is text as roff: lines are filled, but for those that are set in.
func paragraphs(text string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		switch {
		case line == "":
			b.WriteString(".PP\n")
		case strings.HasPrefix(line, " "):
			b.WriteString(".br\n" + roff(line) + "\n")
		default:
			b.WriteString(roff(line) + "\n")
		}
	}
	return b.String()
}

func manFlags(b *strings.Builder, title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	fmt.Fprintf(b, ".SH %s\n", title)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		if value != "" {
			value = " " + value
		}
		if d := f.DefValue; d != "" && d != "false" && d != "[]" && f.Value.Type() != "bool" && d != "0" {
			usage += " (default " + d + ")"
		}
		fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roff(name+value), roff(usage))
	})
}

func manSeeAlso(b *strings.Builder, cmd *cobra.Command) {
	var see []string
	if cmd.HasParent() {
		see = append(see, manName(cmd.Parent()))
	}
	for _, sub := range cmd.Commands() {
		if !sub.Hidden && sub.Name() != "help" {
			see = append(see, manName(sub))
		}
	}
	for i, name := range see {
		see[i] = ".BR " + roff(name) + " (1)"
	}
	if len(see) > 0 {
		fmt.Fprintf(b, ".SH SEE ALSO\n%s\n", strings.Join(see, " ,\n"))
	}
}

func lowerFirst(s string) string {
	if len(s) > 1 && s[1] >= 'a' {
		return strings.ToLower(s[:1]) + s[1:]
	}
	return s
}

// roff escapes text: a backslash, hyphens that are to be copied as such, and what
// begins a line that would be a request.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, `-`, `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	var b strings.Builder
	for _, r := range strings.Join(lines, "\n") {
		if r < 0x80 {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\[u%04X]`, r) // older formatters read no UTF-8
		}
	}
	return b.String()
}

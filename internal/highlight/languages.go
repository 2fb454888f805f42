package highlight

import (
	"strings"
	"sync"
)

// language is what is to be known of one.
type language struct {
	names   string   // it goes by, separated by spaces
	line    []string // begins a comment that ends with the line
	block   [2]string
	quotes  []quote
	keys    string // the signs that stand behind a key
	anyCase bool   // of keywords
	listed  string // keywords, separated by spaces
	words   map[string]bool
	begins  [256]bool      // by the first byte, whether it may begin a comment or a string
	scan    func(*scanner) // where all of that does not do
}

// quote is a way to write a string.
type quote struct {
	mark  string
	raw   bool // a backslash is one
	lines bool // it may have several lines
	one   bool // it has one character
}

// The usual ways.
var (
	double   = quote{mark: `"`}
	single   = quote{mark: `'`}
	char     = quote{mark: `'`, one: true}
	rawTick  = quote{mark: "`", raw: true, lines: true}
	template = quote{mark: "`", lines: true}
	longer   = quote{mark: `"`, lines: true}
	verbatim = quote{mark: `'`, raw: true, lines: true}
	triple   = quote{mark: `"""`, lines: true}
	triple1  = quote{mark: `'''`, lines: true}
)

// known are the languages by their names.
var known = sync.OnceValue(func() map[string]*language {
	out := map[string]*language{}
	for _, l := range languages() {
		l.words = map[string]bool{}
		for _, w := range strings.Fields(l.listed) {
			l.words[w] = true
		}
		l.mayBegin(l.block[0])
		for _, begin := range l.line {
			l.mayBegin(begin)
		}
		for _, q := range l.quotes {
			l.mayBegin(q.mark)
		}
		for _, name := range strings.Fields(l.names) {
			out[name] = l
		}
	}
	return out
})

func (l *language) mayBegin(with string) {
	if with != "" {
		l.begins[with[0]] = true
	}
}

var slashes, hash, stars = []string{"//"}, []string{"#"}, [2]string{"/*", "*/"}

func languages() []*language {
	return append(braces(), append(scripts(), data()...)...)
}

// braces are the languages that comment as C does.
func braces() []*language {
	return []*language{
		{names: "go golang", line: slashes, block: stars, quotes: []quote{double, rawTick, char}, listed: `break case chan const
continue default defer else fallthrough for func go goto if import interface map package range return select struct switch type
var true false nil iota any bool byte error float32 float64 int int8 int16 int32 int64 rune string uint uint8 uint16 uint32 uint64`},
		{names: "c h c++ cpp cc cxx hpp objc", line: slashes, block: stars, quotes: []quote{double, char}, listed: `auto bool break case
catch char class const constexpr continue default delete do double else enum explicit extern false final float for friend goto if
inline int long namespace new noexcept nullptr NULL operator override private protected public register return short signed sizeof
static struct switch template this throw true try typedef typename union unsigned using virtual void volatile while
#include #define #if #ifdef #ifndef #else #elif #endif #pragma #undef #error`},
		{names: "javascript js jsx mjs cjs node typescript ts tsx", line: slashes, block: stars, quotes: []quote{double, single, template},
			listed: `abstract any as async await boolean break case catch class const continue debugger declare default delete do else enum
export extends false finally for from function get if implements import in infer instanceof interface is keyof let namespace never new
null number of override private protected public readonly return satisfies set static string super switch this throw true try type
typeof undefined unknown var void while with yield`},
		{names: "java", line: slashes, block: stars, quotes: []quote{triple, double, char}, listed: `abstract assert boolean break byte case
catch char class const continue default do double else enum extends false final finally float for if implements import instanceof int
interface long native new null package permits private protected public record return sealed short static super switch synchronized
this throw throws transient true try var void volatile while yield`},
		{names: "csharp cs c#", line: slashes, block: stars, quotes: []quote{triple, double, char}, listed: `abstract as async await base bool
break byte case catch char checked class const continue decimal default delegate do double else enum event explicit extern false
finally fixed float for foreach get if implicit in init int interface internal is lock long namespace new null object operator out
override params partial private protected public readonly record ref return sealed set short sizeof static string struct switch this
throw true try typeof uint ulong unsafe using var virtual void volatile when where while yield`},
		{names: "rust rs", line: slashes, block: stars, quotes: []quote{longer, char}, listed: `as async await bool break char const continue
crate dyn else enum extern f32 f64 false fn for i8 i16 i32 i64 i128 if impl in isize let loop match mod move mut pub ref return self
Self static str struct super trait true type u8 u16 u32 u64 u128 union unsafe use usize where while`},
		{names: "kotlin kt kts", line: slashes, block: stars, quotes: []quote{triple, double, char}, listed: `abstract as break by catch class
companion const continue data do else enum false finally for fun if import in inline interface internal is lateinit null object open
override package private protected public return sealed super suspend this throw true try typealias val var when where while`},
		{names: "swift", line: slashes, block: stars, quotes: []quote{triple, double}, listed: `actor as associatedtype async await break case
catch class continue default defer deinit do else enum extension fallthrough false fileprivate final for func guard if import in init
inout internal is lazy let mutating nil open override private protocol public repeat rethrows return self Self some static struct
subscript super switch throw throws true try typealias var weak where while`},
		{names: "php", line: []string{"//", "#"}, block: stars, quotes: []quote{longer, {mark: `'`, lines: true}}, listed: `abstract and array
as break case catch class clone const continue declare default do echo else elseif empty enum extends false final finally fn for
foreach function global if implements include instanceof interface isset list match namespace new null or print private protected
public readonly require require_once return static switch throw trait true try unset use var while yield`},
		{names: "css scss less", line: []string{"// "}, block: stars, quotes: []quote{double, single}, keys: ":", listed: `@media @import
@supports @keyframes @font-face @layer @container @charset @page @property @use @mixin @include @extend important`},
	}
}

// scripts are the languages with comments of their own.
func scripts() []*language {
	return []*language{
		{names: "python py python3 py3", line: hash, quotes: []quote{triple, triple1, double, single}, listed: `and as assert async await
break case class continue def del elif else except False finally for from global if import in is lambda match None nonlocal not or
pass raise return self True try while with yield`},
		{names: "bash sh shell zsh ksh", line: hash, quotes: []quote{longer, verbatim}, listed: `case do done elif else esac export fi
for function if in local readonly return select set shift source then trap unset until while break continue exit eval exec declare`},
		{names: "powershell ps1 pwsh", line: hash, block: [2]string{"<#", "#>"}, quotes: []quote{{mark: `"`, raw: true}, {mark: `'`, raw: true}},
			anyCase: true, listed: `begin break catch class continue data do dynamicparam else elseif end enum exit filter finally for foreach
function if in param process return switch throw trap try until using while $true $false $null`},
		{names: "ruby rb", line: hash, block: [2]string{"=begin", "=end"}, quotes: []quote{longer, {mark: `'`, lines: true}}, listed: `alias and
attr_accessor attr_reader begin break case class def defined do else elsif end ensure extend false for if in include lambda module
next nil not or private proc protected public raise redo require require_relative rescue retry return self super then true undef
unless until when while yield`},
		{names: "lua", line: []string{"--"}, block: [2]string{"--[[", "]]"}, quotes: []quote{double, single}, listed: `and break do else elseif end
false for function goto if in local nil not or repeat return then true until while`},
		{names: "sql postgresql postgres mysql sqlite plpgsql", line: []string{"--"}, block: stars, anyCase: true,
			quotes: []quote{{mark: `'`, raw: true, lines: true}, {mark: `"`, raw: true}}, listed: `add all alter and any as asc begin between
bigint blob boolean by cascade case check coalesce collate column commit conflict constraint create cross current_timestamp database
default delete desc distinct do drop else end escape except exists explain false filter foreign from full function grant group having
if in index inner insert int integer intersect into is join key left like limit not null numeric offset on or order outer over
partition pragma primary real recursive references replace returning right rollback schema select set table temp text then timestamp
to transaction trigger true union unique update using values varchar view virtual when where window with without`},
		{names: "dockerfile docker containerfile", line: hash, quotes: []quote{double, single}, listed: `FROM AS RUN CMD LABEL EXPOSE ENV ADD
COPY ENTRYPOINT VOLUME USER WORKDIR ARG ONBUILD STOPSIGNAL HEALTHCHECK SHELL`},
		{names: "makefile make mk", line: hash, quotes: []quote{double, single}, keys: ":=", listed: `.PHONY define endef else endif export ifdef
ifeq ifndef ifneq include override`},
	}
}

// data are the languages that describe.
func data() []*language {
	return []*language{
		{names: "json jsonc json5 jsonl ndjson", line: slashes, block: stars, quotes: []quote{double}, keys: ":", listed: "true false null"},
		{names: "yaml yml", line: hash, quotes: []quote{double, {mark: `'`, raw: true}}, keys: ":", listed: "true false null yes no on off"},
		{names: "toml", line: hash, quotes: []quote{triple, triple1, double, {mark: `'`, raw: true}}, keys: "=", listed: "true false inf nan"},
		{names: "ini conf properties dotenv env", line: []string{"#", ";"}, quotes: []quote{double, single}, keys: "=", listed: "true false"},
		{names: "html htm xml svg xhtml vue svelte", quotes: []quote{{mark: `"`, raw: true, lines: true}, verbatim}, keys: "=", scan: markup},
		{names: "diff patch udiff", scan: changes},
	}
}

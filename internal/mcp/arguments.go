package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// parameters is the schema of what a tool takes. Beside what the SDK reads, the
// tags of a field are
//
//	range    "1 50", the least and the most
//	default  JSON that stands for it when it is absent
//	oneof    the values there are, separated by spaces
func parameters[In any]() *jsonschema.Schema {
	s, err := jsonschema.For[In](nil)
	if err != nil {
		panic(err) // a struct of ours that has no schema
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[In]()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		p := s.Properties[name]
		if span := strings.Fields(f.Tag.Get("range")); len(span) == 2 {
			p.Minimum, p.Maximum = bound(span[0]), bound(span[1])
		}
		if d := f.Tag.Get("default"); d != "" {
			p.Default = json.RawMessage(d)
		}
		for _, v := range strings.Fields(f.Tag.Get("oneof")) {
			p.Enum = append(p.Enum, v)
		}
	}
	return s
}

func bound(s string) *float64 {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		panic(err)
	}
	return &v
}

// arguments reads the arguments of a call. What a schema validator says of them
// is for programmers; this tells a model what to give instead. Null, and an
// empty text, count as absent where a parameter may be.
func arguments(raw json.RawMessage, s *jsonschema.Schema, in any) error {
	given := map[string]json.RawMessage{}
	if raw = bytes.TrimSpace(raw); len(raw) > 0 && string(raw) != "null" && json.Unmarshal(raw, &given) != nil {
		return errors.New("the arguments are no JSON object: give " + takes(s))
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if s.Properties[name] == nil {
			return fmt.Errorf("there is no parameter %q: give %s", glimpseOf(name), takes(s))
		}
	}
	for _, name := range s.PropertyOrder {
		p, required := s.Properties[name], slices.Contains(s.Required, name)
		v, ok := given[name]
		if empty := string(v); !required && empty == `""` || empty == "null" {
			ok = false
		}
		switch {
		case ok:
			if v, ok = fits(v, p); !ok {
				return fmt.Errorf("%s: give %s, not %s", name, wanted(p), glimpseOf(string(given[name])))
			}
			given[name] = v
		case required:
			return fmt.Errorf("%s is missing: give %s", name, wanted(p))
		case p.Default != nil:
			given[name] = p.Default
		default:
			delete(given, name)
		}
	}
	clean, err := json.Marshal(given)
	if err != nil {
		return err
	}
	return json.Unmarshal(clean, in)
}

// fits tells whether a value can be used, and returns it as Go reads it.
func fits(v json.RawMessage, p *jsonschema.Schema) (json.RawMessage, bool) {
	switch {
	case p.Items != nil:
		var list []json.RawMessage
		err := json.Unmarshal(v, &list)
		return v, err == nil && !slices.ContainsFunc(list, func(v json.RawMessage) bool { return v[0] != '"' })
	case p.Type == "integer":
		n, ok := integer(string(v))
		return strconv.AppendInt(nil, n, 10), ok && (p.Minimum == nil || float64(n) >= *p.Minimum && float64(n) <= *p.Maximum)
	case v[0] != '"':
		return v, false
	case p.Enum != nil:
		var text string
		err := json.Unmarshal(v, &text)
		return v, err == nil && slices.Contains(p.Enum, any(text))
	}
	return v, true
}

// integer reads a whole number, also one that is written with a fraction: 5.0.
func integer(s string) (int64, bool) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(s, 64)
	n := int64(f)
	return n, err == nil && float64(n) == f && n < 1<<53 && n > -1<<53
}

// wanted says in words what a parameter takes.
func wanted(p *jsonschema.Schema) string {
	switch {
	case p.Items != nil:
		return "a list of strings"
	case p.Minimum != nil:
		return fmt.Sprintf("an integer from %v to %v", *p.Minimum, *p.Maximum)
	case p.Type == "integer":
		return "an integer"
	case p.Enum != nil:
		var values []string
		for _, v := range p.Enum {
			values = append(values, fmt.Sprint(v))
		}
		return "one of " + strings.Join(values, ", ")
	}
	return "a string"
}

// takes names the parameters of a tool.
func takes(s *jsonschema.Schema) string { return strings.Join(s.PropertyOrder, ", ") }

// glimpseOf is the beginning of something that was given.
func glimpseOf(s string) string {
	part, next := cut(strings.Join(strings.Fields(s), " "), 0, 40)
	if next > 0 {
		part += "…"
	}
	return part
}

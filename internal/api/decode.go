package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Param describes a parameter of a method.
type Param struct {
	Name     string          `json:"name"`
	Type     string          `json:"type"` // string, integer, number, boolean, object, any, or "array of" one of them
	Required bool            `json:"required,omitempty"`
	Default  json.RawMessage `json:"default,omitempty"` // what an absent parameter stands for
	Doc      string          `json:"doc,omitempty"`
	// Aliases are other names it goes by.
	Aliases []string `json:"aliases,omitempty"`
	// NullMeans says what null is where it is not the default.
	NullMeans string `json:"null_means,omitempty"`
}

// ParamError is a parameter that can't be used.
type ParamError struct {
	Param  string // its name; empty if the parameters as a whole are wrong
	Reason string
}

func (e *ParamError) Error() string {
	if e.Param == "" {
		return "parameters: " + e.Reason
	}
	return "parameter " + e.Param + ": " + e.Reason
}

// field is a parameter and where it goes. The struct field's tags are
//
//	json     its name
//	doc      what it is
//	need     set if the method can't do without
//	default  JSON that stands for it when absent or null
//	null     what null means, where that is not the default
//	also     other names, separated by spaces
type field struct {
	Param
	index []int
}

func fieldsOf[P any]() (out []field) {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[P]()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || name == "" {
			continue
		}
		p := Param{Name: name, Type: typeName(f.Type), Required: f.Tag.Get("need") != "", Doc: f.Tag.Get("doc"),
			Aliases: strings.Fields(f.Tag.Get("also")), NullMeans: f.Tag.Get("null")}
		if d := f.Tag.Get("default"); d != "" {
			p.Default = json.RawMessage(d)
		}
		out = append(out, field{Param: p, index: f.Index})
	}
	return out
}

func describe(fields []field) []Param {
	out := make([]Param, len(fields))
	for i, f := range fields {
		out[i] = f.Param
	}
	return out
}

func typeName(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[json.RawMessage]():
		return "any"
	case t == reflect.TypeFor[instant]():
		return "number"
	case t.Kind() == reflect.Pointer:
		return typeName(t.Elem())
	case t.Kind() == reflect.Slice:
		return "array of " + typeName(t.Elem())
	}
	switch t.Kind() {
	case reflect.Bool:
		return "boolean"
	case reflect.Int, reflect.Int64:
		return "integer"
	case reflect.Float64:
		return "number"
	case reflect.String:
		return "string"
	}
	return "object"
}

// decode fills the struct that p points at. Null stands for an absent
// parameter, unless the field says what it means.
func decode(params json.RawMessage, fields []field, p any) error {
	given, err := byParam(params, fields)
	if err != nil {
		return err
	}
	v := reflect.ValueOf(p).Elem()
	for _, f := range fields {
		raw, ok, err := f.take(given)
		if err != nil {
			return err
		}
		if ok && string(raw) == "null" && f.NullMeans == "" {
			ok = false
		}
		if !ok && f.Required {
			return &ParamError{f.Name, "is required"}
		}
		if !ok {
			raw = f.Default
		}
		if raw == nil {
			continue
		}
		if err := json.Unmarshal(raw, v.FieldByIndex(f.index).Addr().Interface()); err != nil {
			return &ParamError{f.Name, fmt.Sprintf("want %s: %s", f.Type, brief(err))}
		}
	}
	if len(given) > 0 {
		return &ParamError{slices.Min(slices.Collect(maps.Keys(given))), "is unknown"}
	}
	return nil
}

// take removes the value of a parameter from those given, by whatever name.
func (f *field) take(given map[string]json.RawMessage) (raw json.RawMessage, ok bool, err error) {
	for _, name := range append([]string{f.Name}, f.Aliases...) {
		v, found := given[name]
		if found && ok {
			return nil, false, &ParamError{name, "is another name of " + f.Name + ", which is given too"}
		}
		if found {
			raw, ok = v, true
		}
		delete(given, name)
	}
	return raw, ok, nil
}

// byParam returns the parameters that were given, by name.
func byParam(params json.RawMessage, fields []field) (map[string]json.RawMessage, error) {
	params = bytes.TrimSpace(params)
	given := map[string]json.RawMessage{}
	switch {
	case len(params) == 0, string(params) == "null":
	case params[0] == '{':
		if err := json.Unmarshal(params, &given); err != nil {
			return nil, &ParamError{"", brief(err)}
		}
	case params[0] == '[':
		var values []json.RawMessage
		if err := json.Unmarshal(params, &values); err != nil {
			return nil, &ParamError{"", brief(err)}
		}
		if len(values) > len(fields) {
			return nil, &ParamError{"", fmt.Sprintf("%d given, at most %d are known", len(values), len(fields))}
		}
		for i, v := range values {
			given[fields[i].Name] = v
		}
	default:
		return nil, &ParamError{"", "want an object or a list"}
	}
	return given, nil
}

// brief says what is wrong without Go's names for it.
func brief(err error) string {
	e, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return strings.TrimPrefix(err.Error(), "json: ")
	}
	got := "got " + strings.Replace(e.Value, "bool", "boolean", 1)
	if e.Field == "" {
		return got
	}
	return e.Field[strings.LastIndexByte(e.Field, '.')+1:] + " is no " + typeName(e.Type) + ": " + got
}

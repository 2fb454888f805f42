package serve

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/sessiondb-go/sessiondb/internal/api"
)

// object is a piece of JSON.
type object = map[string]any

// openAPI describes the methods, in the words of their table.
func (s *server) openAPI(w http.ResponseWriter, _ *http.Request) {
	s.writeJSON(w, http.StatusOK, describe(s.options.Version))
}

func describe(version string) object {
	paths := object{}
	for _, m := range api.Methods {
		paths["/rpc/"+m.Name] = object{"post": operation(m)}
	}
	return object{
		"openapi": "3.1.0",
		"info":    object{"title": "sessiondb", "version": version, "description": "Every operation on the store, as a call. Times are seconds since 1970."},
		"paths":   paths,
		"components": object{
			"securitySchemes": object{"token": object{"type": "http", "scheme": "bearer"}},
			"schemas":         object{"Error": errorSchema()},
			"responses":       errorResponses(),
		},
		"security": []object{{"token": []string{}}},
	}
}

func operation(m *api.Method) object {
	tag := "read"
	if m.Access.Writes() || m.Access == api.MakesFile {
		tag = "write"
	}
	responses := object{
		"200": object{"description": m.Result, "content": object{"application/json": object{"schema": object{}}}},
		"401": object{"description": "no token, or another one"},
	}
	for name := range errorResponses() {
		responses[name] = object{"$ref": "#/components/responses/" + name}
	}
	return object{
		"operationId": m.Name, "summary": m.Doc, "tags": []string{tag}, "responses": responses,
		"requestBody": object{"required": needsBody(m), "content": object{"application/json": object{"schema": paramsSchema(m)}}},
	}
}

func needsBody(m *api.Method) bool {
	for _, p := range m.Params() {
		if p.Required {
			return true
		}
	}
	return false
}

func paramsSchema(m *api.Method) object {
	properties, required := object{}, []string{}
	for _, p := range m.Params() {
		properties[p.Name] = paramSchema(p)
		if p.Required {
			required = append(required, p.Name)
		}
	}
	schema := object{"type": "object", "properties": properties}
	if len(required) > 0 {
		schema["required"] = required
	}
	return schema
}

func paramSchema(p api.Param) object {
	schema := typeSchema(p.Type)
	if t, ok := schema["type"]; ok && !p.Required {
		schema["type"] = []any{t, "null"}
	}
	doc := []string{p.Doc}
	if p.NullMeans != "" {
		doc = append(doc, "null: "+p.NullMeans)
	}
	if len(p.Aliases) > 0 {
		doc = append(doc, "also called "+strings.Join(p.Aliases, ", "))
	}
	schema["description"] = strings.Join(doc, "; ")
	if p.Default != nil {
		schema["default"] = json.RawMessage(p.Default)
	}
	return schema
}

func typeSchema(name string) object {
	if item, ok := strings.CutPrefix(name, "array of "); ok {
		return object{"type": "array", "items": typeSchema(item)}
	}
	if name == "any" {
		return object{}
	}
	return object{"type": name}
}

// errorSchema is problemJSON.
func errorSchema() object {
	var names []api.Kind
	for _, k := range api.Kinds() {
		names = append(names, k.Kind)
	}
	inner := object{"type": "object", "required": []string{"kind", "code", "message"}, "properties": object{
		"kind":    object{"type": "string", "enum": names},
		"code":    object{"type": "integer", "description": "the code of JSON-RPC"},
		"message": object{"type": "string"},
		"data":    object{"type": "object", "description": "what a caller can act on"},
	}}
	return object{"type": "object", "required": []string{"error"}, "properties": object{"error": inner}}
}

// errorResponses say, for each status, which kinds of errors have it.
func errorResponses() object {
	when := map[string][]string{
		"413": {"invalid_request: the parameters are too long"},
		"415": {"invalid_request: the parameters are not sent as JSON"},
	}
	for _, k := range api.Kinds() {
		status := strconv.Itoa(statusOf(k.Kind))
		when[status] = append(when[status], string(k.Kind)+": "+k.When)
	}
	out := object{}
	for status, lines := range when {
		out[status] = object{
			"description": strings.Join(lines, "\n"),
			"content":     object{"application/json": object{"schema": object{"$ref": "#/components/schemas/Error"}}},
		}
	}
	return out
}

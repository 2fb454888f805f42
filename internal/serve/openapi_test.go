package serve

import (
	_ "embed"
	"encoding/json"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

// officialSchema is https://spec.openapis.org/oas/3.1/schema/2026-08-03, by the OpenAPI
// Initiative (Apache-2.0).
//
//go:embed testdata/openapi-3.1.json
var officialSchema []byte

// The description of the methods is what the OpenAPI Initiative calls one.
func TestOpenAPISchema(t *testing.T) {
	var schema jsonschema.Schema
	if err := json.Unmarshal(officialSchema, &schema); err != nil {
		t.Fatal(err)
	}
	official, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	_, s := store(t)
	var d any
	decode(t, get(t, s, "/openapi.json"), &d)
	if err := official.Validate(d); err != nil {
		t.Error(err)
	}
	paths := d.(object)["paths"].(object)
	for path, p := range paths {
		eachObject(p.(object)["post"].(object)["requestBody"], func(o object) {
			if params, ok := o["schema"]; ok {
				resolves(t, path, params)
			}
		})
	}
	paths["/rpc/search"] = object{"post": object{"responses": object{"okay": object{"description": "no status"}}}}
	if official.Validate(d) == nil {
		t.Error("the schema lets anything pass")
	}
}

// resolves checks a schema of its own, which the official one leaves to JSON Schema.
func resolves(t *testing.T, path string, schema any) {
	t.Helper()
	text, err := json.Marshal(schema)
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(text, &s); err != nil {
		t.Errorf("%s: %v", path, err)
		return
	}
	if _, err := s.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true}); err != nil {
		t.Errorf("%s: %v", path, err)
	}
}

package cli

import "encoding/json"

// callText is a tool call as a person reads it: the name and the arguments.
func callText(raw json.RawMessage) string {
	var c struct {
		Name     string          `json:"name"`
		Input    json.RawMessage `json:"input"`
		Function struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"function"`
	}
	if json.Unmarshal(raw, &c) != nil {
		return string(raw)
	}
	if c.Function.Name != "" {
		return c.Function.Name + "(" + argumentText(c.Function.Arguments) + ")"
	}
	if c.Name != "" {
		return c.Name + "(" + argumentText(c.Input) + ")"
	}
	return string(raw)
}

// argumentText unpacks arguments that are a string of JSON.
func argumentText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

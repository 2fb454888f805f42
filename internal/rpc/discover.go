package rpc

import "github.com/sessiondb-go/sessiondb/internal/api"

const discoverName = "rpc.discover"

type discovered struct {
	Methods []discoveredMethod `json:"methods"`
}

type discoveredMethod struct {
	Name   string      `json:"name"`
	Doc    string      `json:"doc"`
	Params []api.Param `json:"params"`
	Result string      `json:"result"`
	Writes bool        `json:"writes"`
}

// discovery lists the methods with their parameters.
func discovery() discovered {
	d := discovered{Methods: make([]discoveredMethod, len(api.Methods))}
	for i, m := range api.Methods {
		d.Methods[i] = discoveredMethod{Name: m.Name, Doc: m.Doc, Params: m.Params(), Result: m.Result, Writes: m.Access.Writes()}
	}
	return d
}

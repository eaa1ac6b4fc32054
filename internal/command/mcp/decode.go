package mcp

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

// decode reads the arguments of a call. An unknown field is an error, which names the known ones: a
// field without effect would let the agent believe that it was taken into account.
func decode(tool string, raw json.RawMessage, known []string, into any) error {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		raw = json.RawMessage("{}")
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return fmt.Errorf("the arguments of %s must be an object", tool)
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(known, name) {
			return fmt.Errorf("unknown field %q; %s takes %s", name, tool, strings.Join(known, ", "))
		}
		if string(fields[name]) == "null" {
			return fmt.Errorf("%s is null; give a value or leave it out", name)
		}
	}
	err := json.Unmarshal(raw, into)
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong):
		field := wrong.Field[strings.LastIndexByte(wrong.Field, '.')+1:]
		return fmt.Errorf("%s: expected %s, found %s; the schema of %s describes it", field,
			nameOf(wrong.Type), article(wrong.Value), tool)
	case err != nil:
		return fmt.Errorf("the arguments of %s: %w", tool, err)
	}
	return nil
}

// nameOf names a Go type in terms of JSON.
func nameOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Int:
		return "an integer"
	case reflect.Slice:
		return "an array of strings"
	}
	return "an object"
}

// article puts an article before what package json calls a value.
func article(value string) string {
	value, _, _ = strings.Cut(value, " ") // "number 1.5"
	switch value {
	case "bool":
		return "a boolean"
	case "array", "object":
		return "an " + value
	}
	return "a " + value
}

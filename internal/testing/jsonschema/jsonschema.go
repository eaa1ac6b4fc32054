// Package jsonschema compares structs that are written as JSON with the JSON Schema and the
// Markdown page that document them, for tests. It supports the parts of JSON Schema that
// docs/schema uses: definitions, properties, required fields and items.
package jsonschema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Documents holds a schema and a page in Markdown.
type Documents struct {
	root   map[string]any     // the schema, with additional properties forbidden
	page   string             // text of the page
	strict *jsonschema.Schema // root, compiled
}

// Read reads a schema and a page from files. It fails if the schema is not a valid JSON Schema.
func Read(schema, page string) (*Documents, error) {
	text, err := os.ReadFile(schema)
	if err != nil {
		return nil, err
	}
	markdown, err := os.ReadFile(page)
	if err != nil {
		return nil, err
	}
	d := &Documents{page: string(markdown)}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", schema, err)
	}
	// validates the schema itself, before close adds to it
	if _, err := compile(doc); err != nil {
		return nil, fmt.Errorf("%s: %w", schema, err)
	}
	root, ok := doc.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s: the schema is %T, expected an object", schema, doc)
	}
	d.root = root
	d.close()
	if d.strict, err = compile(doc); err != nil {
		return nil, fmt.Errorf("%s: %w", schema, err)
	}
	return d, nil
}

// compile checks a document against the meta-schema that it names, and compiles it.
func compile(doc any) (*jsonschema.Schema, error) {
	const name = "schema.json"
	c := jsonschema.NewCompiler()
	if err := c.AddResource(name, doc); err != nil {
		return nil, err
	}
	return c.Compile(name)
}

// close forbids additional properties. The published schema allows them, so that readers accept
// future fields, but every field that is written must be documented.
func (d *Documents) close() {
	definitions, _ := d.root["definitions"].(map[string]any)
	for _, v := range definitions {
		if def, ok := v.(map[string]any); ok {
			def["additionalProperties"] = false
		}
	}
}

// Title returns the title of the schema.
func (d *Documents) Title() string {
	title, _ := d.root["title"].(string)
	return title
}

// Validate checks a JSON object against the schema and returns the violations, one a line with the
// place in the object; none means that it is valid. Fields that the schema does not name are
// violations here.
func (d *Documents) Validate(object []byte) []string {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(object))
	if err != nil {
		return []string{err.Error()}
	}
	if err := d.strict.Validate(doc); err != nil {
		return []string{err.Error()} // one line for each mistake, with its place in the object
	}
	return nil
}

// Struct compares a struct, and the structs of its fields, with a definition of the schema and with
// the page, and returns the differences. Both must have the same fields of the same kinds; a field
// is required exactly if it is always written; and the page must mention each field in backquotes.
func (d *Documents) Struct(definition string, t reflect.Type) []string {
	c := &comparison{Documents: d, done: map[reflect.Type]bool{}}
	c.compare(definition, map[string]any{"$ref": "#/definitions/" + definition}, t)
	return c.wrong
}

// comparison is the state of one Struct.
type comparison struct {
	*Documents
	done  map[reflect.Type]bool // structs that have been compared
	wrong []string              // differences
}

// say records a difference. The comparison continues, so that one run of a test shows all of them.
func (c *comparison) say(format string, args ...any) {
	c.wrong = append(c.wrong, fmt.Sprintf(format, args...))
}

// compare compares a type with a node of the schema, following references. at names the node in
// messages.
func (c *comparison) compare(at string, node map[string]any, t reflect.Type) {
	if ref, ok := node["$ref"].(string); ok {
		name := strings.TrimPrefix(ref, "#/definitions/")
		definitions, _ := c.root["definitions"].(map[string]any)
		def, ok := definitions[name].(map[string]any)
		if !ok {
			c.say("%s: the schema has no definition %s", at, name)
			return
		}
		at, node = name, def
	}
	if t == reflect.TypeFor[json.RawMessage]() { // an object that has its own definition
		return
	}
	// Pointers and slices are transparent: their element is compared with the same node or its items.
	kind, _ := node["type"].(string)
	want := ""
	switch t.Kind() {
	case reflect.Pointer:
		c.compare(at, node, t.Elem())
		return
	case reflect.Slice:
		want = "array"
		if items, ok := node["items"].(map[string]any); ok {
			c.compare(at, items, t.Elem())
		}
	case reflect.Struct:
		want = "object"
		c.object(at, node, t)
	case reflect.String:
		want = "string"
	case reflect.Bool:
		want = "boolean"
	case reflect.Float64:
		want = "number"
	case reflect.Int, reflect.Int64, reflect.Uint32, reflect.Uint64:
		want = "integer"
	default:
		c.say("%s: type %v is not supported", at, t)
	}
	if kind != want {
		c.say("%s: the schema says %s, the struct has %s", at, kind, want)
	}
}

// object compares the fields of a struct with the properties of a node. Each struct is compared
// once, so that recursive types end.
func (c *comparison) object(at string, node map[string]any, t reflect.Type) {
	if c.done[t] {
		return
	}
	c.done[t] = true
	// A missing or malformed part of the schema counts as empty, so every field is then reported.
	properties, _ := node["properties"].(map[string]any)
	required, _ := node["required"].([]any)
	written := map[string]bool{}
	for _, f := range reflect.VisibleFields(t) {
		tag, ok := f.Tag.Lookup("json")
		if f.Anonymous || !ok {
			if !f.Anonymous {
				c.say("%s: field %s has no name in JSON", at, f.Name)
			}
			continue
		}
		// The tag is "name" or "name,omitempty"; without omitempty the field is always written.
		name, rest, _ := strings.Cut(tag, ",")
		written[name] = true
		if !strings.Contains(c.page, "`"+name+"`") {
			c.say("%s: the page does not mention `%s`", at, name)
		}
		p, ok := properties[name].(map[string]any)
		if !ok {
			c.say("%s: the schema has no %s", at, name)
			continue
		}
		if always := !strings.Contains(rest, "omitempty"); always != slices.Contains(required,
			any(name)) {
			c.say("%s: %s must be required exactly if it is always written", at, name)
		}
		c.compare(at+"."+name, p, f.Type)
	}
	for name := range properties {
		if !written[name] {
			c.say("%s: the struct does not have %s", at, name)
		}
	}
}

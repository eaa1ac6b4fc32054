package jsonschema

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

const schema = `{"$schema":"http://json-schema.org/draft-07/schema#","oneOf":[{"$ref":"#/definitions/thing"}],"definitions":{
"thing":{"type":"object","required":["name","parts"],"properties":{"name":{"type":"string"},"parts":{"type":"array","items":{"$ref":"#/definitions/part"}},"size":{"type":"integer"}}},
"part":{"type":"object","properties":{"on":{"type":"boolean"}}}}}`

type part struct {
	On bool `json:"on,omitempty"`
}

func read(t *testing.T, schema, page string) (*Documents, error) {
	dir := t.TempDir()
	for name, text := range map[string]string{"s.json": schema, "page": page} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return Read(filepath.Join(dir, "s.json"), filepath.Join(dir, "page"))
}

func TestStruct(t *testing.T) {
	d, err := read(t, schema, "`name`, `parts`, `size` and `on`")
	if err != nil {
		t.Fatal(err)
	}
	type thing struct {
		Name  string `json:"name"`
		Parts []part `json:"parts"`
		Size  *int   `json:"size,omitempty"`
	}
	if wrong := d.Struct("thing", reflect.TypeFor[thing]()); len(wrong) > 0 {
		t.Error(wrong)
	}
	// Each difference is reported.
	type different struct {
		Name  int               `json:"name,omitempty"`
		Parts []struct{ X int } `json:"parts"`
		New   string            `json:"new"`
	}
	got := strings.Join(d.Struct("thing", reflect.TypeFor[different]()), "; ")
	for _, want := range []string{"name must be required", "thing.name: the schema says string",
		"X has no name", "the struct does not have on", "the schema has no new",
		"the page does not mention `new`", "the struct does not have size"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %s", want, got)
		}
	}
	if wrong := d.Struct("other", reflect.TypeFor[thing]()); len(wrong) != 1 {
		t.Error(wrong)
	}
	for text, valid := range map[string]bool{
		`{"name":"a","parts":[{"on":true}]}`: true, `{"name":"a","parts":[{}],"size":1}`: true,
		`{"name":"a"}`: false, `{"name":"a","parts":[],"more":1}`: false,
		`{"name":"a","parts":[{"on":1}]}`: false, `{`: false,
	} {
		if wrong := d.Validate([]byte(text)); valid != (len(wrong) == 0) {
			t.Errorf("%s: %q", text, wrong)
		}
	}
	if _, err := read(t, `{"$schema":"http://json-schema.org/draft-07/schema#","type":"thing"}`,
		""); err == nil {
		t.Error("an invalid schema is accepted")
	}
}

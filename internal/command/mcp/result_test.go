package mcp

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"heddle/internal/diag"
)

// The values in the description of a launch that were guessed; commas within parentheses separate
// nothing.
func TestGuessed(t *testing.T) {
	for launch, want := range map[string][]string{
		"":                                 nil,
		"grid 8 (host code), n = 4 (flag)": nil,
		"grid 4 (guessed), block 64 (flag), n = 256 (guessed: of a, b), x: zeros (guessed)": {"grid 4 (guessed)",
			"n = 256 (guessed: of a, b)", "x: zeros (guessed)"},
	} {
		if got := guessed(launch); !slices.Equal(got, want) {
			t.Errorf("%q: %q", launch, got)
		}
	}
}

// A bug outweighs everything, and what was not examined is never clean (docs/verdicts.md).
func TestWorst(t *testing.T) {
	of := func(kinds ...diag.VerdictKind) (out []diag.Verdict) {
		for _, k := range kinds {
			out = append(out, diag.Verdict{Kind: k})
		}
		return out
	}
	for _, tt := range []struct {
		kinds  []diag.Verdict
		unread bool
		want   diag.VerdictKind
	}{
		{nil, false, diag.Unknown},
		{of(diag.Verified), false, diag.Verified},
		{of(diag.Verified), true, diag.Unknown},
		{of(diag.Verified, diag.Clean), false, diag.Clean},
		{of(diag.Clean, diag.Unknown, diag.Verified), false, diag.Unknown},
		{of(diag.Unsupported, diag.Unknown), true, diag.Unsupported},
		{of(diag.Verified, diag.Bug, diag.Unsupported), true, diag.Bug},
	} {
		if got := worst(tt.kinds, tt.unread); got != tt.want {
			t.Errorf("%v, %v: %v", tt.kinds, tt.unread, got)
		}
	}
}

func TestBounds(t *testing.T) {
	if got := cut(strings.Repeat("ä", mostRunes+1)); got != strings.Repeat("ä", mostRunes)+"..." {
		t.Errorf("%d bytes", len(got))
	}
	if got := cutAll(slices.Repeat([]string{"x"}, mostLines+3)); len(got) != mostLines+1 || got[mostLines] != "(3 more lines)" {
		t.Errorf("%q", got)
	}
	number := func(i int) int { return 100 + i } // 3 bytes each
	for most, want := range map[int]int{0: 1, 3: 1, 8: 2, 9: 3, 100: 4} {
		if got := fitting(4, most, number); len(got) != want || got[0] != 100 {
			t.Errorf("in %d bytes: %v", most, got)
		}
	}
	if got := fitting(0, 9, number); got == nil || len(got) > 0 {
		t.Errorf("nothing: %v", got)
	}
	for _, tt := range []struct {
		text string
		most int
		want string
		cut  bool
	}{{"ab\ncd\n", 6, "ab\ncd\n", false}, {"ab\ncd\n", 5, "ab\n", true}, {"äöü", 3, "ä", true}} {
		if got, short := shorten(tt.text, tt.most); got != tt.want || short != tt.cut {
			t.Errorf("%q to %d: %q, %v", tt.text, tt.most, got, short)
		}
	}
}

// Each description is that of a field.
func TestDescriptions(t *testing.T) {
	fields := map[string]bool{}
	var collect func(s *jsonschema.Schema, prefix string)
	collect = func(s *jsonschema.Schema, prefix string) {
		for name, p := range s.Properties {
			fields[prefix+name] = true
			if p.Items != nil {
				p = p.Items
			}
			collect(p, name+".")
		}
	}
	collect(inputSchema[verifyInput]("verify"), "")
	collect(inputSchema[fixInput]("fix"), "")
	collect(inputSchema[explainInput]("explain"), "")
	collect(inputSchema[execInput]("exec"), "exec.")
	collect(outputSchema[report](), "")
	collect(outputSchema[repairs](), "")
	for _, texts := range []map[string]string{inputTexts, outputTexts} {
		for name := range texts {
			if !fields[name] {
				t.Errorf("%s describes no field", name)
			}
		}
	}
}

// Names of fields mean what they mean in docs/json.md: each is in its schema, or is new here and
// listed with the reason in docs/agents.md.
func TestFieldsOfSchema(t *testing.T) {
	text, err := os.ReadFile("../../../docs/schema/heddle-1.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema any
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{"next": true, "verdicts": true, "findings": true, "kernels": true, "truncated": true,
		"source": true, "launch": true, "guessed": true, "traces": true, "program": true, "output": true,
		"file": true, "patched": true}
	var collect func(any)
	collect = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if p, ok := v["properties"].(map[string]any); ok {
				for name := range p {
					known[name] = true
				}
			}
			for _, x := range v {
				collect(x)
			}
		case []any:
			for _, x := range v {
				collect(x)
			}
		}
	}
	collect(schema)
	page, err := os.ReadFile("../../../docs/agents.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, typ := range []reflect.Type{reflect.TypeFor[report](), reflect.TypeFor[verdict](), reflect.TypeFor[finding](),
		reflect.TypeFor[suppression](), reflect.TypeFor[location](), reflect.TypeFor[frame](), reflect.TypeFor[related](),
		reflect.TypeFor[witness](), reflect.TypeFor[access](), reflect.TypeFor[memory](), reflect.TypeFor[group](),
		reflect.TypeFor[traced](), reflect.TypeFor[program](), reflect.TypeFor[repairs](), reflect.TypeFor[repair](),
		reflect.TypeFor[change]()} {
		for i := range typ.NumField() {
			name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			if !known[name] {
				t.Errorf("%v: docs/json.md has no field %q", typ, name)
			}
		}
	}
	for _, typ := range []reflect.Type{reflect.TypeFor[report](), reflect.TypeFor[repairs](), reflect.TypeFor[next]()} {
		for i := range typ.NumField() {
			name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			if !strings.Contains(string(page), "`"+name+"`") {
				t.Errorf("docs/agents.md does not describe %q", name)
			}
		}
	}
}

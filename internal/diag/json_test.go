package diag

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"heddle/internal/source"
	"heddle/internal/testing/jsonschema"
)

func TestJSONFinding(t *testing.T) {
	set, d := tile(t)
	var b bytes.Buffer
	if err := NewJSON(&b, set).Finding(d); err != nil {
		t.Fatal(err)
	}
	if strings.Count(b.String(), "\n") != 1 {
		t.Errorf("a finding is not one line: %q", b.String())
	}
	want := `{"schema_version":1,"type":"finding","code":"race-shared","severity":"error",
"message":"read-write intra-block data race on shared s (bytes 4-7)","kernel":"k(int*)",
"location":{"file":"tile.cu","line":1,"column":44,"end_line":1,"end_column":48},"label":"(2) just happened here",
"stack":[{"function":"get(int*, int)","location":{"file":"tile.cu","line":1,"column":44}},{"function":"k(int*)","location":{"file":"tile.cu","line":5,"column":21}}],
"related":[{"message":"and (1) occurred earlier here","location":{"file":"tile.cu","line":4,"column":2,"end_line":4,"end_column":20}}],
"notes":["no barrier orders (1) and (2)"],"help":["put a barrier between them"],
"fixes":[{"message":"insert __syncthreads()","edits":[{"location":{"file":"tile.cu","line":5,"column":1},"new":"\t__syncthreads();\n"}],
"patches":["--- a/tile.cu\n+++ b/tile.cu\n@@ -2,5 +2,6 @@\n __global__ void k(int *out) {\n \t__shared__ int s[64];\n \ts[threadIdx.x] = 1;\n+\t__syncthreads();\n \tout[threadIdx.x] = get(s, 63 - threadIdx.x);\n }\n"]}],
"witness":{"engine":"emulator","status":"observed","launch":"--grid 1 --block 64","seed":17,"level":"intra-block","interval":0,
"first":{"op":"st.shared.u32","thread":"thread (1,0,0) of block (0,0,0)","kind":"write"},
"second":{"op":"ld.shared.u32","thread":"thread (62,0,0) of block (0,0,0)","kind":"read"},
"memory":{"name":"shared s","offset":4,"size":4}},
"count":32,"reproduce":"heddle run --seed 17 --grid 1 --block 64 tile.cu"}`
	want = strings.TrimSuffix(want, "}") + `,"fingerprint":"` + Fingerprint(set, d) + `"}`
	if d := cmp.Diff(decode(t, want), decode(t, b.String())); d != "" {
		t.Error(d)
	}
}

func decode(t *testing.T, s string) (v map[string]any) {
	t.Helper()
	if err := json.Unmarshal([]byte(s), &v); err != nil {
		t.Fatalf("%v in %s", err, s)
	}
	return v
}

func TestJSONVerdict(t *testing.T) {
	set := source.NewSet()
	f := add(t, set, "k.ptx", "wgmma.fence;\n")
	var b bytes.Buffer
	if err := NewJSON(&b, set).Verdict(&Verdict{Kind: Unsupported, Kernel: "k<int>(int*)",
		Reason: "wgmma", Span: source.Span{Start: f.PosAt(0)}}); err != nil {
		t.Fatal(err)
	}
	want := `{"schema_version":1,"type":"verdict","verdict":"unsupported","kernel":"k<int>(int*)","reason":"wgmma","location":{"file":"k.ptx","line":1,"column":1}}` + "\n"
	if b.String() != want {
		t.Errorf("got  %s\nwant %s", b.String(), want)
	}
}

func TestJSONSuppressed(t *testing.T) {
	set, d := tile(t)
	d.Suppressed = &Suppression{Reason: "on purpose", Span: d.Related[0].Span}
	var b bytes.Buffer
	if err := NewJSON(&b, set).Finding(d); err != nil {
		t.Fatal(err)
	}
	want := decode(t, `{"s":[{"kind":"inSource","justification":"on purpose","location":{"file":"tile.cu","line":4,"column":2,"end_line":4,"end_column":20}}]}`)
	if d := cmp.Diff(want["s"], decode(t, b.String())["suppressions"]); d != "" {
		t.Error(d)
	}
}

// The schema and the page describe exactly the fields of the structs, and the output satisfies the
// schema.
func TestJSONSchema(t *testing.T) {
	docs, err := jsonschema.Read("../../docs/schema/heddle-1.schema.json", "../../docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, typ := range map[string]reflect.Type{"finding": reflect.TypeFor[jsonFinding](),
		"verdict": reflect.TypeFor[jsonVerdict]()} {
		for _, wrong := range docs.Struct(name, typ) {
			t.Error(wrong)
		}
	}
	if want := fmt.Sprintf("schema_version %d", SchemaVersion); !strings.Contains(docs.Title(), want) {
		t.Errorf("the schema is %q, not of %s", docs.Title(), want)
	}
	set, d := tile(t)
	d.Suppressed = &Suppression{Reason: "on purpose", Span: d.Related[0].Span}
	d.Groups = []Group{{Threads: "32 threads of warp 0", At: "barrier 0", Span: d.Span},
		{Threads: "32 threads of warp 1"}}
	var b bytes.Buffer
	j := NewJSON(&b, set)
	for _, f := range []*Diagnostic{d, {Code: CodeInput, Message: "no place, no kernel"}} {
		if err := j.Finding(f); err != nil {
			t.Fatal(err)
		}
	}
	for k := range verdictNames {
		if err := j.Verdict(&Verdict{Kind: VerdictKind(k), Kernel: "k", Scope: "all", Reason: "so",
			Span: d.Span, Suppressed: 1, Known: 2}); err != nil {
			t.Fatal(err)
		}
	}
	for line := range bytes.Lines(b.Bytes()) {
		for _, wrong := range docs.Validate(line) {
			t.Errorf("%s: %s", wrong, line)
		}
	}
	if !strings.Contains(b.String(),
		`"groups":[{"threads":"32 threads of warp 0","at":"barrier 0","location":{"file":"tile.cu",`) {
		t.Error(b.String())
	}
}

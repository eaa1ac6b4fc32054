package diag

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"heddle/internal/source"
)

// logOf renders findings and verdicts, and validates the log with the OASIS schema from the
// library.
func logOf(t *testing.T, set *source.Set, base string, ds []*Diagnostic, vs []*Verdict) *sarif.Run {
	t.Helper()
	var b bytes.Buffer
	s := NewSARIF(&b, set, base, "v1.2.3", "")
	for _, d := range ds {
		if err := s.Finding(d); err != nil {
			t.Fatal(err)
		}
	}
	for _, v := range vs {
		if err := s.Verdict(v); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	report, err := sarif.FromBytes(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if err := report.Validate(); err != nil {
		t.Errorf("%v\n%s", err, b.String())
	}
	checkLog(t, b.Bytes())
	if len(report.Runs) != 1 {
		t.Fatalf("%d runs", len(report.Runs))
	}
	return report.Runs[0]
}

// logSchema is the schema of OASIS, from the source of the library, which does not export it.
var logSchema = sync.OnceValues(func() (*jsonschema.Schema, error) {
	pkg, err := build.Import("github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif", ".", build.FindOnly)
	if err != nil {
		return nil, err
	}
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(pkg.Dir, "schema.go"), nil, 0)
	if err != nil {
		return nil, err
	}
	text := ""
	ast.Inspect(file, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING && len(l.Value) > len(text) {
			text = l.Value
		}
		return true
	})
	if text, err = strconv.Unquote(text); err != nil {
		return nil, err
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("sarif.json", doc); err != nil {
		return nil, err
	}
	return c.Compile("sarif.json")
})

// checkLog validates a log as it is written with a validator that is not the library's, which reads
// it into its own types first. Properties that say nothing are not written.
func checkLog(t *testing.T, text []byte) {
	t.Helper()
	schema, err := logSchema()
	if err != nil {
		t.Fatal(err)
	}
	log, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(log); err != nil {
		t.Errorf("%v\n%s", err, text)
	}
	for _, nothing := range []string{": -1", ": []"} {
		if bytes.Contains(bytes.ReplaceAll(text, []byte(`"results": []`), nil), []byte(nothing)) {
			t.Errorf("the log has a property with %q", nothing)
		}
	}
}

func entry(t *testing.T, set *source.Set, d *Diagnostic) {
	t.Helper()
	d.Witness.Entry = source.Span{Start: source.MakePos(set.Lookup("tile.cu").ID, 2, 17)}
}

func TestSARIFFinding(t *testing.T) {
	set, d := tile(t)
	entry(t, set, d)
	d.Witness.Interval = 2
	run := logOf(t, set, "/base", []*Diagnostic{d}, nil)
	r := run.Results[0]
	if *r.RuleID != "race-shared" || *run.Tool.Driver.Rules[r.RuleIndex].ID != "race-shared" ||
		r.Kind != "fail" || r.Level != "error" {
		t.Errorf("rule %s, index %d, kind %s, level %s", *r.RuleID, r.RuleIndex, r.Kind, r.Level)
	}
	if !strings.HasPrefix(*r.Message.Text, d.Message+"\n") ||
		!strings.Contains(*r.Message.Text, "reproduce: heddle run --seed 17") {
		t.Errorf("message %q", *r.Message.Text)
	}
	phys := r.Locations[0].PhysicalLocation
	reg := phys.Region
	if *phys.ArtifactLocation.URI != "tile.cu" || *phys.ArtifactLocation.URIBaseID != "%SRCROOT%" ||
		*reg.StartLine != 1 || *reg.StartColumn != 44 || *reg.EndLine != 1 || *reg.EndColumn != 48 {
		t.Errorf("location %s %d:%d-%d:%d", *phys.ArtifactLocation.URI, *reg.StartLine, *reg.StartColumn,
			*reg.EndLine, *reg.EndColumn)
	}
	if l := r.Locations[0].LogicalLocations[0]; *l.FullyQualifiedName != "k(int*)" {
		t.Errorf("logical location %q", *l.FullyQualifiedName)
	}
	if got := related(r); cmp.Diff(got, []string{
		"4 (1) st.shared.u32 by thread (1,0,0) of block (0,0,0)",
		"1 (2) ld.shared.u32 by thread (62,0,0) of block (0,0,0)",
	}) != "" {
		t.Errorf("related %q", got)
	}
	if len(r.Stacks) != 1 || len(r.Stacks[0].Frames) != 2 { // the write is in no inlined function
		t.Fatalf("stacks %v", r.Stacks)
	}
	if f := r.Stacks[0].Frames[1].Location; *f.LogicalLocations[0].FullyQualifiedName != "k(int*)" ||
		*f.PhysicalLocation.Region.StartLine != 5 {
		t.Errorf("outer frame %v", f)
	}
	print := Fingerprint(set, d)
	want := map[string]string{"heddleFinding/v1": print, "primaryLocationLineHash": print + ":1"}
	if d := cmp.Diff(want, r.PartialFingerprints); d != "" {
		t.Error(d)
	}
}

// A fix has a replacement for each of its edits: an insertion replaces an empty region, a deletion
// has no content. A fix in an unknown file is left out.
func TestSARIFFixes(t *testing.T) {
	set, d := tile(t)
	f := set.Lookup("tile.cu")
	gone := set.Named("gone.cu")
	insertion := d.Fixes[0].Edits[0]
	d.Fixes = append(d.Fixes,
		Fix{Message: "remove {it}", Edits: []Edit{{Span: span(t, f, "s[threadIdx.x] = 1"), New: ""},
			insertion}},
		Fix{Message: "nowhere"}, Fix{Message: "elsewhere",
			Edits: []Edit{{Span: source.Span{Start: source.MakePos(gone.ID, 0, 0)}, New: "x"}}})
	r := logOf(t, set, "/base", []*Diagnostic{d}, nil).Results[0]
	if len(r.Fixes) != 2 {
		t.Fatalf("%d fixes", len(r.Fixes))
	}
	change := r.Fixes[0].ArtifactChanges[0]
	reg := change.Replacements[0].DeletedRegion
	if *change.ArtifactLocation.URI != "tile.cu" || *reg.StartLine != 5 || *reg.StartColumn != 1 ||
		*reg.EndLine != 5 || *reg.EndColumn != 1 ||
		*change.Replacements[0].InsertedContent.Text != "\t__syncthreads();\n" ||
		*r.Fixes[0].Description.Text != "insert __syncthreads()" {
		t.Errorf("%+v, %+v", change, reg)
	}
	two := r.Fixes[1].ArtifactChanges
	if len(two) != 1 || len(two[0].Replacements) != 2 ||
		two[0].Replacements[0].InsertedContent != nil || *r.Fixes[1].Description.Text != "remove {{it}}" {
		t.Errorf("%+v", two)
	}
	if reg := two[0].Replacements[0].DeletedRegion; *reg.StartLine != 4 || *reg.StartColumn != 2 ||
		*reg.EndLine != 4 || *reg.EndColumn != 20 {
		t.Errorf("%+v", reg)
	}
}

func related(r *sarif.Result) (out []string) {
	for _, l := range r.RelatedLocations {
		b, _ := json.Marshal(*l.PhysicalLocation.Region.StartLine)
		out = append(out, string(b)+" "+*l.Message.Text)
	}
	return out
}

// A race has a thread flow for each thread: entry, calls, access, and nothing that is not known.
func TestSARIFCodeFlow(t *testing.T) {
	set, d := tile(t)
	entry(t, set, d)
	steps := func() [2][]string {
		r := logOf(t, set, "/base", []*Diagnostic{d}, nil).Results[0]
		if len(r.CodeFlows) != 1 || len(r.CodeFlows[0].ThreadFlows) != 2 {
			t.Fatalf("code flows %v", r.CodeFlows)
		}
		var out [2][]string
		for i, tf := range r.CodeFlows[0].ThreadFlows {
			for _, l := range tf.Locations {
				line, _ := json.Marshal(*l.Location.PhysicalLocation.Region.StartLine)
				out[i] = append(out[i], string(line)+" "+*l.Location.Message.Text)
			}
		}
		return out
	}
	const one, two = "thread (1,0,0) of block (0,0,0)", "thread (62,0,0) of block (0,0,0)"
	d.Witness.Interval = 2
	in := ", in barrier interval 2, after block-wide barrier 2"
	want := [2][]string{
		{"2 " + one + " enters the kernel", "4 (1) st.shared.u32 by " + one + in},
		{"2 " + two + " enters the kernel", "5 calls get(int*, int)",
			"1 (2) ld.shared.u32 by " + two + in},
	}
	if d := cmp.Diff(want, steps()); d != "" {
		t.Error(d)
	}

	// Between blocks the interval is that of the second thread alone (race.Race.Interval).
	d.Witness.Level, d.Witness.Interval = "inter-block", 0
	want[0][1] = "4 (1) st.shared.u32 by " + one
	want[1][2] = "1 (2) ld.shared.u32 by " + two +
		", in barrier interval 0, before the first block-wide barrier"
	if d := cmp.Diff(want, steps()); d != "" {
		t.Error(d)
	}

	// Without a known entry the flow begins where something is known.
	d.Witness.Entry = source.Span{}
	want[0], want[1] = want[0][1:], want[1][1:]
	if d := cmp.Diff(want, steps()); d != "" {
		t.Error(d)
	}
}

// A barrier error has no code flow: its places are related locations.
func TestSARIFBarrier(t *testing.T) {
	set, d := tile(t)
	d.Code, d.Witness = CodeBarrierDivergence, &Witness{Engine: "emulator", Launch: "--grid 1"}
	d.Related = append(d.Related, Related{Span: d.Related[0].Span, Message: "32 threads at barrier 1"})
	r := logOf(t, set, "/base", []*Diagnostic{d}, nil).Results[0]
	if len(r.CodeFlows) != 0 {
		t.Error("a code flow without threads")
	}
	if got := related(r); len(got) != 3 || got[0] != "1 (2) just happened here" ||
		got[2] != "4 32 threads at barrier 1" {
		t.Errorf("related %q", got)
	}
}

func TestSARIFSuppressed(t *testing.T) {
	set, d := tile(t)
	d.Suppressed = &Suppression{Reason: "checked by hand", Span: d.Related[0].Span}
	r := logOf(t, set, "/base", []*Diagnostic{d}, nil).Results[0]
	if len(r.Suppressions) != 1 || *r.Suppressions[0].Kind != "inSource" ||
		*r.Suppressions[0].Justification != "checked by hand" ||
		*r.Suppressions[0].Location.PhysicalLocation.Region.StartLine != 4 {
		t.Errorf("suppressions %v", r.Suppressions)
	}
}

func TestSARIFVerdicts(t *testing.T) {
	set := source.NewSet()
	f := add(t, set, "k.ptx", "wgmma.fence;\n")
	at := source.Span{Start: f.PosAt(0)}
	run := logOf(t, set, "/base", nil, []*Verdict{
		{Kind: Clean, Kernel: "a", Scope: "this launch", Span: at},
		{Kind: Verified, Kernel: "b", Scope: "all inputs", Span: at},
		{Kind: Unknown, Kernel: "c", Reason: "the budget", Span: at},
		{Kind: Unsupported, Kernel: "d", Reason: "wgmma", Input: "lib.so"}, // is in no text
		{Kind: Bug, Kernel: "e", Span: at},
		{Kind: Bug, Kernel: "f", Span: at, Reason: "7 more findings are not shown"},
	})
	var got []string
	for _, r := range run.Results {
		if r.Level != "none" { // 3.27.10: whatever is no failure has none
			t.Errorf("level %s", r.Level)
		}
		got = append(got, r.Kind+" "+*r.Locations[0].PhysicalLocation.ArtifactLocation.URI+" "+
			*r.Message.Text)
	}
	want := []string{
		"pass k.ptx clean: kernel a: no findings in this launch; there is no proof",
		"pass k.ptx verified: kernel b: all inputs",
		"open k.ptx unknown: kernel c: the budget",
		"open lib.so unsupported: kernel d: wgmma",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	notes := run.Invocations[0].ToolExecutionNotifications
	if len(notes) != 1 || *notes[0].Message.Text != "bug: kernel f: 7 more findings are not shown" {
		t.Errorf("notifications %v", notes)
	}
}

// Errors in the input make the run unsuccessful; one without a file is a notification.
func TestSARIFMistakes(t *testing.T) {
	set := source.NewSet()
	run := logOf(t, set, "/base", []*Diagnostic{
		{Code: CodeHostCode, Severity: Warning, Message: "left out", Input: "a.cu"},
	}, nil)
	if !*run.Invocations[0].ExecutionSuccessful || run.Results[0].Level != "warning" ||
		*run.Results[0].Locations[0].PhysicalLocation.ArtifactLocation.URI != "a.cu" {
		t.Errorf("a warning: %v", run.Results[0])
	}
	run = logOf(t, set, "/base", []*Diagnostic{{Code: CodeInput, Severity: Error,
		Message: "no kernel"}}, nil)
	if *run.Invocations[0].ExecutionSuccessful || len(run.Results) != 0 ||
		*run.Invocations[0].ToolExecutionNotifications[0].Message.Text != "no kernel" {
		t.Errorf("an error without a file: %v", run.Results)
	}
}

// URIs are escaped (RFC 3986); columns count UTF-16 code units, as columnKind says; braces are not
// placeholders.
func TestSARIFText(t *testing.T) {
	set := source.NewSet()
	for _, tt := range []struct{ name, uri, base string }{
		{"a b/ü#1?.cu", "a%20b/%C3%BC%231%3F.cu", "%SRCROOT%"},
		{"/base/sub/x.cu", "sub/x.cu", "%SRCROOT%"},
		{"/other/100%.cu", "file:///other/100%25.cu", ""},
		{"../x.cu", "file:///x.cu", ""},
		{"c:x.cu", "./c:x.cu", "%SRCROOT%"},
		{"<stdin>", "%3Cstdin%3E", "%SRCROOT%"},
	} {
		f := add(t, set, tt.name, "ü𝄞x = {1};\n")
		d := &Diagnostic{Code: CodeTrap, Severity: Error, Message: "in {lambda()#1}",
			Kernel: "{lambda()#1}",
			Span:   source.Span{Start: f.PosAt(6), End: f.PosAt(7)}} // x, behind 2 and 4 bytes
		r := logOf(t, set, "/base", []*Diagnostic{d}, nil).Results[0]
		at := r.Locations[0].PhysicalLocation
		base := ""
		if at.ArtifactLocation.URIBaseID != nil {
			base = *at.ArtifactLocation.URIBaseID
		}
		if *at.ArtifactLocation.URI != tt.uri || base != tt.base {
			t.Errorf("%s: %s in %q, want %s in %q", tt.name, *at.ArtifactLocation.URI, base, tt.uri, tt.base)
		}
		if *at.Region.StartColumn != 4 || *at.Region.EndColumn != 5 { // ü is one unit, the clef two
			t.Errorf("columns %d to %d", *at.Region.StartColumn, *at.Region.EndColumn)
		}
		if *r.Message.Text != "in {{lambda()#1}}" {
			t.Errorf("message %q", *r.Message.Text)
		}
	}
}

// Every code has a rule with the text of heddle explain; equal findings get different line hashes.
func TestSARIFRules(t *testing.T) {
	set, d := tile(t)
	run := logOf(t, set, "/base", []*Diagnostic{d, d}, nil)
	rules := run.Tool.Driver.Rules
	if len(rules) != len(Docs())+1 {
		t.Errorf("%d rules for %d codes", len(rules), len(Docs()))
	}
	for i, doc := range Docs() {
		var b bytes.Buffer
		_ = Explain(&b, doc)
		if *rules[i].ID != string(doc.Code) || *rules[i].Help.Text != b.String() ||
			*rules[i].ShortDescription.Text != doc.Title {
			t.Errorf("rule %s", *rules[i].ID)
		}
	}
	if *run.Tool.Driver.Name != "heddle" || *run.Tool.Driver.Version != "v1.2.3" {
		t.Error("the tool has no name or version")
	}
	if a, b := run.Results[0].PartialFingerprints,
		run.Results[1].PartialFingerprints; a[FingerprintKey] != b[FingerprintKey] ||
		!strings.HasSuffix(b["primaryLocationLineHash"], ":2") {
		t.Errorf("fingerprints %v, %v", a, b)
	}
}

// TestSARIFNote: a note tells of no problem, so that it is no alert (3.27.9, 3.27.10).
func TestSARIFNote(t *testing.T) {
	set, d := tile(t)
	d.Severity, d.Code = Note, CodeLaunch
	r := logOf(t, set, "/base", []*Diagnostic{d}, nil).Results[0]
	if r.Kind != "informational" || r.Level != "none" {
		t.Errorf("kind %s, level %s", r.Kind, r.Level)
	}
}

// TestSARIFRuleProperties: viewers show the help of a rule as Markdown and filter by its tags; code scanning
// reads its precision.
func TestSARIFRuleProperties(t *testing.T) {
	set, d := tile(t)
	run := logOf(t, set, "/base", []*Diagnostic{d}, nil)
	if v := run.Tool.Driver.SemanticVersion; v == nil || *v != "1.2.3" {
		t.Errorf("semantic version %v", v)
	}
	for _, r := range run.Tool.Driver.Rules {
		if r.Help.Markdown == nil || *r.Help.Markdown == "" {
			t.Errorf("%s has no help in Markdown", *r.ID)
		}
		if *r.ID == string(CodeRaceShared) && (len(r.Properties.Tags) == 0 ||
			r.Properties.Properties["precision"] != "very-high" ||
			!strings.Contains(*r.Help.Markdown, "## What to do")) {
			t.Errorf("%+v", r.Properties)
		}
	}
}

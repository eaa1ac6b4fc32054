package mcp

import (
	"bytes"
	"context"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// explanation is the result of explain.
type explanation struct {
	Schema int    `json:"schema_version"`
	Topic  string `json:"topic,omitempty"`
	Text   string `json:"text"`
}

// explain answers a call of explain.
func (s *Server) explain(_ context.Context, _ *call, in *explainInput) (*answer, error) {
	var b bytes.Buffer
	if err := s.opt.Explain(&b, in.Topic); err != nil {
		return nil, err
	}
	return &answer{object: &explanation{SchemaVersion, in.Topic, b.String()}, text: b.String()}, nil
}

// The descriptions of the tools.
const (
	checkText = `Find synchronization bugs in GPU kernels: data races, barrier divergence, deadlock.
Compiles the source, runs each kernel on an emulated GPU for one launch and, if it finds no bug,
tries to prove the kernel for all inputs of the launch shape. Needs no GPU and runs no host code.
What is left unspecified of the launch is taken from host code in the same file or guessed;
guessed lists it. Verdicts: bug; verified (proved); clean (no bug seen, no proof); unknown;
unsupported. Example: {"path": "src/reduce.cu", "grid": "8", "block": "256", "args": ["n=2048"]}`
	verifyText = `Prove that no two threads of a kernel race and no barrier diverges, for all inputs
of the launch shape, or report a bug with a run that shows it. Arguments given by args are fixed,
all others are arbitrary. "*" in grid or block means any size. Example: {"path": "src/reduce.cu",
"block": "256", "grid": "*", "assume": ["n <= 1000000"]}`
	traceText = `Decide barriers and shared memory of one block for all inputs by one trace: for
kernels with named barriers (bar.sync, bar.arrive, warp specialization). Does not check global
memory; check does.`
	fixText = `Repair data races and barrier divergence: the cheapest barriers, fences and changes
of the control flow with which the kernel is proved again. Returns a unified diff and the patched
text; changes no file. Example: {"path": "src/reduce.cu"}`
	explainText = `Explain a code of a finding (race-shared) or a term of a result (barrier
interval), with an example that shows it and its repair.`
	execText = `Build a CUDA program, run it with the rights of the user without a GPU, and examine
every kernel that it launches, with its real grids, sizes and data. Use it when a bug depends on
the data of the program.`
)

// addTools adds the tools. exec exists only if the user allows it.
func (s *Server) addTools() {
	report := outputSchema[report]()
	add(s, "check", "Find races and divergence", checkText, report, s.check)
	add(s, "verify", "Prove a kernel", verifyText, report, s.verify)
	add(s, "trace", "Verify named barriers", traceText, report, s.trace)
	add(s, "fix", "Repair a kernel", fixText, outputSchema[repairs](), s.fix)
	add(s, "explain", "Explain a finding", explainText, outputSchema[explanation](), s.explain)
	if s.opt.Program != nil {
		add(s, "exec", "Run a program under detection", execText, report, s.exec)
	}
}

// add adds one tool.
func add[In any, P interface {
	*In
	timed
}](s *Server, name, title, text string, out *jsonschema.Schema,
	work func(context.Context, *call, P) (*answer, error)) {
	in := inputSchema[In](name)
	closed, open := false, true
	hints := &sdk.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &closed}
	if name == "exec" {
		hints = &sdk.ToolAnnotations{OpenWorldHint: &open, DestructiveHint: &open}
	}
	s.mcp.AddTool(&sdk.Tool{Name: name, Title: title, Description: text, InputSchema: in,
		OutputSchema: out, Annotations: hints}, handler(s, name, in.PropertyOrder, work))
}

// inputSchema returns the schema of the arguments of a tool.
func inputSchema[T any](tool string) *jsonschema.Schema {
	s := schemaFor[T]()
	prefix := ""
	if tool == "exec" {
		prefix = "exec."
	}
	describe(s, prefix, inputTexts)
	if p := s.Properties["language"]; p != nil {
		p.Enum = []any{"cuda", "opencl", "ptx", "llvm"}
	}
	if p := s.Properties["text"]; p != nil {
		most := maxText
		p.MaxLength = &most
	}
	if p := s.Properties["timeout"]; p != nil {
		least := 1.0
		p.Minimum = &least
	}
	return s
}

// outputSchema returns the schema of the results of a tool, which may have further fields in a
// later version.
func outputSchema[T any]() *jsonschema.Schema {
	s := schemaFor[T]()
	describe(s, "", outputTexts)
	each(s, func(s *jsonschema.Schema) {
		if s.Type == "object" {
			s.AdditionalProperties = nil
		}
	})
	return s
}

// schemaFor returns the schema of a struct. Fields without a value are left out and never null.
func schemaFor[T any]() *jsonschema.Schema {
	s, err := jsonschema.For[T](nil)
	if err != nil {
		panic(err) // a test makes all
	}
	each(s, func(s *jsonschema.Schema) {
		if len(s.Types) == 2 && s.Types[0] == "null" {
			s.Type, s.Types = s.Types[1], nil
		}
	})
	return s
}

// each calls f for a schema and those within.
func each(s *jsonschema.Schema, f func(*jsonschema.Schema)) {
	if s == nil {
		return
	}
	f(s)
	each(s.Items, f)
	for _, p := range s.Properties {
		each(p, f)
	}
}

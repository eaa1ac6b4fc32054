package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/lower"
)

var update = flag.Bool("update", false, "write the schemas of the tools to testdata/tools.json")

// kernelPTX returns a kernel that stores one number for each thread at an index of its parameters.
// The PTX ISA (8.7.1) makes two stores to one address by threads without an order a race.
func kernelPTX(name, index string) string {
	return `.version 7.0
.target sm_80
.address_size 64
.visible .entry ` + name + `(.param .u64 out, .param .u32 n)
{
	.reg .b32 %t, %n, %x, %y;
	.reg .b64 %a, %o;
	ld.param.u64 %a, [out];
	ld.param.u32 %n, [n];
	mov.u32 %t, %tid.x;
` + index + `
	mul.wide.u32 %o, %x, 4;
	add.u64 %a, %a, %o;
	st.global.u32 [%a], %t;
	ret;
}
`
}

// Kernels for all tests: racy stores all numbers at index 0; right stores each at its own index;
// hard stores them at a polynomial of the thread modulo a prime, which no solver decides soon.
var (
	racy  = kernelPTX("racy", "\tmov.u32 %x, 0;")
	right = kernelPTX("right", "\tmov.u32 %x, %t;")
	hard  = kernelPTX("hard", `	mul.lo.u32 %x, %t, %n;
	mul.lo.u32 %y, %x, %x;
	mul.lo.u32 %y, %y, %x;
	mad.lo.u32 %y, %n, %t, %y;
	rem.u32 %y, %y, 1000003;
	mad.lo.u32 %x, %y, %y, %x;
	rem.u32 %x, %x, 15485863;`)
)

// plainProject is Options.Project without configurations.
func plainProject(path string, _ *driver.Options, _ func(string) bool, _ func(diag.Diagnostic)) (
	[]driver.Input, error) {
	return []driver.Input{{Input: lower.Input{Name: path}}}, nil
}

// options returns the options of a server for a directory.
func options(t *testing.T, root string) Options {
	t.Helper()
	return Options{Roots: []string{root}, Version: "v1", Project: plainProject,
		Lower: lower.Options{CacheDir: t.TempDir()},
		Explain: func(w io.Writer, name string) error {
			if name != "race-shared" {
				return fmt.Errorf("unknown code or term %q", name)
			}
			_, err := io.WriteString(w, "about race-shared")
			return err
		}}
}

// connect starts a server and returns a client of it, both in memory.
func connect(t *testing.T, opt Options, client *sdk.ClientOptions) *sdk.ClientSession {
	t.Helper()
	s, err := New(opt)
	if err != nil {
		t.Fatal(err)
	}
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	served := make(chan error, 1)
	go func() {
		served <- s.Serve(context.Background(), toServer, fromServer)
		fromServer.Close()
	}()
	c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "v1"}, client)
	session, err := c.Connect(t.Context(), &sdk.IOTransport{Reader: toClient, Writer: fromClient}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		session.Close()
		select {
		case err := <-served:
			if err != nil {
				t.Errorf("the server ends with %v", err)
			}
		case <-time.After(20 * time.Second):
			t.Error("the server does not end with its input")
		}
	})
	return session
}

// result is a result of a call, as a client sees it.
type result struct {
	text   string
	failed bool
	object map[string]any
}

// call calls a tool. A structured result must follow the schema of the tool.
func callTool(t *testing.T, c *sdk.ClientSession, tool string, args any) result {
	t.Helper()
	res, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatalf("%s %v: %v", tool, args, err)
	}
	if len(res.Content) != 1 {
		t.Fatalf("%s %v: %d parts", tool, args, len(res.Content))
	}
	r := result{text: res.Content[0].(*sdk.TextContent).Text, failed: res.IsError}
	if res.StructuredContent == nil {
		if !r.failed {
			t.Errorf("%s %v: no object", tool, args)
		}
		return r
	}
	r.object = res.StructuredContent.(map[string]any)
	schemas := map[string]*jsonschema.Schema{"fix": outputSchema[repairs](), "explain": outputSchema[explanation]()}
	schema := schemas[tool]
	if schema == nil {
		schema = outputSchema[report]()
	}
	resolved, err := schema.Resolve(nil)
	if err == nil {
		err = resolved.Validate(r.object)
	}
	if err != nil {
		t.Errorf("%s %v: not of its schema: %v", tool, args, err)
	}
	return r
}

// ptx is the arguments for a text of PTX.
func ptx(text string, more ...string) map[string]any {
	args := map[string]any{"text": text, "language": "ptx", "block": "64"}
	for i := 0; i < len(more); i += 2 {
		args[more[i]] = more[i+1]
	}
	return args
}

// The verdicts and the next calls for a racy and a right kernel.
func TestLoop(t *testing.T) {
	c := connect(t, options(t, t.TempDir()), nil)
	bug := callTool(t, c, "check", ptx(racy))
	if bug.failed || bug.object["verdict"] != "bug" {
		t.Fatalf("%+v", bug)
	}
	if !strings.HasPrefix(bug.text, "bug: ") || !strings.Contains(bug.text, "race-global") {
		t.Errorf("the text is\n%s", bug.text)
	}
	first := bug.object["findings"].([]any)[0].(map[string]any)
	place := first["location"].(map[string]any)
	if place["file"] != "text.ptx" || place["line"] != 14.0 ||
		!strings.Contains(place["source"].(string), "st.global.u32 [%a], %t;") {
		t.Errorf("the place is %v", place)
	}
	w := first["witness"].(map[string]any)
	if w["first"] == nil || w["second"] == nil || w["launch"] == "" {
		t.Errorf("the witness is %v", w)
	}
	if len(first["guessed"].([]any)) == 0 { // out and n
		t.Errorf("nothing is guessed: %v", first["launch"])
	}
	then := bug.object["next"].([]any)[0].(map[string]any)
	args := then["arguments"].(map[string]any)
	if then["tool"] != "fix" || args["text"] != sameText || args["language"] != "ptx" || args["block"] != "64" {
		t.Errorf("next is %v", then)
	}
	// One thread per address: no two accesses conflict.
	if r := callTool(t, c, "verify", ptx(right)); r.object["verdict"] != "verified" {
		t.Errorf("right: %s", r.text)
	}
	if r := callTool(t, c, "verify", ptx(right, "block", "*")); r.object["verdict"] != "verified" {
		t.Errorf("right for any block: %s", r.text)
	}
	// A trace does not look at global memory, where the race is.
	if r := callTool(t, c, "trace", ptx(racy)); r.object["verdict"] != "verified" || r.object["traces"] == nil {
		t.Errorf("trace: %s", r.text)
	}
	// No barrier separates the stores of one instruction, so there is no repair without other means.
	fixed := callTool(t, c, "fix", ptx(racy))
	kernel := fixed.object["kernels"].([]any)[0].(map[string]any)
	then = fixed.object["next"].([]any)[0].(map[string]any)
	if fixed.failed || kernel["status"] != "not repaired" || fixed.object["diff"] != "" || then["tool"] != "fix" ||
		then["arguments"].(map[string]any)["allow"] == nil {
		t.Errorf("fix: %+v", fixed)
	}
	// Nothing is left to do for a kernel that is proved.
	if r := callTool(t, c, "fix", ptx(right)); len(r.object["next"].([]any)) > 0 {
		t.Errorf("fix of a right kernel: %+v", r)
	}
	if r := callTool(t, c, "explain", map[string]any{"topic": "race-shared"}); r.object["text"] != "about race-shared" {
		t.Errorf("explain: %+v", r)
	}
}

// Mistakes in calls are results that the agent can read, with what to do.
func TestBadCalls(t *testing.T) {
	dir := t.TempDir()
	c := connect(t, options(t, dir), nil)
	for _, tt := range []struct {
		tool, args, want string
	}{
		{"check", `{}`, "give path, or text with language"},
		{"check", `{"gird": "4"}`, `unknown field "gird"; check takes path, text, language, kernel, grid`},
		{"check", `{"Path": "x"}`, `unknown field "Path"`},
		{"check", `{"path": 3}`, "path: expected a string, found a number"},
		{"check", `{"path": "a.ptx", "args": "n=1"}`, "args: expected an array of strings, found a string"},
		{"check", `{"path": "a.ptx", "args": [1]}`, "expected a string, found a number"},
		{"check", `{"path": "a.ptx", "timeout": "1m"}`, "timeout: expected an integer, found a string"},
		{"check", `{"path": "a.ptx", "timeout": 1.5}`, "timeout: expected an integer, found a number"},
		{"check", `{"path": "a.ptx", "timeout": -1}`, "expected a number of seconds above 0"},
		{"check", `{"path": null}`, "path is null; give a value or leave it out"},
		{"check", `{"path": "a.ptx", "text": "x"}`, "give either path or text"},
		{"check", `{"text": "x"}`, "text needs one of cuda, opencl, ptx, llvm"},
		{"check", `{"text": "x", "language": "rust"}`, `language "rust"; text needs one of`},
		{"check", `{"text": " \n", "language": "ptx"}`, "text is blank"},
		{"check", `{"text": "a\nb\u0000", "language": "ptx"}`, "NUL byte in line 2"},
		{"check", `{"text": "` + strings.Repeat("a", 5<<20) + `", "language": "ptx"}`, "5242880 bytes, more than 4194304; write it to a file"},
		{"check", `{"path": "none.ptx"}`, "does not exist; paths are relative to the roots"},
		{"check", `{"path": "a\u0000b"}`, "outside of the roots"},
		{"check", `{"text": "x", "language": "ptx", "grid": "0"}`, "grid: "},
		{"check", `{"text": "x", "language": "ptx", "grid": "*"}`, "only verify accepts *"},
		{"check", `{"text": "x", "language": "ptx", "shared": "many"}`, "shared: "},
		{"check", `{"text": "x", "language": "ptx", "args": ["n"]}`, "args: "},
		{"check", `{"text": "x", "language": "cuda", "defines": ["A\n#include \"/etc/passwd\""]}`, "expected NAME or NAME=VALUE"},
		{"check", `{"text": "x", "language": "cuda", "arch": "sm_80 -v"}`, "arch: "},
		{"check", `{"text": "x", "language": "ptx"}`, "text.ptx:1:1"},
		{"verify", `{"text": "x", "language": "ptx", "assume": ["n <"]}`, `"n <", column`},
		{"fix", `{"text": "x", "language": "ptx", "allow": ["magic"]}`, "expected atomic, grid-sync"},
		{"explain", `{"topic": "nonsense"}`, `unknown code or term "nonsense"`},
		{"check", `[]`, ""}, {"check", `"x"`, ""},
	} {
		r := callTool(t, c, tt.tool, json.RawMessage(tt.args))
		if !r.failed || !strings.Contains(r.text, tt.want) {
			t.Errorf("%s %.80s: failed %v:\n%.400s\nwant %q", tt.tool, tt.args, r.failed, r.text, tt.want)
		}
	}
	_, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "nonsense"})
	var wire *jsonrpc.Error
	if !errors.As(err, &wire) || wire.Code != jsonrpc.CodeInvalidParams {
		t.Errorf("an unknown tool is %v", err)
	}
}

// The list of tools and their schemas. exec is in it only if the user allows it.
func TestTools(t *testing.T) {
	opt := options(t, t.TempDir())
	names := func(c *sdk.ClientSession) (names []string, list []byte) {
		res, err := c.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range res.Tools {
			names = append(names, tool.Name)
			for name, p := range tool.InputSchema.(map[string]any)["properties"].(map[string]any) {
				if text, _ := p.(map[string]any)["description"].(string); text == "" || strings.Contains(text, "\n") {
					t.Errorf("%s: %s has no description of one line", tool.Name, name)
				}
			}
			if tool.InputSchema.(map[string]any)["additionalProperties"] == nil {
				t.Errorf("%s accepts unknown fields", tool.Name)
			}
		}
		list, err = json.MarshalIndent(res.Tools, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		return names, append(list, '\n')
	}
	got, _ := names(connect(t, opt, nil))
	if slices.Contains(got, "exec") || len(got) != 5 {
		t.Errorf("without permission, the tools are %v", got)
	}
	opt.Program = func(context.Context, *Program) error { return nil }
	got, list := names(connect(t, opt, nil))
	if !slices.Contains(got, "exec") || len(got) != 6 {
		t.Errorf("with permission, the tools are %v", got)
	}
	golden := filepath.Join("testdata", "tools.json")
	if *update {
		if err := os.WriteFile(golden, list, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(list)); diff != "" {
		t.Errorf("the schemas have changed (go test -update writes them):\n%s", diff)
	}
}

// A program that a call runs reports findings, output and end.
func TestExec(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "main.cu"), "int main() {}\n")
	opt := options(t, dir)
	opt.Program = func(_ context.Context, p *Program) error {
		p.Printer(driver.New(driver.Options{}, nil).Files()).Verdict(&diag.Verdict{Kind: diag.Clean, Kernel: "k"})
		io.WriteString(p.Output, strings.Repeat("x", 2*mostOutput))
		p.Ended, p.Code, p.Launches = "exited with 3", 3, 7
		return nil
	}
	r := callTool(t, connect(t, opt, nil), "exec", map[string]any{"path": "main.cu", "args": []string{"1"}})
	p := r.object["program"].(map[string]any)
	if r.object["verdict"] != "clean" || p["program_exit_code"] != 3.0 || p["launches"] != 7.0 ||
		len(p["output"].(string)) != mostOutput || !strings.Contains(r.text, "exited with 3") {
		t.Errorf("%+v", r)
	}
}

// A call ends at its time limit with what it has, and asks for more if there is more.
func TestTimeout(t *testing.T) {
	c := connect(t, options(t, t.TempDir()), nil)
	args := ptx(hard)
	args["timeout"] = 1
	began := time.Now()
	r := callTool(t, c, "verify", args)
	if d := time.Since(began); d > 10*time.Second {
		t.Errorf("it took %v", d)
	}
	if r.failed || r.object["verdict"] != "unknown" || !strings.Contains(r.text, "the time limit of 1s of this call was reached") {
		t.Errorf("%+v", r)
	}
	then := r.object["next"].([]any)[0].(map[string]any)
	if then["tool"] != "verify" || then["arguments"].(map[string]any)["timeout"] != DefaultTimeout.Seconds() {
		t.Errorf("next is %v", then)
	}
	// The limit of the server is the most.
	opt := options(t, t.TempDir())
	opt.Timeout = time.Second
	args["timeout"] = 1 << 60
	r = callTool(t, connect(t, opt, nil), "verify", args)
	if !strings.Contains(r.text, "the time limit of 1s") || len(r.object["next"].([]any)) > 0 {
		t.Errorf("%+v", r)
	}
}

// A cancelled call frees its turn at once; one that waits for its turn as well. Meanwhile explain
// does not wait. The client is told how far a call is.
func TestCancel(t *testing.T) {
	told := make(chan string, 100)
	opt := options(t, t.TempDir())
	opt.Jobs = 1
	c := connect(t, opt, &sdk.ClientOptions{ProgressNotificationHandler: func(_ context.Context,
		req *sdk.ProgressNotificationClientRequest) {
		told <- req.Params.Message
	}})
	var wait sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	for range 2 {
		wait.Go(func() {
			params := &sdk.CallToolParams{Name: "verify", Arguments: ptx(hard)}
			params.SetProgressToken("token")
			if _, err := c.CallTool(ctx, params); !errors.Is(err, context.Canceled) {
				t.Errorf("a cancelled call returns %v", err)
			}
		})
	}
	deadline := time.After(20 * time.Second)
	for seen := ""; !strings.Contains(seen, "hard: proof"); {
		select {
		case seen = <-told:
		case <-deadline:
			t.Fatal("no progress of the proof")
		}
	}
	callTool(t, c, "explain", map[string]any{"topic": "race-shared"})
	cancel()
	wait.Wait()
	began := time.Now()
	if r := callTool(t, c, "check", ptx(racy)); r.object["verdict"] != "bug" {
		t.Errorf("%+v", r)
	}
	if d := time.Since(began); d > 10*time.Second {
		t.Errorf("the next call took %v", d)
	}
}

// Calls that run at a time do not mix their results.
func TestTwoCalls(t *testing.T) {
	opt := options(t, t.TempDir())
	opt.Jobs = 2
	c := connect(t, opt, nil)
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			text, want := racy, "bug"
			if i%2 == 0 {
				text, want = right, "verified"
			}
			if r := callTool(t, c, "check", ptx(text)); r.object["verdict"] != want {
				t.Errorf("call %d: %v, want %s", i, r.object["verdict"], want)
			}
		})
	}
	wait.Wait()
}

// A panic is an error of its call, told to the user with its stack.
func TestPanic(t *testing.T) {
	var log bytes.Buffer
	opt := options(t, t.TempDir())
	opt.Log = func(text string) { log.WriteString(text) }
	opt.Explain = func(io.Writer, string) error { panic("no such register\nstack") }
	c := connect(t, opt, nil)
	r := callTool(t, c, "explain", map[string]any{})
	if !r.failed || !strings.Contains(r.text, "internal error: no such register. This is a bug in heddle") {
		t.Errorf("%+v", r)
	}
	if !strings.Contains(log.String(), "server_test.go") {
		t.Errorf("the log has no stack: %s", log.String())
	}
	if r := callTool(t, c, "check", ptx(racy)); r.object["verdict"] != "bug" {
		t.Errorf("the next call: %+v", r)
	}
}

// write writes a file of a test.
func write(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"heddle/internal/testing/long"
)

// startMCP starts heddle mcp as a process of its own, in a directory, and returns a client of it.
// All messages are written to log.
// When the test ends, so does the input of the process, which must then exit with 0.
func startMCP(t *testing.T, log io.Writer, dir string, env []string, args ...string) *sdk.ClientSession {
	t.Helper()
	cmd, temp := command(t, append([]string{"mcp"}, args...)...)
	cmd.Dir, cmd.Env = dir, append(cmd.Env, env...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "v1"}, nil)
	pipe := &sdk.LoggingTransport{Transport: &sdk.CommandTransport{Command: cmd}, Writer: log}
	session, err := client.Connect(t.Context(), pipe, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, &errs)
	}
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Errorf("heddle mcp: %v\n%s", err, &errs)
		}
		if left, _ := os.ReadDir(temp); len(left) > 0 {
			t.Errorf("%v is left in the directory for temporary files", left)
		}
	})
	return session
}

// callMCP calls a tool, and returns the text and the object of the answer.
func callMCP(t *testing.T, c *sdk.ClientSession, tool string, args any) (text string, object map[string]any) {
	t.Helper()
	res, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatalf("%s %v: %v", tool, args, err)
	}
	object, _ = res.StructuredContent.(map[string]any)
	return res.Content[0].(*sdk.TextContent).Text, object
}

// The loop of an agent over the pipe of a process: an example that lacks a barrier is found racy,
// repaired, and its repair verified.
func TestMCPLoop(t *testing.T) {
	if testing.Short() || !hasClang() {
		t.Skip("compiles kernels")
	}
	dir := t.TempDir()
	racy, err := os.ReadFile("../../examples/reduce_racy.cu")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "reduce.cu")
	if err := os.WriteFile(file, racy, 0o600); err != nil {
		t.Fatal(err)
	}
	c := startMCP(t, io.Discard, dir, nil)
	path := map[string]any{"path": "reduce.cu"}
	if text, o := callMCP(t, c, "check", path); o["verdict"] != "bug" || !strings.Contains(text, "error[race-shared]") {
		t.Fatalf("check: %s", text)
	}
	text, o := callMCP(t, c, "fix", path)
	patched, _ := o["patched"].(string)
	if !strings.HasPrefix(text, "repaired: ") || o["file"] != "reduce.cu" || !strings.Contains(o["diff"].(string), "+++ b/reduce.cu") {
		t.Fatalf("fix: %s", text)
	}
	if now, _ := os.ReadFile(file); !bytes.Equal(now, racy) {
		t.Error("fix changes the file")
	}
	if err := os.WriteFile(file, []byte(patched), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, o := callMCP(t, c, "verify", path); o["verdict"] != "verified" || len(o["next"].([]any)) > 0 {
		t.Errorf("verify: %s", text)
	}
	text, _ = callMCP(t, c, "check", map[string]any{"text": "__global__ void k() { x; }", "language": "cuda"})
	if !strings.Contains(text, "error[compile-error]") || !strings.Contains(text, "text.cu:1:23: error: use of undeclared identifier 'x'") {
		t.Errorf("a text that does not compile: %s", text)
	}
	text, _ = callMCP(t, c, "check", map[string]any{"text": "#include \"/etc/passwd\"", "language": "cuda"})
	if !strings.Contains(text, "text.cu:1: /etc/passwd is outside of the roots") {
		t.Errorf("a header outside: %s", text)
	}
	if _, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "exec", Arguments: path}); err == nil {
		t.Error("exec exists without permission")
	}
}

// What concerns files, without a compiler: configurations, which count only below a root, and
// directories.
func TestMCPFiles(t *testing.T) {
	dir := t.TempDir()
	root := filepath.Join(dir, "root")
	files := map[string]string{
		"heddle.toml":           "[[kernel]]\nname = \"*\"\nskip = \"outside\"\n",
		"root/quick.ptx":        quickPTX,
		"root/sub/again.ptx":    quickPTX,
		"root/sub/heddle.toml":  "[[kernel]]\nname = \"*\"\nskip = \"inside\"\n",
		"root/bad/again.ptx":    quickPTX,
		"root/bad/heddle.toml":  "[[kernel]]\nname = \"*\"\nblock = \"many\"\n",
		"root/data/again.ptx":   quickPTX,
		"root/data/heddle.toml": "[[kernel]]\nname = \"*\"\nargs = { p = \"file:../../secret\" }\n",
		"secret":                "secret",
	}
	if err := os.Mkdir(filepath.Join(dir, ".git"), 0o755); err != nil { // the checkout
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	c := startMCP(t, io.Discard, dir, []string{"PATH="}, "--root", root)
	for _, tt := range []struct{ tool, args, want string }{
		{"check", `{"path": "quick.ptx"}`, "kernel quick"},
		{"check", `{"path": "."}`, "quick.ptx"},
		{"check", `{"path": "sub"}`, "skipped: inside"},
		{"check", `{"path": "bad/again.ptx"}`, "the configuration is invalid:\nbad/heddle.toml:3:"},
		{"check", `{"path": "data/again.ptx"}`, "data/heddle.toml:3:10: the data file"},
		{"check", `{"path": "../secret"}`, "is outside of the roots"},
		{"fix", `{"path": "."}`, "fix repairs one file"},
		{"explain", `{"topic": "race-shred"}`, "similar: race-shared"},
		{"explain", `{}`, "race-shared"},
		{"check", `{"text": "__global__ void k() {}", "language": "cuda"}`, "clang"}, // none in PATH
	} {
		text, _ := callMCP(t, c, tt.tool, json.RawMessage(tt.args))
		if !strings.Contains(text, tt.want) || strings.Contains(text, "skipped: outside") {
			t.Errorf("%s %s: %s\nwant %q", tt.tool, tt.args, text, tt.want)
		}
	}
}

// quickPTX is a kernel that does nothing with its parameter.
const quickPTX = `.version 7.0
.target sm_80
.address_size 64
.visible .entry quick(.param .u64 p) { ret; }
`

// Standard output has the protocol alone, whatever the input is, and the end of the input ends the
// process with 0.
func TestMCPGarbage(t *testing.T) {
	cmd, _ := command(t, "mcp")
	cmd.Stdin = strings.NewReader("hello\n{}\n[1]\n{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"ping\"}\n\x00")
	out, err := cmd.Output()
	if err != nil {
		t.Errorf("exit: %v", err)
	}
	for line := range strings.Lines(string(out)) {
		var m struct {
			Version string `json:"jsonrpc"`
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil || m.Version != "2.0" {
			t.Errorf("a line of the output is %q", line)
		}
	}
	if !bytes.Contains(out, []byte(`"id":1,"result":{}`)) {
		t.Errorf("no answer to the ping: %s", out)
	}
	for _, args := range [][]string{{"mcp", "--root", "none"}, {"mcp", "--timeout", "0s"}, {"mcp", "x"}, {"mcp", "-j", "-1"}} {
		if code := run(args, strings.NewReader(""), io.Discard, io.Discard); code != exitUsage {
			t.Errorf("%v exits with %d", args, code)
		}
	}
}

// A program that exec runs has its launches examined, and not the pipe of the protocol.
func TestMCPExec(t *testing.T) {
	if !long.All() || !hasClang() {
		t.Skip("builds a program; HEDDLE_LONG=1")
	}
	dir, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	c := startMCP(t, io.Discard, dir, nil, "--allow-exec")
	text, o := callMCP(t, c, "exec", map[string]any{"path": "reduce_racy.cu"})
	if strings.Contains(text, "cannot be linked") || strings.Contains(text, "no C++ standard library") {
		t.Skip(text)
	}
	p, _ := o["program"].(map[string]any)
	if o["verdict"] != "bug" || p["launches"] != 1.0 || p["output"] != "0\n" {
		t.Errorf("%v\n%s", o["program"], text)
	}
}

// The calls of docs/agents.md and their answers. A call is a block of JSON behind <!-- call -->;
// the block behind <!-- answer --> is the structured content of its answer, and behind <!-- answer
// text --> the text.
func TestDocsAgents(t *testing.T) {
	if testing.Short() || !hasClang() {
		t.Skip("compiles kernels")
	}
	const page = "../../docs/agents.md"
	old, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	c := startMCP(t, &log, t.TempDir(), nil)
	_, kernel, _ := strings.Cut(string(old), "```cuda\n")
	kernel, _, _ = strings.Cut(kernel, "```")
	known := map[string]string{"<the kernel above>": kernel}
	var text, content string
	calls := 0
	block := regexp.MustCompile("(?s)(<!-- (call|answer|answer text) -->\n```\\w+\n)(.*?)(```\n)")
	now := block.ReplaceAllStringFunc(string(old), func(all string) string {
		m := block.FindStringSubmatch(all)
		switch m[2] {
		case "answer":
			return m[1] + content + m[4]
		case "answer text":
			return m[1] + strings.TrimRight(text, "\n") + "\n" + m[4]
		}
		var call struct {
			Name      string
			Arguments map[string]any
		}
		if err := json.Unmarshal([]byte(m[3]), &call); err != nil {
			t.Fatalf("%v: %s", err, m[3])
		}
		for from, to := range known {
			if call.Arguments["text"] == from {
				call.Arguments["text"] = to
			}
		}
		calls++
		log.Reset()
		var object map[string]any
		text, object = callMCP(t, c, call.Name, call.Arguments)
		content = structured(t, log.String())
		if patched, ok := object["patched"].(string); ok {
			known["<the patched text>"] = patched
		}
		return all
	})
	if calls != 3 {
		t.Errorf("%d calls", calls)
	}
	if *updateDocs {
		if err := os.WriteFile(page, []byte(now), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(string(old), now); diff != "" {
		t.Errorf("%s is not what heddle answers; make docs writes it anew:\n%s", page, diff)
	}
}

// structured returns the structured content of the answer in a log of messages, with the fields in
// their order.
func structured(t *testing.T, log string) string {
	t.Helper()
	for line := range strings.Lines(log) {
		text, ok := strings.CutPrefix(line, "read: ")
		var m struct {
			Result struct {
				StructuredContent json.RawMessage
			}
		}
		if ok && json.Unmarshal([]byte(text), &m) == nil && m.Result.StructuredContent != nil {
			var b bytes.Buffer
			if err := json.Indent(&b, m.Result.StructuredContent, "", "  "); err != nil {
				t.Fatal(err)
			}
			plain := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&")
			return plain.Replace(b.String()) + "\n"
		}
	}
	t.Fatalf("no answer in %s", log)
	return ""
}

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"heddle/internal/testing/long"
)

// editor is a client that knows just enough of the protocol.
type editor struct {
	t  *testing.T
	r  *bufio.Reader
	w  io.WriteCloser
	id int
}

func (e *editor) send(method string, id int, params string) {
	e.t.Helper()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":%s}`, method, params)
	if id > 0 {
		body = fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, params)
	}
	if _, err := fmt.Fprintf(e.w, "Content-Length: %d\r\n\r\n%s", len(body), body); err != nil {
		e.t.Fatal(err)
	}
}

// until reads messages up to one that has all of the words, and returns it.
func (e *editor) until(words ...string) string {
	e.t.Helper()
	defer time.AfterFunc(60*time.Second, func() { e.w.Close() }).Stop()
next:
	for {
		length := 0
		for {
			line, err := e.r.ReadString('\n')
			if err != nil {
				e.t.Fatalf("waiting for %q: %v", words, err)
			}
			if line = strings.TrimSpace(line); line == "" {
				break
			}
			if v, ok := strings.CutPrefix(line, "Content-Length: "); ok {
				if length, err = strconv.Atoi(v); err != nil {
					e.t.Fatal(err)
				}
			}
		}
		body := make([]byte, length)
		if _, err := io.ReadFull(e.r, body); err != nil {
			e.t.Fatal(err)
		}
		for _, w := range words {
			if !bytes.Contains(body, []byte(w)) {
				continue next
			}
		}
		return string(body)
	}
}

func (e *editor) call(method, params string) string {
	e.t.Helper()
	e.id++
	e.send(method, e.id, params)
	return e.until(fmt.Sprintf(`"id":%d,`, e.id))
}

// startEditor starts a server with a client. The channel gets its exit code.
func startEditor(t *testing.T) (*editor, <-chan int) {
	fromEditor, toServer := io.Pipe()
	fromServer, toEditor := io.Pipe()
	code := make(chan int, 1)
	go func() {
		code <- run([]string{"lsp", "--stdio"}, fromEditor, toEditor, io.Discard)
		toEditor.Close()
	}()
	e := &editor{t: t, r: bufio.NewReader(fromServer), w: toServer}
	e.call("initialize", `{"capabilities":{},"initializationOptions":{"delay":0}}`)
	e.send("initialized", 0, "{}")
	return e, code
}

func (e *editor) open(uri, text string) {
	e.t.Helper()
	e.openAs(uri, "cuda", text)
}

// openAs opens a document in a language, as the editor names it.
func (e *editor) openAs(uri, language, text string) {
	e.t.Helper()
	quoted, err := json.Marshal(text)
	if err != nil {
		e.t.Fatal(err)
	}
	e.send("textDocument/didOpen", 0, fmt.Sprintf(`{"textDocument":{"uri":%q,"languageId":%q,"version":1,"text":%s}}`, uri, language, quoted))
}

// quit ends the session as the protocol says.
func (e *editor) quit(code <-chan int) {
	e.t.Helper()
	e.call("shutdown", "null")
	e.send("exit", 0, "null")
	if got := <-code; got != exitClean {
		e.t.Errorf("exit code %d", got)
	}
}

// TestEditor writes a kernel in an editor, mends it there, and asks for its proof: nothing of it is
// saved.
func TestEditor(t *testing.T) {
	dir := t.TempDir()
	header := filepath.Join(dir, "size.h")
	if err := os.WriteFile(header, []byte("#define SIZE 65\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	text := "#include \"size.h\"\n// heddle: block=64\n__global__ void k(int *out)\n{\n\t__shared__ int s[SIZE];\n\ts[threadIdx.x] = 1;\n\n\tout[threadIdx.x + 64 * blockIdx.x] = s[threadIdx.x + 1];\n}\n"
	uri := "file://" + filepath.ToSlash(filepath.Join(dir, "k.cu"))
	e, code := startEditor(t)
	e.open(uri, text)
	got := e.until("publishDiagnostics", "race-shared")
	// The read in line 8, from 0 line 7; the write is the other place.
	for _, want := range []string{`"line":7`, `"relatedInformation"`, `"line":5`, uri} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in %s", want, got)
		}
	}
	if got := e.call("textDocument/codeLens", fmt.Sprintf(`{"textDocument":{"uri":%q}}`, uri)); !strings.Contains(got, "heddle: bug") || !strings.Contains(got, `"line":2`) {
		t.Error(got)
	}
	// What heddle sync would change is for the editor to apply; here it declines.
	e.id++
	e.send("workspace/executeCommand", e.id, fmt.Sprintf(`{"command":"heddle.sync","arguments":[%q,"k(int*)"]}`, uri))
	apply := e.until("workspace/applyEdit")
	if !strings.Contains(apply, `__syncthreads();`) || !strings.Contains(apply, uri) {
		t.Error(apply)
	}
	var request struct{ ID json.RawMessage }
	if err := json.Unmarshal([]byte(apply), &request); err != nil {
		t.Fatal(err)
	}
	answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"applied":false}}`, request.ID)
	if _, err := fmt.Fprintf(e.w, "Content-Length: %d\r\n\r\n%s", len(answer), answer); err != nil {
		t.Fatal(err)
	}
	if got := e.until(fmt.Sprintf(`"id":%d,`, e.id)); !strings.Contains(got, "synchronized: kernel k(int*)") {
		t.Error(got)
	}
	e.send("textDocument/didChange", 0, fmt.Sprintf(`{"textDocument":{"uri":%q,"version":2},"contentChanges":[{"range":{"start":{"line":6,"character":0},"end":{"line":6,"character":0}},"text":"\t__syncthreads();"}]}`, uri))
	e.until("publishDiagnostics", `"version":2`, `"diagnostics":[]`)
	if got := e.call("workspace/executeCommand", fmt.Sprintf(`{"command":"heddle.verify","arguments":[%q,"k(int*)"]}`, uri)); !strings.Contains(got, "verified: kernel k(int*)") {
		t.Error(got)
	}
	if got := e.call("textDocument/hover", fmt.Sprintf(`{"textDocument":{"uri":%q},"position":{"line":2,"character":16}}`, uri)); !strings.Contains(got, `**verified** kernel k(int\\*)`) {
		t.Error(got) // with the name of the kernel as text of Markdown
	}
	// The barrier that was written separates the two lines; a word that is none has nothing to say.
	start := time.Now()
	got = e.call("textDocument/hover", fmt.Sprintf(`{"textDocument":{"uri":%q},"position":{"line":6,"character":5}}`, uri))
	t.Logf("first hover on a barrier: %v", time.Since(start).Round(time.Millisecond))
	if !strings.Contains(got, "**needed**") || !strings.Contains(got, "in line 6 from the read") || !strings.Contains(got, "in line 8") ||
		!strings.Contains(got, `\n  - for example, in block 0, thread `) || !strings.Contains(got, `\n- each thread reaches it once; costs about 25 cycles`) {
		t.Error(got)
	}
	if got := e.call("textDocument/hover", fmt.Sprintf(`{"textDocument":{"uri":%q},"position":{"line":7,"character":2}}`, uri)); !strings.Contains(got, `"result":null`) {
		t.Error(got)
	}
	// What the compiler says is at its line.
	e.send("textDocument/didChange", 0, fmt.Sprintf(`{"textDocument":{"uri":%q,"version":3},"contentChanges":[{"range":{"start":{"line":5,"character":0},"end":{"line":5,"character":1}},"text":"x"}]}`, uri))
	if got := e.until("publishDiagnostics", "compile-error"); !strings.Contains(got, `"start":{"line":5,"character":0}`) || !strings.Contains(got, "undeclared identifier") {
		t.Error(got)
	}
	e.quit(code)
}

// TestEditorLanguages: editors send heddle what they send to clangd, too. A document in C++ has no
// finding; one whose language the user set to CUDA is examined whatever it is called; the extension
// decides if there is one of heddle.
func TestEditorLanguages(t *testing.T) {
	const racy = "// heddle: grid=1 block=64\n__global__ void k(int *a) { *a = threadIdx.x; }\n"
	for _, tt := range []struct{ name, language, text, want string }{
		{"a.cpp", "cpp", racy, `"diagnostics":[]`},
		{"a.cpp", "cuda-cpp", racy, "race-global"},
		{"a.inc", "cuda", racy, "race-global"},
		{"a.cu", "cpp", racy, "race-global"}, // Helix calls CUDA so
		{"a.CU", "", racy, "race-global"},
		{"a.txt", "ptx", "x", "ptx-syntax"},
	} {
		t.Run(tt.name+" "+tt.language, func(t *testing.T) {
			uri := "file://" + filepath.ToSlash(filepath.Join(t.TempDir(), tt.name))
			e, code := startEditor(t)
			e.openAs(uri, tt.language, tt.text)
			if got := e.until("publishDiagnostics"); !strings.Contains(got, tt.want) {
				t.Errorf("got %s\nwant %s", got, tt.want)
			}
			e.quit(code)
		})
	}
}

// repaired asks for the repair of a kernel, applies it as an editor does, and returns the text.
func (e *editor) repaired(uri, kernel, text string) string {
	e.t.Helper()
	e.id++
	e.send("workspace/executeCommand", e.id, fmt.Sprintf(`{"command":"heddle.fix","arguments":[%q,%q]}`, uri, kernel))
	var m struct {
		ID     json.RawMessage
		Params struct {
			Edit struct {
				Changes map[string][]struct {
					Range struct {
						Start, End struct{ Line, Character int }
					}
					NewText string
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(e.until("workspace/applyEdit")), &m); err != nil {
		e.t.Fatal(err)
	}
	lines := strings.SplitAfter(text, "\n")
	edits := m.Params.Edit.Changes[uri]
	if len(edits) == 0 {
		e.t.Fatalf("no edit of %s", uri)
	}
	offset := func(line, char int) int { return len(strings.Join(lines[:line], "")) + char }
	for i := len(edits) - 1; i >= 0; i-- { // in the order of the text
		r := edits[i].Range
		text = text[:offset(r.Start.Line, r.Start.Character)] + edits[i].NewText + text[offset(r.End.Line, r.End.Character):]
	}
	answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"applied":true}}`, m.ID)
	if _, err := fmt.Fprintf(e.w, "Content-Length: %d\r\n\r\n%s", len(answer), answer); err != nil {
		e.t.Fatal(err)
	}
	if got := e.until(fmt.Sprintf(`"id":%d,`, e.id)); !strings.Contains(got, "repaired: kernel "+kernel) {
		e.t.Error(got)
	}
	return text
}

// TestEditorFix: findings of a race and of a divergence come with a repair; applied, it leaves
// none. Expectations: in the first kernel a thread reads what its neighbour writes, with no barrier
// between; in the second, half of a block reaches a __syncthreads() that all of its threads must
// reach (CUDA C++ Programming Guide, synchronization functions).
func TestEditorFix(t *testing.T) {
	for code, text := range map[string]string{
		"race-shared":        "// heddle: grid=1 block=64\n__global__ void k(int *out)\n{\n\t__shared__ int s[65];\n\ts[threadIdx.x] = 1;\n\tout[threadIdx.x] = s[threadIdx.x + 1];\n}\n",
		"barrier-divergence": "// heddle: grid=1 block=64\n__global__ void k(int *out)\n{\n\t__shared__ int s[65];\n\tif (threadIdx.x < 32) {\n\t\ts[threadIdx.x] = 1;\n\t\t__syncthreads();\n\t}\n\tout[threadIdx.x] = s[threadIdx.x & 31];\n}\n",
	} {
		t.Run(code, func(t *testing.T) {
			uri := "file://" + filepath.ToSlash(filepath.Join(t.TempDir(), "k.cu"))
			e, end := startEditor(t)
			e.open(uri, text)
			e.until("publishDiagnostics", code)
			all := fmt.Sprintf(`{"textDocument":{"uri":%q},"range":{"start":{"line":0,"character":0},"end":{"line":99,"character":0}}}`, uri)
			got := e.call("textDocument/codeAction", all)
			if !strings.Contains(got, "Repair this kernel (heddle fix): k(int*)") ||
				!strings.Contains(got, "Place all barriers anew (heddle sync): k(int*)") {
				t.Error(got)
			}
			quoted, err := json.Marshal(e.repaired(uri, "k(int*)", text))
			if err != nil {
				t.Fatal(err)
			}
			e.send("textDocument/didChange", 0, fmt.Sprintf(`{"textDocument":{"uri":%q,"version":2},"contentChanges":[{"text":%s}]}`, uri, quoted))
			e.until("publishDiagnostics", `"version":2`, `"diagnostics":[]`)
			e.quit(end)
		})
	}
}

// TestEditorEqualsCheck opens the examples in an editor: the verdicts above the kernels are those
// of heddle check. With HEDDLE_LONG all examples are opened, else a few. It prints how long each
// takes to its verdict, the compiler's and the prover's answers included.
func TestEditorEqualsCheck(t *testing.T) {
	names := []string{"reduce.cu", "reduce_racy.cu", "bfs.cu", "hashtable.cu", "stencil_racy_inplace.cu"}
	dir, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	if long.All() {
		names = nil
		files, err := filepath.Glob(filepath.Join(dir, "*.cu"))
		if err != nil || len(files) < 30 {
			t.Fatalf("%d examples: %v", len(files), err)
		}
		for _, f := range files {
			names = append(names, filepath.Base(f))
		}
	}
	e, end := startEditor(t)
	for _, name := range names {
		path := filepath.Join(dir, name)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		run([]string{"check", "--format", "json", path}, nil, &out, io.Discard)
		want := map[string]int{}
		for line := range bytes.Lines(out.Bytes()) {
			var v struct{ Type, Verdict string }
			if err := json.Unmarshal(line, &v); err != nil {
				t.Fatal(err)
			}
			if v.Type == "verdict" {
				want[v.Verdict]++
			}
		}
		uri := "file://" + filepath.ToSlash(path)
		start := time.Now()
		e.open(uri, string(text))
		e.until("publishDiagnostics", uri)
		t.Logf("%s: %v", name, time.Since(start).Round(time.Millisecond))
		var lenses struct {
			Result []struct{ Command struct{ Title string } }
		}
		reply := e.call("textDocument/codeLens", fmt.Sprintf(`{"textDocument":{"uri":%q}}`, uri))
		if err := json.Unmarshal([]byte(reply), &lenses); err != nil {
			t.Fatal(err)
		}
		got := map[string]int{}
		for _, l := range lenses.Result {
			if v, ok := strings.CutPrefix(l.Command.Title, "heddle: "); ok {
				got[v]++
			}
		}
		if len(want) == 0 || !maps.Equal(got, want) {
			t.Errorf("%s: the editor shows %v, heddle check %v", name, got, want)
		}
	}
	e.quit(end)
}

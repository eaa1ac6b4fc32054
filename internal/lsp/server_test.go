package lsp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"heddle/internal/diag"
	"heddle/internal/source"
)

// client is a scripted client of a server.
type client struct {
	t    *testing.T
	conn *conn
	in   io.Closer // what the server reads
	end  chan error
	last int
	seen []*message // that were read while something else was waited for
}

func start(t *testing.T, e Engine) *client {
	t.Helper()
	return startAt(t, e, "")
}

// startAt starts a server whose documents are published at a site.
func startAt(t *testing.T, e Engine, site diag.Site) *client {
	t.Helper()
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	c := &client{t: t, conn: &conn{r: bufio.NewReader(fromServer), w: toServer}, in: toServer,
		end: make(chan error, 1)}
	s := NewServer(fromClient, toClient, e, "test", site, func(text string) { t.Log(text) })
	go func() {
		c.end <- s.Serve(t.Context())
		toClient.Close()
	}()
	return c
}

// next waits for the next message that satisfies a condition and skips others.
func (c *client) next(what string, want func(*message) bool) *message {
	c.t.Helper()
	for i, m := range c.seen {
		if want(m) {
			c.seen = append(c.seen[:i:i], c.seen[i+1:]...)
			return m
		}
	}
	timeout := time.AfterFunc(20*time.Second, func() { c.in.Close() })
	defer timeout.Stop()
	for {
		m, err := c.conn.read()
		if err != nil {
			c.t.Fatalf("waiting for %s: %v", what, err)
		}
		if want(m) {
			return m
		}
		c.seen = append(c.seen, m)
	}
}

func (c *client) notify(method string, params any) {
	c.t.Helper()
	if err := c.conn.notify(method, params); err != nil {
		c.t.Fatal(err)
	}
}

// ask sends a request and returns its id.
func (c *client) ask(method string, params any) json.RawMessage {
	c.t.Helper()
	c.last++
	id := json.RawMessage(fmt.Sprint(c.last))
	raw, err := json.Marshal(params)
	if err != nil {
		c.t.Fatal(err)
	}
	if err := c.conn.write(&message{ID: &id, Method: method, Params: raw}); err != nil {
		c.t.Fatal(err)
	}
	return id
}

func (c *client) answer(id json.RawMessage) *message {
	c.t.Helper()
	return c.next("the answer to "+string(id), func(m *message) bool {
		return m.Method == "" && m.ID != nil && string(*m.ID) == string(id)
	})
}

func (c *client) call(method string, params any) *message {
	c.t.Helper()
	return c.answer(c.ask(method, params))
}

// diagnostics waits until diagnostics of a document are published.
func (c *client) diagnostics(uri string) []diagnostic {
	c.t.Helper()
	var p publishDiagnostics
	c.next("diagnostics of "+uri, func(m *message) bool {
		if m.Method != "textDocument/publishDiagnostics" {
			return false
		}
		p = publishDiagnostics{}
		return json.Unmarshal(m.Params, &p) == nil && p.URI == uri
	})
	return p.Diagnostics
}

func (c *client) quit() {
	c.t.Helper()
	if m := c.call("shutdown", nil); m.Error != nil || string(m.Result) != "null" {
		c.t.Errorf("shutdown: %+v", m)
	}
	c.notify("exit", nil)
	if err := <-c.end; err != nil {
		c.t.Errorf("the server ends with %v", err)
	}
}

type object = map[string]any

const uri = "file:///w/a.cu"

func open(text string) object {
	return object{"textDocument": object{"uri": uri, "languageId": "cuda", "version": 1, "text": text}}
}

func (c *client) initialize(options object) *message {
	c.t.Helper()
	m := c.call("initialize", options)
	c.notify("initialized", object{})
	return m
}

// words is an Engine that reports a finding at every "bad" and a kernel at every "kernel".
type words struct {
	mu    sync.Mutex
	modes []Mode
	block bool // until it is cancelled
}

func (e *words) Check(ctx context.Context, req Request) (*Report, error) {
	e.mu.Lock()
	e.modes = append(e.modes, req.Mode)
	block := e.block
	e.mu.Unlock()
	if block {
		req.Progress("blocked")
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if strings.Contains(string(req.Text), "broken engine") {
		return nil, errors.New("no compiler")
	}
	r := &Report{Files: source.NewSet()}
	f, err := r.Files.Add(req.Path, req.Text)
	if err != nil {
		return nil, err
	}
	at := func(i, n int) source.Span { return source.Span{Start: f.PosAt(i), End: f.PosAt(i + n)} }
	for i := range req.Text {
		if strings.HasPrefix(string(req.Text[i:]), "bad") {
			r.Findings = append(r.Findings, diag.Diagnostic{
				Code: diag.CodeRaceShared, Severity: diag.Error, Message: "bad word", Notes: []string{"a note"},
				Kernel: "kernel",
				Span:   at(i, 3), Related: []diag.Related{{Span: at(0, 1), Message: "here it starts"}},
				Fixes: []diag.Fix{{Message: "make it good", Edits: []diag.Edit{{Span: at(i, 3), New: "good"}}}},
			})
		}
		if strings.HasPrefix(string(req.Text[i:]), "kernel") {
			kind := diag.Clean
			if req.Mode == Proof {
				kind = diag.Verified
			}
			if strings.Contains(string(req.Text), "undecided") {
				kind = diag.Unknown
			}
			r.Verdicts = append(r.Verdicts,
				diag.Verdict{Kind: kind, Kernel: "kernel", Scope: "this", Span: at(i, 6)})
		}
	}
	return r, nil
}

func (e *words) Barrier(_ context.Context, req Request, line, col int) (string, error) {
	return fmt.Sprintf("%s at %d:%d", req.Path, line, col), nil
}

func TestDiagnostics(t *testing.T) {
	c := start(t, &words{})
	c.initialize(object{"initializationOptions": object{"delay": 0}})
	// In UTF-16 the character before "bad" is two units long, in bytes four.
	c.notify("textDocument/didOpen", open("x\n\U0001f600bad kernel\n"))
	ds := c.diagnostics(uri)
	if len(ds) != 1 {
		t.Fatalf("%+v", ds)
	}
	d := ds[0]
	want := lspRange{position{1, 2}, position{1, 5}}
	if d.Range != want || d.Severity != severityError || d.Code != "race-shared" ||
		d.Source != "heddle" || d.Message != "bad word\na note" {
		t.Errorf("%+v", d)
	}
	if r := d.RelatedInformation; len(r) != 1 || r[0].Location.URI != uri ||
		r[0].Location.Range.End != (position{0, 1}) || r[0].Message != "here it starts" {
		t.Errorf("%+v", r)
	}
	// The fix is offered on its line and nowhere else.
	if list := c.actions(0); len(list) != 0 {
		t.Errorf("%+v", list)
	}
	list := c.actions(1)
	if len(list) != 1 || list[0].Title != "make it good" ||
		list[0].Edit.Changes[uri][0] != (textEdit{want, "good"}) {
		t.Fatalf("%+v", list)
	}
	// Applied as an incremental change, it takes the finding back.
	e := list[0].Edit.Changes[uri][0]
	c.notify("textDocument/didChange", object{"textDocument": object{"uri": uri, "version": 2},
		"contentChanges": []object{{"range": e.Range, "text": e.NewText}}})
	if ds := c.diagnostics(uri); len(ds) != 0 {
		t.Errorf("after the fix: %+v", ds)
	}
	c.notify("textDocument/didClose", object{"textDocument": object{"uri": uri}})
	c.quit()
}

// TestCodeDescription: with a site, the code of a finding and that of a verdict link to their pages
// (LSP 3.17, Diagnostic); without one there is no link, not even an empty one.
func TestCodeDescription(t *testing.T) {
	for _, c := range []struct {
		site diag.Site
		want []string
	}{
		{"", []string{"", ""}},
		{"https://alice.github.io/heddle/", []string{
			"https://alice.github.io/heddle/codes/race-shared.html",
			"https://alice.github.io/heddle/verdicts.html#unknown"}},
	} {
		client := startAt(t, &words{}, c.site)
		client.initialize(object{"initializationOptions": object{"delay": 0}})
		client.notify("textDocument/didOpen", open("bad undecided kernel\n"))
		var got []string
		for _, d := range client.diagnostics(uri) {
			raw, err := json.Marshal(d)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(raw), "codeDescription") != (c.site != "") {
				t.Errorf("site %q: %s", c.site, raw)
			}
			href := ""
			if d.CodeDescription != nil {
				href = d.CodeDescription.Href
			}
			got = append(got, href)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("site %q: %q, want %q", c.site, got, c.want)
		}
		client.quit()
	}
}

// TestVersionedEdits: a client that compares versions gets the version of the document with an edit
// (LSP 3.17, TextDocumentEdit), so that it refuses one for an older text. A document without
// findings gets an empty list of diagnostics.
func TestVersionedEdits(t *testing.T) {
	c := start(t, &words{})
	c.initialize(object{"capabilities": object{"workspace": object{"workspaceEdit": object{"documentChanges": true}}},
		"initializationOptions": object{"onChange": false}})
	c.notify("textDocument/didOpen", open("fine\n"))
	if ds := c.diagnostics(uri); len(ds) != 0 {
		t.Errorf("%+v", ds)
	}
	c.notify("textDocument/didChange", object{"textDocument": object{"uri": uri, "version": 7},
		"contentChanges": []object{{"text": "a bad kernel\n"}}})
	c.notify("textDocument/didSave", object{"textDocument": object{"uri": uri}})
	if ds := c.diagnostics(uri); len(ds) != 1 {
		t.Errorf("%+v", ds)
	}
	list := c.actions(0)
	if len(list) != 1 || list[0].Edit.Changes != nil || len(list[0].Edit.DocumentChanges) != 1 {
		t.Fatalf("%+v", list)
	}
	one := list[0].Edit.DocumentChanges[0]
	if v := one.TextDocument.Version; one.TextDocument.URI != uri || v == nil || *v != 7 || len(one.Edits) != 1 ||
		one.Edits[0].NewText != "good" {
		t.Errorf("%+v", one)
	}
	c.quit()
}

func TestLensAndHover(t *testing.T) {
	c := start(t, &words{})
	m := c.initialize(object{"capabilities": object{"general": object{"positionEncodings": []string{"utf-32", "utf-8"}}}, "initializationOptions": object{"onChange": false}})
	if !strings.Contains(string(m.Result), `"positionEncoding":"utf-8"`) ||
		strings.Contains(string(m.Result), "heddle.sync") {
		t.Errorf("%s", m.Result)
	}
	c.notify("textDocument/didOpen", open("\n\u00e4 kernel bad\n"))
	c.diagnostics(uri)
	lenses := func() (list []codeLens) {
		m := c.call("textDocument/codeLens", object{"textDocument": object{"uri": uri}})
		if err := json.Unmarshal(m.Result, &list); err != nil {
			t.Fatal(err)
		}
		return list
	}
	if l := lenses(); len(l) != 3 || l[0].Command.Title != "heddle: clean" ||
		l[1].Command.Command != "heddle.verify" || l[0].Range.Start != (position{1, 3}) {
		t.Fatalf("%+v", l)
	}
	ask := func(line, char int) string {
		m := c.call("textDocument/hover",
			object{"textDocument": object{"uri": uri}, "position": position{line, char}})
		var h *hover
		if err := json.Unmarshal(m.Result, &h); err != nil {
			t.Fatal(err)
		}
		if h == nil {
			return ""
		}
		return h.Contents.Value
	}
	if got := ask(1, 5); !strings.HasPrefix(got, "**clean** kernel kernel") {
		t.Errorf("%q", got)
	}
	if got := ask(1, 11); got != "/w/a.cu at 2:12" { // bytes, from 1
		t.Errorf("%q", got)
	}
	// A proof of the kernel takes the place of what was known of it.
	m = c.call("workspace/executeCommand",
		object{"command": "heddle.verify", "arguments": []string{uri, "kernel"}})
	if m.Error != nil || !strings.Contains(string(m.Result), "verified: kernel kernel") {
		t.Errorf("%+v", m)
	}
	if ds := c.diagnostics(uri); len(ds) != 1 {
		t.Errorf("%+v", ds)
	}
	if l := lenses(); len(l) != 3 || l[0].Command.Title != "heddle: verified" {
		t.Errorf("%+v", l)
	}
	// Places of a text that has changed are wrong.
	c.notify("textDocument/didChange",
		object{"textDocument": object{"uri": uri, "version": 2},
			"contentChanges": []object{{"text": "kernel"}}})
	if l := lenses(); len(l) != 0 {
		t.Errorf("%+v", l)
	}
	c.quit()
}

// Checks during editing use mode Quick, and superseded or cancelled checks end.
func TestCancel(t *testing.T) {
	e := &words{block: true}
	c := start(t, e)
	c.initialize(object{"capabilities": object{"window": object{"workDoneProgress": true}},
		"initializationOptions": object{"delay": 0}})
	c.notify("textDocument/didOpen", open("bad"))
	create := c.next("progress", func(m *message) bool { return m.Method == "window/workDoneProgress/create" })
	if err := c.conn.write(&message{ID: create.ID, Result: json.RawMessage("null")}); err != nil {
		t.Fatal(err)
	}
	begin := c.next("begin", func(m *message) bool {
		return m.Method == "$/progress" && strings.Contains(string(m.Params), `"begin"`)
	})
	if !strings.Contains(string(begin.Params), "heddle check") {
		t.Errorf("%s", begin.Params)
	}
	c.next("report", func(m *message) bool { return strings.Contains(string(m.Params), `"blocked"`) })
	// An edit makes it useless; the next run finds something.
	e.mu.Lock()
	e.block = false
	e.mu.Unlock()
	c.notify("textDocument/didChange",
		object{"textDocument": object{"uri": uri, "version": 2},
			"contentChanges": []object{{"text": "bad bad"}}})
	c.next("end", func(m *message) bool {
		return m.Method == "$/progress" &&
			strings.Contains(string(m.Params), `"end"`)
	})
	if ds := c.diagnostics(uri); len(ds) != 2 {
		t.Errorf("%+v", ds)
	}
	e.mu.Lock()
	if len(e.modes) != 2 || e.modes[0] != Full || e.modes[1] != Quick {
		t.Errorf("%v", e.modes)
	}
	e.block = true
	e.mu.Unlock()
	// A request that the client takes back.
	id := c.ask("workspace/executeCommand",
		object{"command": "heddle.verify", "arguments": []string{uri}})
	c.notify("$/cancelRequest", object{"id": json.RawMessage(id)})
	if m := c.answer(id); m.Error == nil || m.Error.Code != codeCancelled {
		t.Errorf("%+v", m)
	}
	// And one that shutdown ends.
	c.notify("textDocument/didSave", object{"textDocument": object{"uri": uri}})
	c.quit()
}

func TestMistakes(t *testing.T) {
	c := start(t, &words{})
	if m := c.call("textDocument/codeLens", object{}); m.Error == nil ||
		m.Error.Code != codeNotInitialized {
		t.Errorf("%+v", m)
	}
	c.initialize(object{})
	for _, x := range []struct {
		method string
		params any
		code   int
	}{
		{"initialize", object{}, codeInvalidRequest},
		{"textDocument/rename", object{}, codeMethodNotFound},
		{"textDocument/codeLens", "x", codeInvalidParams},
		{"workspace/executeCommand", object{"command": "heddle.fly"}, codeInvalidParams},
		// this engine has none
		{"workspace/executeCommand", object{"command": "heddle.sync"}, codeInvalidParams},
		{"workspace/executeCommand", object{"command": "heddle.run", "arguments": []any{3}},
			codeInvalidParams},
		{"workspace/executeCommand", object{"command": "heddle.run",
			"arguments": []any{"file:///w/closed.cu"}}, codeInvalidParams},
	} {
		if m := c.call(x.method, x.params); m.Error == nil || m.Error.Code != x.code ||
			m.Error.Message == "" {
			t.Errorf("%s %v: %+v", x.method, x.params, m.Error)
		}
	}
	// A notification that nobody knows, or that is about nothing, is passed over.
	c.notify("$/setTrace", object{"value": "off"})
	c.notify("textDocument/didChange",
		object{"textDocument": object{"uri": "file:///w/closed.cu"},
			"contentChanges": []object{{"text": ""}}})
	c.notify("textDocument/didOpen",
		object{"textDocument": object{"uri": "untitled:1", "text": "bad"}})
	// An engine that cannot work says so, once.
	c.notify("textDocument/didOpen", open("broken engine"))
	m := c.next("a message", func(m *message) bool { return m.Method == "window/showMessage" })
	if !strings.Contains(string(m.Params), "no compiler") {
		t.Errorf("%s", m.Params)
	}
	// A content that is no JSON is answered, and does not end the session.
	if _, err := io.WriteString(c.conn.w, "Content-Length: 3\r\n\r\n{,}"); err != nil {
		t.Fatal(err)
	}
	m = c.next("an error", func(m *message) bool { return m.Error != nil })
	if m.Error.Code != codeParse {
		t.Errorf("%+v", m.Error)
	}
	c.quit()
}

// A truncated stream, or one that is not a sequence of messages, ends the session with an error.
func TestStreamEnds(t *testing.T) {
	for _, text := range []string{"", "hello\r\n\r\n", "Content-Length: x\r\n\r\n",
		"Content-Length: 99999999999\r\n\r\n", "X: y\r\n\r\n", "Content-Length: 5\r\n\r\n{}"} {
		s := NewServer(strings.NewReader(text), io.Discard, &words{}, "test", "",
			func(string) {})
		if err := s.Serve(t.Context()); err == nil {
			t.Errorf("%q: no error", text)
		}
	}
	s := NewServer(strings.NewReader("Content-Length: 33\r\n\r\n"+`{"jsonrpc":"2.0","method":"exit"}`),
		io.Discard, &words{}, "test", "", func(string) {})
	if err := s.Serve(t.Context()); err == nil {
		t.Error("exit without shutdown returns no error")
	}
}

func TestOffsets(t *testing.T) {
	text := "a\u00e4\U0001f600b\r\nx\n"
	for _, c := range []struct {
		e    encoding
		p    position
		want int
	}{
		{utf16, position{0, 0}, 0}, {utf16, position{0, 2}, 3}, {utf16, position{0, 4}, 7},
		{utf16, position{0, 9}, 8},
		{utf8Bytes, position{0, 3}, 3}, {utf8Bytes, position{0, 99}, 8}, {utf16, position{1, 0}, 10},
		{utf16, position{1, 1}, 11},
		{utf16, position{2, 0}, 12}, {utf16, position{7, 3}, 12},
	} {
		if got := c.e.offset(text, c.p); got != c.want {
			t.Errorf("%v %v: %d, expected %d", c.e, c.p, got, c.want)
		}
	}
}

func TestURIs(t *testing.T) {
	for _, path := range []string{"/w/a.cu", "/w/with space/ä#?.cu"} {
		if got := pathOf(uriOf(path)); got != path {
			t.Errorf("%s became %s", path, got)
		}
	}
	if pathOf("untitled:x") != "" || pathOf("%") != "" {
		t.Error("a path of no file")
	}
}

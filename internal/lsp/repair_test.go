package lsp

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"heddle/internal/diag"
	"heddle/internal/source"
)

// mender is the words engine with repairs: Fix replaces every "bad" of the kernel by "good", Sync
// finds no repair. A text with "forever" keeps it busy until it is cancelled.
type mender struct{ words }

func (e *mender) Repair(ctx context.Context, req Request) (*source.Set, []diag.Fix, string, error) {
	files := source.NewSet()
	f, err := files.Add(req.Path, req.Text)
	if err != nil {
		return nil, nil, "", err
	}
	if strings.Contains(string(req.Text), "forever") {
		req.Progress("mending")
		<-ctx.Done()
		return files, nil, "out of time", nil
	}
	if req.Mode == Sync {
		return files, nil, "no barrier helps " + req.Kernel, nil
	}
	i := strings.Index(string(req.Text), "bad")
	edit := diag.Edit{Span: source.Span{Start: f.PosAt(i), End: f.PosAt(i + 3)}, New: "good"}
	return files, []diag.Fix{{Message: "heddle fix", Edits: []diag.Edit{edit}}},
		"repaired " + req.Kernel, nil
}

func (c *client) actions(line int) []codeAction {
	c.t.Helper()
	m := c.call("textDocument/codeAction",
		object{"textDocument": object{"uri": uri},
			"range": lspRange{position{line, 0}, position{line, 0}}})
	var list []codeAction
	if err := json.Unmarshal(m.Result, &list); err != nil {
		c.t.Fatal(err)
	}
	return list
}

// A synchronization finding has two repair commands, one of each per kernel. The repair is computed
// when the user selects it.
func TestRepairActions(t *testing.T) {
	c := start(t, &mender{})
	c.initialize(object{})
	c.notify("textDocument/didOpen", open("kernel\nbad bad\n"))
	c.diagnostics(uri)
	var repairs []codeAction
	for _, a := range c.actions(1) {
		if a.Command != nil {
			repairs = append(repairs, a)
		}
	}
	if len(repairs) != 2 || repairs[0].Command.Command != "heddle.fix" ||
		repairs[1].Command.Command != "heddle.sync" ||
		repairs[0].Title != "Repair this kernel (heddle fix): kernel" || repairs[0].Kind != quickFix ||
		len(repairs[1].Diagnostics) != 2 || repairs[1].Edit != nil {
		t.Fatalf("%+v", repairs)
	}
	if list := c.actions(0); len(list) != 0 {
		t.Errorf("at a line without findings: %+v", list)
	}
	// The client is told why there is nothing to apply.
	id := c.ask("workspace/executeCommand", repairs[1].Command)
	m := c.next("a message", func(m *message) bool { return m.Method == "window/showMessage" })
	if !strings.Contains(string(m.Params), "no barrier helps kernel") {
		t.Errorf("%s", m.Params)
	}
	c.answer(id)
	// What there is to apply, the client applies.
	id = c.ask("workspace/executeCommand", repairs[0].Command)
	m = c.next("an edit", func(m *message) bool { return m.Method == "workspace/applyEdit" })
	if !strings.Contains(string(m.Params), `"newText":"good"`) {
		t.Errorf("%s", m.Params)
	}
	if err := c.conn.write(&message{ID: m.ID,
		Result: json.RawMessage(`{"applied":true}`)}); err != nil {
		t.Fatal(err)
	}
	if m := c.answer(id); string(m.Result) != `"repaired kernel"` {
		t.Errorf("%s", m.Result)
	}
	c.quit()
}

// A repair can be cancelled by the request or from its progress, and then sends nothing more.
func TestRepairCancelled(t *testing.T) {
	for _, from := range []string{"request", "progress"} {
		c := start(t, &mender{})
		c.initialize(object{"capabilities": object{"window": object{"workDoneProgress": true}}})
		c.notify("textDocument/didOpen", open("kernel\nbad forever\n"))
		c.diagnostics(uri)
		id := c.ask("workspace/executeCommand",
			object{"command": "heddle.fix", "arguments": []string{uri, "kernel"}})
		if from == "request" {
			c.notify("$/cancelRequest", object{"id": id})
			if m := c.answer(id); m.Error == nil || m.Error.Code != codeCancelled {
				t.Errorf("%+v", m)
			}
		} else {
			m := c.next("progress", func(m *message) bool { return m.Method == "window/workDoneProgress/create" })
			if err := c.conn.write(&message{ID: m.ID, Result: json.RawMessage("null")}); err != nil {
				t.Fatal(err)
			}
			var p struct{ Token string }
			if err := json.Unmarshal(m.Params, &p); err != nil {
				t.Fatal(err)
			}
			c.notify("window/workDoneProgress/cancel", p)
			c.answer(id)
		}
		c.quit()
		for _, m := range c.seen {
			if m.Method == "workspace/applyEdit" || m.Method == "window/showMessage" {
				t.Errorf("%s: %s %s", from, m.Method, m.Params)
			}
		}
	}
}

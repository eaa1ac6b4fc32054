package lsp

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"heddle/internal/diag"
	"heddle/internal/source"
)

// document is a text that is open in the editor. All fields are protected by Server.mu.
type document struct {
	uri, path string
	language  string // as the client names it
	text      string
	version   int
	timer     *time.Timer             // of the check after an edit; nil: none pending
	cancel    context.CancelFunc      // of the current run; nil: none
	run       int                     // number of the latest run
	reports   []part                  // of completed runs, oldest first
	checked   string                  // the text that the reports describe
	published map[string][]diagnostic // by URI, as last sent to the client
}

// request returns a request about the current text. s.mu is held.
func (d *document) request(mode Mode, kernel string) Request {
	return Request{Path: d.path, Language: d.language, Text: []byte(d.text), Mode: mode,
		Kernel: kernel, Progress: func(string) {}}
}

// part is a report with the kernel that was examined; an empty kernel means all kernels.
type part struct {
	*Report
	kernel string
}

// take adds a report and drops the previous report about the same kernel. A report about all
// kernels, or about a new text, replaces all others.
func (d *document) take(r *Report, kernel string) {
	if d.checked != d.text || kernel == "" {
		d.reports = nil
	}
	d.reports = append(slices.DeleteFunc(d.reports, func(p part) bool { return p.kernel == kernel }),
		part{r, kernel})
	d.checked = d.text
}

// current reports whether the i-th report is the latest about a kernel. A proof of one kernel
// replaces what an earlier run of the whole document found in it.
func (d *document) current(i int, kernel string) bool {
	return !slices.ContainsFunc(d.reports[i+1:], func(p part) bool { return p.kernel == kernel })
}

// findings calls visit for each current finding that is not suppressed, with the files that its
// positions refer to: each run has a set of its own.
func (d *document) findings(visit func(*source.Set, *diag.Diagnostic)) {
	for i, p := range d.reports {
		for j := range p.Findings {
			if f := &p.Findings[j]; f.Suppressed == nil && d.current(i, f.Kernel) {
				visit(p.Files, f)
			}
		}
	}
}

// verdicts calls visit for the current verdict of each kernel.
func (d *document) verdicts(visit func(*source.Set, *diag.Verdict)) {
	for i, p := range d.reports {
		for j := range p.Verdicts {
			if v := &p.Verdicts[j]; d.current(i, v.Kernel) {
				visit(p.Files, v)
			}
		}
	}
}

// didOpen starts a full check of a document that was opened. The text comes from the client from
// now on; the file on disk does not matter.
func (s *Server) didOpen(raw json.RawMessage) *rpcError {
	p, err := params[struct {
		TextDocument textDocument `json:"textDocument"`
	}](raw)
	if err != nil {
		return err
	}
	t := p.TextDocument
	path := pathOf(t.URI)
	if path == "" {
		return nil // not a file (untitled:, git:, ...): includes and flags could not be resolved
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	d := &document{uri: t.URI, path: path, language: t.LanguageID, text: t.Text, version: t.Version,
		published: map[string][]diagnostic{}}
	s.docs[t.URI] = d
	s.start(d, Full)
	return nil
}

// didChange applies edits, cancels the current run, and schedules a quick check unless the client
// turned these off.
func (s *Server) didChange(raw json.RawMessage) *rpcError {
	return onDocument(s, raw, func(d *document, p didChange) *rpcError {
		if err := s.change(d, p); err != nil {
			return err
		}
		if d.cancel != nil { // the current run examines the previous text
			d.cancel()
		}
		if !s.onChange {
			return nil
		}
		// The timer fires in its own goroutine, when the document may have been closed and opened
		// again or the server may have stopped.
		d.wait(time.AfterFunc(s.delay, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.docs[d.uri] == d && s.root.Err() == nil {
				s.start(d, Quick)
			}
		}))
		return nil
	})
}

// change applies edits of the client to the text of a document, in order: positions of each refer
// to the text after the previous one. s.mu is held.
func (s *Server) change(d *document, p didChange) *rpcError {
	for _, c := range p.ContentChanges {
		if c.Range == nil {
			d.text = c.Text
			continue
		}
		from, to := s.enc.offset(d.text, c.Range.Start), s.enc.offset(d.text, c.Range.End)
		if from > to {
			return fail(codeInvalidParams, "the end of a change is before its start")
		}
		d.text = d.text[:from] + c.Text + d.text[to:]
	}
	d.version = p.TextDocument.Version
	return nil
}

// didSave starts a full check: emulation, then a proof where it is needed.
func (s *Server) didSave(raw json.RawMessage) *rpcError {
	return onDocument(s, raw, func(d *document, _ textDocumentPosition) *rpcError {
		s.start(d, Full)
		return nil
	})
}

// didClose forgets a document, cancels its run and removes its diagnostics, which a client would
// otherwise show forever.
func (s *Server) didClose(raw json.RawMessage) *rpcError {
	return onDocument(s, raw, func(d *document, _ textDocumentPosition) *rpcError {
		d.wait(nil)
		if d.cancel != nil {
			d.cancel()
		}
		delete(s.docs, d.uri)
		s.publish(d, map[string][]diagnostic{})
		return nil
	})
}

// onDocument decodes parameters and calls do, with s.mu held, for the open document that they name.
// It ignores documents that are not open, since the client may have just closed them.
func onDocument[P interface{ uri() string }](s *Server, raw json.RawMessage,
	do func(*document, P) *rpcError) *rpcError {
	p, err := params[P](raw)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.docs[p.uri()]
	if d == nil {
		return nil
	}
	return do(d, p)
}

// wait replaces the pending timer by t, which may be nil. Each edit restarts the delay, so that the
// check runs when typing pauses. s.mu is held.
func (d *document) wait(t *time.Timer) {
	if d.timer != nil {
		d.timer.Stop()
	}
	d.timer = t
}

// start examines a document in the background and cancels the current run: its result would
// describe an older text or mode. s.mu is held.
func (s *Server) start(d *document, mode Mode) {
	d.wait(nil)
	if d.cancel != nil {
		d.cancel()
	}
	ctx, cancel := context.WithCancel(s.root)
	d.cancel = cancel
	d.run++
	// The goroutine gets its own copy of the text, which edits may replace during the run.
	run, req := d.run, d.request(mode, "")
	s.work.Go(func() {
		defer cancel()
		s.examine(ctx, d, run, req)
	})
}

// examine runs the engine and publishes the result, unless a newer run has started or the document
// was closed. An error of the engine is shown to the user once.
func (s *Server) examine(ctx context.Context, d *document, run int, req Request) {
	report, err := s.withProgress(ctx, "heddle "+string(req.Mode),
		func(ctx context.Context, say func(string)) (*Report, error) {
			req.Progress = say
			return s.engine.Check(ctx, req)
		})
	s.mu.Lock()
	defer s.mu.Unlock()
	if ctx.Err() != nil || d.run != run || s.docs[d.uri] != d {
		return
	}
	d.cancel = nil
	if err != nil {
		s.show(err.Error())
		return
	}
	d.take(report, "")
	s.publish(d, s.diagnostics(d))
	// Lenses show verdicts; without a refresh the client would keep the previous ones.
	if s.refresh {
		id, _ := s.calls.expect()
		s.send(&message{ID: &id, Method: "workspace/codeLens/refresh"})
	}
}

// publish sends the diagnostics of a document by URI, since some may be in headers. It sends an
// empty list for the document if it has none, and for files that had some before. s.mu is held.
func (s *Server) publish(d *document, all map[string][]diagnostic) {
	// A client keeps diagnostics until it receives a new list, so files without findings need an
	// empty one. One for the document itself also says that the check is over.
	if all[d.uri] == nil {
		all[d.uri] = []diagnostic{}
	}
	for uri := range d.published {
		if all[uri] == nil {
			all[uri] = []diagnostic{}
		}
	}
	d.published = map[string][]diagnostic{}
	for uri, list := range all {
		if len(list) > 0 {
			d.published[uri] = list
		}
	}
	for uri := range all {
		out := publishDiagnostics{URI: uri, Diagnostics: []diagnostic{}}
		for _, other := range s.docs { // several documents may include the same header
			out.Diagnostics = append(out.Diagnostics, other.published[uri]...)
		}
		if s.docs[d.uri] != d {
			out.Diagnostics = append(out.Diagnostics, d.published[uri]...)
		}
		if uri == d.uri {
			out.Version = &d.version
		}
		if err := s.conn.notify("textDocument/publishDiagnostics", out); err != nil {
			s.log(err.Error())
		}
	}
}

// send sends a message and logs an error, for callers that cannot handle it. If the client is gone,
// reading fails too and ends the server.
func (s *Server) send(m *message) {
	if err := s.conn.write(m); err != nil {
		s.log(err.Error())
	}
}

// show shows the user a message that has no place in a document.
func (s *Server) show(text string) {
	if err := s.conn.notify("window/showMessage",
		showMessage{Type: severityWarning, Message: text}); err != nil {
		s.log(err.Error())
	}
}

package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"heddle/internal/diag"
	"heddle/internal/source"
)

// actions returns the fixes of the findings in a range, and the commands that search for a repair.
// A search takes seconds, so it starts only when the user selects it.
func (s *Server) actions(raw json.RawMessage) (any, *rpcError) {
	p, err := params[codeActionParams](raw)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []codeAction{}
	d := s.lookup(p.TextDocument.URI)
	if d == nil {
		return out, nil
	}
	d.findings(func(files *source.Set, f *diag.Diagnostic) {
		uri, about := s.finding(d, files, f)
		if uri != d.uri || about.Range.End.Line < p.Range.Start.Line ||
			about.Range.Start.Line > p.Range.End.Line {
			return
		}
		for j, fix := range f.Fixes {
			if edit, ok := s.edit(d, files, fix.Edits); ok {
				out = append(out, codeAction{Title: fix.Message, Kind: quickFix,
					Diagnostics: []diagnostic{about}, IsPreferred: j == 0, Edit: &edit})
			}
		}
		out = s.repairs(out, d, f, about)
	})
	return out, nil
}

// repairs adds the commands that repair the kernel of a finding. Each command appears once per
// kernel, with all findings that it may repair.
func (s *Server) repairs(out []codeAction, d *document, f *diag.Diagnostic,
	about diagnostic) []codeAction {
	if _, ok := s.engine.(Repairer); !ok || f.Kernel == "" || f.Severity != diag.Error ||
		!diag.Repairable(f.Code, d.path) {
		return out
	}
	modes := []Mode{Fix}
	if w := f.Witness; f.Code == diag.CodeRaceShared || f.Code == diag.CodeRaceGlobal &&
		(w == nil || w.Level != "inter-block") { // no barrier of a block orders two blocks
		modes = []Mode{Fix, Sync}
	}
	for _, mode := range modes {
		title := fmt.Sprintf("%s: %s", repairTitles[mode], f.Kernel)
		if i := slices.IndexFunc(out, func(a codeAction) bool {
			return a.Command != nil &&
				a.Title == title
		}); i >= 0 {
			out[i].Diagnostics = append(out[i].Diagnostics, about)
			continue
		}
		out = append(out, codeAction{Title: title, Kind: quickFix, Diagnostics: []diagnostic{about},
			Command: &command{title, "heddle." + string(mode), []any{d.uri, f.Kernel}}})
	}
	return out
}

// quickFix is the kind of a code action that repairs a diagnostic (3.17, CodeActionKind).
const quickFix = "quickfix"

// repairTitles holds the titles of the repair commands.
var repairTitles = map[Mode]string{Sync: "Place all barriers anew (heddle sync)",
	Fix: "Repair this kernel (heddle fix)"}

// edit converts edits to a workspace edit. ok is false if there are none or one is in no known
// file.
func (s *Server) edit(
	d *document, files *source.Set, edits []diag.Edit,
) (w workspaceEdit, ok bool) {
	changes := map[string][]textEdit{}
	var order []string
	for _, e := range edits {
		f := files.File(e.Span.Start.File())
		if f == nil {
			return w, false
		}
		uri := uriOf(f.Name)
		if f.Name == d.path {
			uri = d.uri
		}
		at := s.enc.position(f, e.Span.Start)
		r := lspRange{at, at}
		if e.Span.End.IsValid() {
			r.End = s.enc.position(f, e.Span.End)
		}
		if changes[uri] == nil {
			order = append(order, uri)
		}
		changes[uri] = append(changes[uri], textEdit{r, e.New})
	}
	if !s.versions {
		return workspaceEdit{Changes: changes}, len(changes) > 0
	}
	for _, uri := range order {
		one := documentEdit{Edits: changes[uri]}
		one.TextDocument.URI = uri
		if open := s.docs[uri]; open != nil {
			version := open.version
			one.TextDocument.Version = &version
		}
		w.DocumentChanges = append(w.DocumentChanges, one)
	}
	return w, len(order) > 0
}

// repair asks the engine for a repair and sends the first one to the client to apply. If there is
// none, it shows the user why, since clients do not show results of commands.
func (s *Server) repair(ctx context.Context, d *document, req Request) (any, *rpcError) {
	var fixes []diag.Fix
	var note string
	var files *source.Set
	stopped := false // cancelled, by the request or by its progress
	_, err := s.withProgress(ctx, "heddle "+string(req.Mode),
		func(ctx context.Context, say func(string)) (_ *Report, err error) {
			req.Progress = say
			files, fixes, note, err = s.engine.(Repairer).Repair(ctx, req)
			stopped = ctx.Err() != nil
			return nil, err
		})
	switch {
	case stopped:
		return nil, fail(codeCancelled, "cancelled")
	case err != nil:
		return nil, fail(codeInternal, "%v", err)
	case len(fixes) == 0:
		s.show(note)
		return note, nil
	}
	// Edits are positions in the text that was repaired; applied to another text they would destroy
	// it.
	s.mu.Lock()
	current := s.docs[d.uri] == d && d.text == string(req.Text)
	edit, ok := s.edit(d, files, fixes[0].Edits)
	s.mu.Unlock()
	if !current || !ok {
		return nil, fail(codeInternal, "the document changed during the repair; run the command again")
	}
	raw, err := json.Marshal(map[string]any{"label": fixes[0].Message, "edit": edit})
	if err != nil {
		return nil, fail(codeInternal, "%v", err)
	}
	id, answer := s.calls.expect()
	s.send(&message{ID: &id, Method: "workspace/applyEdit", Params: raw})
	select {
	case m := <-answer:
		if m.Error != nil {
			return nil, m.Error
		}
	case <-ctx.Done():
		return nil, nil
	}
	return note, nil
}

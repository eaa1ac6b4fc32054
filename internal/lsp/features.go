package lsp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"heddle/internal/diag"
	"heddle/internal/source"
)

// diagnostics converts the current findings of a document, and its unknown and unsupported
// verdicts, to diagnostics by URI. s.mu is held.
func (s *Server) diagnostics(d *document) map[string][]diagnostic {
	out := map[string][]diagnostic{}
	d.findings(func(files *source.Set, f *diag.Diagnostic) {
		uri, g := s.finding(d, files, f)
		out[uri] = append(out[uri], g)
	})
	d.verdicts(func(files *source.Set, v *diag.Verdict) {
		if v.Kind != diag.Unknown && v.Kind != diag.Unsupported {
			return
		}
		uri, r := s.place(d, files, v.Span)
		out[uri] = append(out[uri], diagnostic{Range: r, Severity: severityInformation,
			Code: v.Kind.String(), CodeDescription: pageAt(s.site.Verdict(v.Kind)), Source: "heddle",
			Message: sentence(v)})
	})
	return out
}

// finding converts a finding to a diagnostic and the URI of its file, which may be a header.
func (s *Server) finding(
	d *document, files *source.Set, f *diag.Diagnostic,
) (uri string, g diagnostic) {
	uri, r := s.place(d, files, f.Span)
	g = diagnostic{Range: r, Severity: severity(f.Severity), Code: string(f.Code),
		CodeDescription: pageAt(s.site.Page(string(f.Code))), Source: "heddle", Message: text(f)}
	if data, err := json.Marshal(map[string]string{"fingerprint": diag.Fingerprint(files,
		f)}); err == nil {
		g.Data = data
	}
	for _, rel := range f.Related {
		uri, r := s.place(d, files, rel.Span)
		g.RelatedInformation = append(g.RelatedInformation, related{location{uri, r}, rel.Message})
	}
	if f.Label != "" { // a diagnostic has no text for its own place
		g.RelatedInformation = append(g.RelatedInformation, related{location{uri, r}, f.Label})
	}
	return uri, g
}

// pageAt describes a code by a URL; an empty URL is no description.
func pageAt(url string) *codePage {
	if url == "" {
		return nil
	}
	return &codePage{url}
}

// sentence returns a verdict as one line, for hovers and lenses.
func sentence(v *diag.Verdict) string { return v.Kind.String() + ": " + v.Text() }

// text returns a finding with its notes and help as lines, since editors show only the message of a
// diagnostic.
func text(f *diag.Diagnostic) string {
	lines := append([]string{f.Message}, f.Remarks()...)
	for _, h := range f.Help {
		lines = append(lines, "help: "+h)
	}
	return strings.Join(lines, "\n")
}

// severity converts a severity to the number that the protocol uses (3.17, DiagnosticSeverity).
func severity(s diag.Severity) int {
	switch s {
	case diag.Error:
		return severityError
	case diag.Warning:
		return severityWarning
	}
	return severityInformation
}

// place returns the URI and range of a span, and the start of the document for a span in no file: a
// diagnostic must have a place.
func (s *Server) place(d *document, files *source.Set, span source.Span) (uri string, r lspRange) {
	f := files.File(span.Start.File())
	if f == nil {
		return d.uri, lspRange{}
	}
	if f.Name == d.path {
		return d.uri, s.enc.span(f, span)
	}
	return uriOf(f.Name), s.enc.span(f, span)
}

// lookup returns an open document if its reports describe its current text, and nil otherwise. s.mu
// is held.
func (s *Server) lookup(uri string) *document {
	d := s.docs[uri]
	if d == nil || len(d.reports) == 0 || d.checked != d.text {
		return nil
	}
	return d
}

// lenses returns the code lenses of a document: above each kernel its verdict, and the commands to
// check or repair it.
func (s *Server) lenses(raw json.RawMessage) (any, *rpcError) {
	p, err := params[textDocumentPosition](raw)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []codeLens{}
	d := s.lookup(p.TextDocument.URI)
	if d == nil {
		return out, nil
	}
	d.verdicts(func(files *source.Set, v *diag.Verdict) {
		f := files.File(v.Span.Start.File())
		if f == nil || f.Name != d.path {
			return
		}
		r := s.enc.span(f, v.Span)
		lens := func(title, mode string) {
			out = append(out, codeLens{r, command{title, "heddle." + mode, []any{d.uri, v.Kernel}}})
		}
		lens("heddle: "+v.Kind.String(), string(Full))
		lens("verify", string(Proof))
		lens("run", string(Quick))
		if _, ok := s.engine.(Repairer); ok {
			lens("sync", string(Sync))
			lens("fix", string(Fix))
		}
	})
	slices.SortStableFunc(out, func(a, b codeLens) int {
		return cmp.Compare(a.Range.Start.Line, b.Range.Start.Line)
	})
	return out, nil
}

// hover returns the verdict if the position is on the name of a kernel, and the explanation of a
// barrier if it is on one. The engine runs without s.mu.
func (s *Server) hover(ctx context.Context, raw json.RawMessage) (any, *rpcError) {
	p, failure := params[textDocumentPosition](raw)
	if failure != nil {
		return nil, failure
	}
	s.mu.Lock()
	d := s.docs[p.TextDocument.URI]
	if d == nil {
		s.mu.Unlock()
		return nil, nil
	}
	// Copy everything that is needed from the document before s.mu is released.
	req := d.request(Full, "")
	line, col := p.Position.Line+1, 1
	if rest := d.text[s.enc.offset(d.text, position{p.Position.Line, 0}):]; rest != "" {
		first, _, _ := strings.Cut(rest, "\n")
		col = s.enc.bytes(first, p.Position.Character) + 1
	}
	verdict := s.kernelAt(p)
	s.mu.Unlock()
	if verdict != nil {
		return verdict, nil
	}
	b, ok := s.engine.(Barriers)
	if !ok {
		return nil, nil
	}
	say, err := b.Barrier(ctx, req, line, col)
	if err != nil {
		return nil, fail(codeInternal, "%v", err)
	}
	if say == "" {
		return nil, nil
	}
	return &hover{Contents: markup{"markdown", say}}, nil
}

// kernelAt returns the hover for the name of a kernel, and nil for other positions. s.mu is held.
func (s *Server) kernelAt(p textDocumentPosition) *hover {
	d := s.lookup(p.TextDocument.URI)
	if d == nil {
		return nil
	}
	var found *hover
	d.verdicts(func(files *source.Set, v *diag.Verdict) {
		uri, r := s.place(d, files, v.Span)
		at := p.Position
		if uri == d.uri && at.Line == r.Start.Line && at.Character >= r.Start.Character &&
			at.Character <= r.End.Character {
			text := fmt.Sprintf("**%s** %s", v.Kind, diag.Prose(v.Text(), nil))
			found = &hover{Contents: markup{"markdown", text}, Range: &r}
		}
	})
	return found
}

// commands returns the commands that executeCommand accepts; the server announces them in
// initialize.
func (s *Server) commands() []string {
	list := []string{"heddle." + string(Full), "heddle." + string(Quick), "heddle." + string(Proof)}
	if _, ok := s.engine.(Repairer); ok {
		list = append(list, "heddle."+string(Sync), "heddle."+string(Fix))
	}
	return list
}

// execute runs a command. Its arguments are the URI of a document and, from a lens, a kernel.
func (s *Server) execute(ctx context.Context, raw json.RawMessage) (any, *rpcError) {
	p, failure := params[executeCommand](raw)
	if failure != nil {
		return nil, failure
	}
	mode, ok := strings.CutPrefix(p.Command, "heddle.")
	if !ok || !slices.Contains(s.commands(), p.Command) {
		return nil, fail(codeInvalidParams, "unknown command %s; expected one of %s", p.Command,
			strings.Join(s.commands(), ", "))
	}
	var uri, kernel string
	for i, to := range []*string{&uri, &kernel} {
		if i < len(p.Arguments) {
			if err := json.Unmarshal(p.Arguments[i], to); err != nil {
				return nil, fail(codeInvalidParams, "argument %d of %s: %v", i+1, p.Command, err)
			}
		}
	}
	s.mu.Lock()
	d := s.docs[uri]
	if d == nil {
		s.mu.Unlock()
		return nil, fail(codeInvalidParams, "document %q is not open", uri)
	}
	req := d.request(Mode(mode), kernel)
	s.mu.Unlock()
	if req.Mode == Sync || req.Mode == Fix {
		return s.repair(ctx, d, req)
	}
	report, err := s.withProgress(ctx, "heddle "+mode,
		func(ctx context.Context, say func(string)) (*Report, error) {
			req.Progress = say
			return s.engine.Check(ctx, req)
		})
	if err != nil {
		return nil, fail(codeInternal, "%v", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	// Publish only if the text is still the one that was examined.
	if s.docs[uri] == d && d.text == string(req.Text) && ctx.Err() == nil {
		d.take(report, kernel)
		s.publish(d, s.diagnostics(d))
	}
	var lines []string
	for i := range report.Verdicts {
		lines = append(lines, sentence(&report.Verdicts[i]))
	}
	return strings.Join(lines, "\n"), nil
}

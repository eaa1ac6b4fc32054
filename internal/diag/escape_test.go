package diag

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"heddle/internal/source"
)

// hostile are texts that some format must not pass on: bytes that are no UTF-8 and characters that
// XML 1.0 forbids (section 2.2), escape sequences of terminals, the characters that a workflow
// command of GitHub Actions uses, its older syntax, and marks that reorder text.
var hostile = []string{
	"\xff\xfe\x80", "\x00\x01\x08\x0b\x1f", "\x1b[31mred\x1b]0;title\x07", "a\r\n::error::b%0A,c:d",
	"\n##[error]x ##[add-mask]y", "\u202e\u2066", "\ufffe\uffff", "<&>\"']]>", "{0} [a](b)",
	"\u2028\u0085\u007f",
}

// printAll prints a finding and verdicts whose every text is s.
func printAll(t *testing.T, s string, printer func(io.Writer, *source.Set) Printer) string {
	t.Helper()
	set := source.NewSet()
	f, err := set.Add("x"+s+".cu", []byte("int a; // "+s))
	if err != nil {
		t.Fatal(err)
	}
	at := source.Span{Start: source.MakePos(f.ID, 1, 1), End: source.MakePos(f.ID, 1, 4)}
	d := &Diagnostic{
		Code: CodeRaceShared, Severity: Error, Message: s, Span: at, Label: s, Kernel: s, Input: f.Name,
		Stack: []source.Frame{{Func: s, Pos: at.Start}}, Related: []Related{{Span: at, Message: s}},
		Notes: []string{s}, Help: []string{s}, Reproduce: s,
		Fixes:   []Fix{{Message: s, Edits: []Edit{{Span: at, New: s}}}},
		Witness: &Witness{Launch: s, Memory: s, First: WitnessAccess{Op: s, Thread: s, Kind: s}},
	}
	var b bytes.Buffer
	p := printer(&b, set)
	err = p.Finding(d)
	for _, kind := range []VerdictKind{Bug, Clean, Verified, Unknown, Unsupported} {
		err = errors.Join(err, p.Verdict(&Verdict{Kind: kind, Kernel: s, Scope: s, Reason: s,
			Input: f.Name, Apart: []string{s}}))
	}
	if err := errors.Join(err, p.Close()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// No text of a file, a name or a message makes the output of a format invalid or leaves its place.
func TestHostileText(t *testing.T) {
	for _, s := range hostile {
		jsonText := printAll(t, s, func(w io.Writer, set *source.Set) Printer { return NewJSON(w, set) })
		for line := range strings.Lines(jsonText) {
			if !json.Valid([]byte(line)) || !utf8.ValidString(line) {
				t.Errorf("%q: JSON: %q", s, line)
			}
		}
		log := printAll(t, s, func(w io.Writer, set *source.Set) Printer {
			return NewSARIF(w, set, "/base", "1", "")
		})
		if !json.Valid([]byte(log)) || !utf8.ValidString(log) {
			t.Errorf("%q: SARIF: %q", s, log)
		}
		checkXML(t, s, printAll(t, s, func(w io.Writer, set *source.Set) Printer {
			return NewJUnit(w, set, "/base")
		}))
		checkCommands(t, s, printAll(t, s, func(w io.Writer, set *source.Set) Printer {
			return NewGitHub(w, set, "/base")
		}))
	}
}

// checkXML reads a document to its end. Its characters must be those of XML 1.0, which the decoder
// checks for plain text; a reference such as &#1; would be as wrong.
func checkXML(t *testing.T, s, text string) {
	t.Helper()
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%q: JUnit: %v in %q", s, err, text)
		}
	}
}

// checkCommands demands one line for the finding and for each verdict, those for which GitHub shows
// annotations as commands, and no other command nor a control character in any.
func checkCommands(t *testing.T, s, text string) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	begin := []string{"::error file=", "bug: ", "clean: ", "verified: ", "::warning file=",
		"::warning file="}
	if len(lines) != len(begin) {
		t.Fatalf("%q: GitHub: %d lines: %q", s, len(lines), text)
	}
	for i, line := range lines {
		bad := strings.IndexFunc(line, func(r rune) bool { return unicode.IsControl(r) && r != '\t' })
		command := strings.HasPrefix(line, "::")
		if !strings.HasPrefix(line, begin[i]) || bad >= 0 || !command && strings.Contains(line, "##[") {
			t.Errorf("%q: GitHub: %q", s, line)
		}
		if head, _, _ := strings.Cut(strings.TrimPrefix(line, "::"), "::"); command &&
			strings.Count(head, ",") != strings.Count(head, "=")-1 {
			t.Errorf("%q: GitHub: a property holds a separator: %q", s, line)
		}
	}
}

package baseline

import (
	"bytes"
	"strings"
	"testing"

	"heddle/internal/diag"
	"heddle/internal/source"
)

func finding(t *testing.T, set *source.Set, line string) *diag.Diagnostic {
	t.Helper()
	f, err := set.Add("k.cu", []byte(line))
	if err != nil {
		t.Fatal(err)
	}
	return &diag.Diagnostic{Code: diag.CodeTrap, Kernel: "k", Span: source.Span{Start: f.PosAt(0)},
		Witness: &diag.Witness{}}
}

// A set that is written and read covers as many findings of each fingerprint as it counted, and no
// others.
func TestRoundTrip(t *testing.T) {
	set := source.NewSet()
	a, b, c := finding(t, set, "a;"), finding(t, set, "b;"), finding(t, set, "c;")
	s := New()
	for _, d := range []*diag.Diagnostic{b, a, a} {
		s.Add(set, d)
	}
	var first, second bytes.Buffer
	if err := s.Write(&first); err != nil {
		t.Fatal(err)
	}
	s, err := Read("f", first.Bytes())
	if err != nil || s.Len() != 3 {
		t.Fatalf("%v, %d findings", err, s.Len())
	}
	if err := s.Write(&second); err != nil || second.String() != first.String() {
		t.Errorf("%v; written again:\n%s\nfirst:\n%s", err, second.String(), first.String())
	}
	for i, tt := range []struct {
		d    *diag.Diagnostic
		want bool
	}{{a, true}, {a, true}, {a, false}, {c, false}, {b, true}, {b, false}} {
		if got := s.Take(set, tt.d); got != tt.want {
			t.Errorf("finding %d is known: %v", i, got)
		}
	}
}

func TestReadMistakes(t *testing.T) {
	const head = `{"heddle_baseline": 1, "findings": [`
	tests := []struct{ name, text, want string }{
		{"empty", "", "f:1:1: not a heddle baseline: EOF"},
		{"no JSON", "{\n  x\n", "f:2:3: not a heddle baseline: invalid character 'x'"},
		{"wrong type", "{\n \"heddle_baseline\": \"1\"}", "f:2:"},
		{"an array", "[]", "f:1:"},
		{"another document", `{"version": "2.1.0", "runs": []}`, `"heddle_baseline" is missing`},
		{"newer", `{"heddle_baseline": 7}`,
			"f: the baseline has version 7, and this heddle reads version 1"},
		{"null", head + "null]}", "finding 1 has no fingerprint"},
		{"no fingerprint", head + `{"count": 1}]}`, "finding 1 has no fingerprint"},
		{"no count", head + `{"fingerprint": "ab"}]}`, "finding 1 (ab) has a count of 0"},
		{"twice", head + `{"fingerprint": "ab", "count": 1}, {"fingerprint": "ab", "count": 1}]}`,
			"the fingerprint ab occurs twice"},
	}
	for _, tt := range tests {
		_, err := Read("f", []byte(tt.text))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

// Any text is a baseline or an error that names the file; a baseline is written and read again
// without loss.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"heddle_baseline": 1, "findings": [{"fingerprint": "a", "count": 2, "code": "trap",
		"kernel": "k(int*)", "file": "a.cu"}]}`))
	f.Add([]byte(`{"heddle_baseline": 1, "findings": [null]} x`))
	f.Add([]byte(`{"heddle_baseline": 2e0, "findings": {"count": "x"}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Read("b.json", text)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "b.json:") {
				t.Error(err)
			}
			return
		}
		if s.Len() < 0 {
			t.Errorf("%d findings", s.Len())
		}
		var first, second bytes.Buffer
		if err := s.Write(&first); err != nil {
			t.Fatal(err)
		}
		again, err := Read("b.json", first.Bytes())
		if err != nil {
			t.Fatalf("%v in %s", err, first.Bytes())
		}
		if err := again.Write(&second); err != nil || !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Errorf("%v: %s was read as %s", err, first.Bytes(), second.Bytes())
		}
	})
}

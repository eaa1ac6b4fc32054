package suppress

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"heddle/internal/diag"
	"heddle/internal/source"
)

func TestParse(t *testing.T) {
	tests := []struct{ text, codes, reason, err, help string }{
		{" race-shared it is fine", "race-shared", "it is fine", "", ""},
		{" race-shared, race-global benign", "race-shared race-global", "benign", "", ""},
		{" race-shared ,\trace-global,trap : by design\r", "race-shared race-global trap", "by design",
			"", ""},
		{" race-shared: see the comment, below", "race-shared", "see the comment, below", "", ""},
		{" race-shared -- why", "race-shared", "why", "", ""},
		{"", "", "", "heddle:ignore names no code", form},
		{" , race-shared x", "", "", "heddle:ignore names no code", form},
		{" race-shared, ", "", "", "heddle:ignore has no code after the comma", form},
		{" race-shared", "", "", "heddle:ignore gives no reason for ignoring race-shared", form},
		{" race-shared, trap, misaligned --", "", "",
			"heddle:ignore gives no reason for ignoring race-shared, trap and misaligned", form},
		{" race-shared race-global benign", "", "",
			"a comma is missing between the codes race-shared and race-global", form},
		{" race-shared, race-shared x", "", "", "heddle:ignore names race-shared twice", ""},
		{" race-shraed x", "", "", `heddle has no code "race-shraed"`, "did you mean race-shared?"},
		{" Race-Shared x", "", "", `heddle has no code "Race-Shared"`, "did you mean race-shared?"},
		{" divergence x", "", "", `heddle has no code "divergence"`, "did you mean barrier-divergence or wgmma-divergence?"},
		{" zzz x", "", "", `heddle has no code "zzz"`, "'heddle explain' lists the codes"},
		{" unsupported x", "", "", "unsupported cannot be ignored: it is about limits of heddle or of this run, not a bug", "'heddle explain' lists the codes"},
		{" compile-error x", "", "",
			"compile-error cannot be ignored: it is about errors in the input, not a bug",
			"'heddle explain' lists the codes"},
	}
	for _, tt := range tests {
		codes, reason, err := parse(tt.text)
		var words []string
		for _, c := range codes {
			words = append(words, string(c))
		}
		var got mistake
		if err != nil {
			got = *err
		}
		if strings.Join(words, " ") != tt.codes || reason != tt.reason || got.msg != tt.err ||
			got.help != tt.help {
			t.Errorf("%q: %v, %q, %+v", tt.text, words, reason, got)
		}
	}
}

// distance agrees with the recursive definition.
func TestDistance(t *testing.T) {
	var slow func(a, b string) int
	slow = func(a, b string) int {
		if a == "" || b == "" {
			return len(a) + len(b)
		}
		d := slow(a[1:], b[1:])
		if a[0] != b[0] {
			d++
		}
		return min(d, slow(a[1:], b)+1, slow(a, b[1:])+1)
	}
	words := []string{"", "a", "ab", "ba", "abc", "race", "rcae", "trap", "trace"}
	for _, a := range words {
		for _, b := range words {
			if got, want := distance(a, b, 10), slow(a, b); got != want {
				t.Errorf("%q and %q: %d, want %d", a, b, got, want)
			}
		}
	}
	if got := distance("aaaaaa", "a", 2); got <= 2 {
		t.Errorf("beyond the limit: %d", got)
	}
}

func read(t testing.TB, text string, ptx bool) (*Set, *source.File, []diag.Diagnostic) {
	t.Helper()
	f, err := source.NewSet().Add("k.cu", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	s := NewSet()
	wrong := s.Read(f, ptx)
	if again := s.Read(f, ptx); len(again) > 0 {
		t.Errorf("the second time: %v", again)
	}
	return s, f, wrong
}

// A comment applies to its own line or to the line below it.
func TestLines(t *testing.T) {
	tests := []struct {
		name, text string
		ptx        bool
		want       string // the lines in which race-shared is suppressed
	}{
		{"at the end of the line", "a;\nb; // heddle:ignore race-shared x\nc;", false, "2"},
		{"alone: the next line", "a;\n  // heddle:ignore race-shared x\nc;\nd;", false, "3"},
		{"two alone: both for the line below them",
			"// heddle:ignore race-shared x\n// heddle:ignore trap y\nc;\nd;", false, "3"},
		{"another code", "a; // heddle:ignore race-global x", false, ""},
		{"another comment between", "// heddle:ignore race-shared x\n// note\nc;", false, "2"},
		{"in a string", "a = \"// heddle:ignore race-shared x\";", false, ""},
		{"in a raw string", "a = R\"(\n// heddle:ignore race-shared x\n)\";", false, ""},
		{"in a block comment", "/*\n// heddle:ignore race-shared x\n*/ a;", false, ""},
		{"a block comment", "a; /* heddle:ignore race-shared x */", false, ""},
		{"behind a block comment", "a; /* b */ // heddle:ignore race-shared x", false, "1"},
		{"documentation comment", "a; ///< y\n/// heddle:ignore race-shared x\nc;", false, "3"},
		{"not at the start of the comment", "a; // see heddle:ignore race-shared x", false, ""},
		{"another word", "a; // heddle:ignored race-shared x", false, ""},
		{"CRLF", "a; // heddle:ignore race-shared x\r\nb;\r\n", false, "1"},
		{"at the end of the file", "a;\n// heddle:ignore race-shared x", false, "3"},
		{"PTX", "\tst.shared.u32 [%r1], 1; // heddle:ignore race-shared x\n", true, "1"},
		{"PTX, alone", "// heddle:ignore race-shared x\n\tst.shared.u32 [%r1], 1;\n", true, "2"},
		{"on a macro", "#define F(a) a++ // heddle:ignore race-shared x\nF(b);", false, "1"},
		{"digit separators", "int a = 1'000'000; // heddle:ignore race-shared x", false, "1"},
	}
	for _, tt := range tests {
		s, f, wrong := read(t, tt.text, tt.ptx)
		if len(wrong) > 0 {
			t.Errorf("%s: %v", tt.name, wrong)
		}
		var got []string
		for line := 1; line < 6; line++ {
			d := diag.Diagnostic{Code: diag.CodeRaceShared,
				Span: source.Span{Start: source.MakePos(f.ID, line, 1)}}
			if s.Match(&d) != nil {
				got = append(got, fmt.Sprint(line))
			}
		}
		if g := strings.Join(got, " "); g != tt.want {
			t.Errorf("%s: suppressed in lines %q, want %q", tt.name, g, tt.want)
		}
	}
}

// The comment may be at either operation, and every comment that matches is used.
func TestMatchAndUnused(t *testing.T) {
	const text = "a; // heddle:ignore race-shared first\nb; // heddle:ignore race-shared, trap second\n" +
		"c; // heddle:ignore trap third\nd; // heddle:ignore race-global fourth\n"
	s, f, _ := read(t, text, false)
	at := func(line int) source.Span { return source.Span{Start: source.MakePos(f.ID, line, 1)} }
	d := diag.Diagnostic{Code: diag.CodeRaceShared, Span: at(3),
		Related: []diag.Related{{Span: at(2)}, {Span: at(1)}}}
	m := s.Match(&d)
	if m == nil || m.Reason != "second" || m.Span.Start.Line() != 2 {
		t.Fatalf("matched %v", m)
	}
	all := func(diag.Code) bool { return true }
	races := func(c diag.Code) bool { return c == diag.CodeRaceGlobal }
	unused := func(places ...Place) string {
		s.places = places
		var lines []string
		for _, u := range s.Unused() {
			lines = append(lines, fmt.Sprintf("%d:%s", u.Span.Start.Line(), u.Kernel))
		}
		return strings.Join(lines, " ")
	}
	tests := []struct {
		name   string
		places []Place
		want   string
	}{
		{"nothing was checked", nil, ""},
		{"all", []Place{{f.ID, 1, 4, "k", all}}, "3:k 4:k"},
		{"another file", []Place{{f.ID + 1, 1, 4, "k", all}}, ""},
		{"one line", []Place{{f.ID, 4, 4, "k", all}}, "4:k"},
		{"a kernel that was not checked to its end", []Place{{f.ID, 1, 4, "k", nil}}, ""},
		{"one kernel was, another was not", []Place{{f.ID, 1, 4, "k", all}, {f.ID, 4, 4, "j", nil}},
			"3:k"},
		{"only races were looked for", []Place{{f.ID, 1, 4, "k", races}}, "4:k"},
	}
	for _, tt := range tests {
		if got := unused(tt.places...); got != tt.want {
			t.Errorf("%s: unused %q, want %q", tt.name, got, tt.want)
		}
	}
}

// Comments of Python, and the help for one that has no reason.
func TestPython(t *testing.T) {
	text := "a = '# heddle:ignore race-shared x'\nb = 7 // 2  # heddle:ignore race-shared x\n" +
		"# heddle:ignore race-shared x\nc()\nd()  # heddle:ignore race-shared\n"
	f, err := source.NewSet().Add("k.py", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	s := NewSet()
	wrong := s.Read(f, false)
	if len(wrong) != 1 || !strings.Contains(strings.Join(wrong[0].Help, ""), "# heddle:ignore CODE") {
		t.Errorf("%+v", wrong)
	}
	for line, want := range map[int]bool{1: false, 2: true, 3: false, 4: true, 5: false} {
		d := diag.Diagnostic{Code: diag.CodeRaceShared,
			Span: source.Span{Start: source.MakePos(f.ID, line, 1)}}
		if got := s.Match(&d) != nil; got != want {
			t.Errorf("line %d is suppressed: %v", line, got)
		}
	}
}

// An invalid comment suppresses nothing and is reported at its position.
func TestMistakes(t *testing.T) {
	s, f, wrong := read(t, "a; // heddle:ignore race-shared\n  // heddle:ignore rcae-shared x\nb;\n",
		false)
	var got []string
	for _, d := range wrong {
		got = append(got, fmt.Sprintf("%v %s %v", d.Span.Start, d.Message, d.Severity == diag.Error))
	}
	want := []string{"1:4 heddle:ignore gives no reason for ignoring race-shared true",
		`2:3 heddle has no code "rcae-shared" true`}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for line := 1; line < 4; line++ {
		d := diag.Diagnostic{Code: diag.CodeRaceShared,
			Span: source.Span{Start: source.MakePos(f.ID, line, 1)}}
		if s.Match(&d) != nil {
			t.Errorf("line %d is suppressed", line)
		}
	}
}

// FuzzRead reads arbitrary bytes: it must not panic, and every suppression has a reason and belongs
// to a comment of the file that names the code.
func FuzzRead(f *testing.F) {
	f.Add("a; // heddle:ignore race-shared, trap why\n", false)
	f.Add("// heddle:ignore ,\n// heddle:ignore race-shared x\n\tst;", true)
	f.Add("\"//\" 'x' R\"a(// heddle:ignore trap y)a\" // heddle:ignore trap: \xff\n", false)
	f.Fuzz(func(t *testing.T, text string, ptx bool) {
		s, file, wrong := read(t, text, ptx)
		for _, d := range wrong {
			if d.Message == "" || !d.Span.IsValid() {
				t.Errorf("%+v", d)
			}
		}
		for line := 1; line <= file.NumLines()+1; line++ {
			d := diag.Diagnostic{Code: diag.CodeTrap,
				Span: source.Span{Start: source.MakePos(file.ID, line, 1)}}
			m := s.Match(&d)
			if m == nil {
				continue
			}
			at, _ := file.Offset(m.Span.Start)
			end, _ := file.Offset(m.Span.End)
			comment := text[at:end]
			if strings.TrimSpace(m.Reason) == "" || !strings.HasPrefix(comment, "//") ||
				!strings.Contains(comment, "heddle:ignore") || !strings.Contains(comment, "trap") {
				t.Errorf("line %d is suppressed by %q with reason %q", line, comment, m.Reason)
			}
		}
	})
}

package launch

import (
	"bytes"
	"os"
	osexec "os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"heddle/internal/testing/long"
)

// A hostCase is one of testdata/host_values.txt.
type hostCase struct {
	name, globals, body string
	want                int64
}

// hostCases reads testdata/host_values.txt.
func hostCases(t *testing.T) []hostCase {
	t.Helper()
	data, err := os.ReadFile("testdata/host_values.txt")
	if err != nil {
		t.Fatal(err)
	}
	head := regexp.MustCompile(`^(.*): (\d+)$`)
	var out []hostCase
	for _, part := range strings.Split(string(data), "\n== ")[1:] {
		first, rest, _ := strings.Cut(part, "\n")
		m := head.FindStringSubmatch(first)
		globals, body, ok := strings.Cut("\n"+rest, "\n--\n")
		if m == nil || !ok || !strings.Contains(rest, "LAUNCH(") {
			t.Fatalf("case %q is malformed", first)
		}
		want, _ := strconv.ParseInt(m[2], 10, 64)
		out = append(out, hostCase{m[1], globals, body, want})
	}
	return out
}

// launching returns text with LAUNCH(e) as a launch.
func launching(text string) string {
	for {
		i := strings.Index(text, "LAUNCH(")
		if i < 0 {
			return text
		}
		depth, j := 1, i+len("LAUNCH(")
		for ; depth > 0; j++ {
			switch text[j] {
			case '(':
				depth++
			case ')':
				depth--
			}
		}
		j--
		e := text[i+len("LAUNCH(") : j]
		text = text[:i] + "k<<<1, " + e + ">>>(" + e + ")" + text[j+1:]
	}
}

// TestHostValues: a value that heddle reads in host code is the one that C++ gives it. No value is
// always right.
func TestHostValues(t *testing.T) {
	unknown := 0
	cases := hostCases(t)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			src := "__global__ void k(int n);\n" + launching(c.globals+"\nvoid run() {\n"+c.body+"\n}\n")
			launches := ScanCUDA(cuda(t, src), nil).Launches
			if len(launches) == 0 {
				t.Errorf("no launch")
			}
			for _, l := range launches {
				block, ok := l.Block[0].Constant()
				arg, ok2 := l.Args[0].Value.Constant()
				if ok && block != c.want || ok2 && arg != c.want {
					t.Errorf("got %s, want %d or something unknown", show(l), c.want)
				}
				if !ok || !ok2 {
					unknown++
				}
			}
		})
	}
	t.Logf("%d of %d cases have an unknown value", unknown, len(cases))
}

// TestHostValuesCompiled checks the values of testdata/host_values.txt with a compiler.
func TestHostValuesCompiled(t *testing.T) {
	if !long.All() {
		t.Skip("set HEDDLE_LONG=1 to compile the cases")
	}
	compiler, err := osexec.LookPath("c++")
	if err != nil {
		t.Skip("no C++ compiler")
	}
	const head = "extern \"C\" int printf(const char *, ...);\n" +
		"#define LAUNCH(...) printf(\"%lld\\n\", (long long)(__VA_ARGS__))\n"
	for _, c := range hostCases(t) {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			src, program := filepath.Join(dir, "k.cc"), filepath.Join(dir, "k")
			text := head + c.globals + "\nvoid run() {\n" + c.body + "\n}\nint main() { run(); }\n"
			if err := os.WriteFile(src, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if out, err := osexec.Command(compiler, "-std=c++20", "-O0", "-fpermissive", "-w", "-o", program,
				src).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			out, err := osexec.Command(program).Output()
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range bytes.Fields(out) {
				if string(line) != strconv.FormatInt(c.want, 10) {
					t.Errorf("the program prints %s, want %d", line, c.want)
				}
			}
			if len(out) == 0 {
				t.Error("the program prints nothing")
			}
		})
	}
}

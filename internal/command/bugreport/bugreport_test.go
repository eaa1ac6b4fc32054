package bugreport

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"heddle/internal/launch"
	"heddle/internal/reduce"
)

// fake is a heddle that supports neither trap nor exit, and names the trap first.
func fake(_ context.Context, words []string, text []byte) Outcome {
	reason := ""
	for _, op := range []string{"trap", "exit"} {
		if reason == "" && bytes.Contains(text, []byte(op)) {
			reason = op + " is not supported in `k`"
		}
	}
	verdict := "verified"
	if reason != "" {
		verdict = "unsupported"
	}
	return Outcome{Code: 3, Stdout: fmt.Appendf(nil,
		"{\"type\":\"verdict\",\"verdict\":%q,\"kernel\":\"k\",\"reason\":%q}\n", verdict, reason)}
}

// made returns the report on a program of one kernel.
func made(t *testing.T, text string, change func(*Options)) (*Report, error) {
	t.Helper()
	opt := Options{Line: Line{Command: "check", Words: []string{"check", "-"}, Inputs: []string{"-"}},
		Stdin: []byte(text), Run: fake, Attempts: 100, Log: io.Discard,
		Programs: func(context.Context, Line) []Program {
			return []Program{{PTX: []byte(text), Kernel: "k", Demangled: "k",
				Launches: []reduce.Launch{{Kernel: "k"}}}}
		}}
	change(&opt)
	return Make(t.Context(), opt)
}

// data returns a file of a report.
func data(rep *Report, name string) string {
	for _, f := range rep.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

const two = ".version 8.3\n.target sm_80\n.address_size 64\n" +
	".entry k() { mov.u32 a, 1; exit; trap; }\n"

// The reason of an unsupported verdict is kept: without the trap, the exit would be unsupported
// too.
func TestReason(t *testing.T) {
	rep, err := made(t, two, func(*Options) {})
	if err != nil {
		t.Fatal(err)
	}
	if text := data(rep, reducedName); !strings.Contains(text, "trap") || rep.After != 1 {
		t.Errorf("%d instructions:\n%s", rep.After, text)
	}
}

// What cannot be reported says why.
func TestUsage(t *testing.T) {
	for _, c := range []struct {
		change func(*Options)
		want   string
	}{
		{func(o *Options) { o.Code = "race-shared" }, "no finding race-shared; it reports no finding"},
		{func(o *Options) { o.Kernel = "other" }, "no verdict on a kernel \"other\""},
		{func(o *Options) { o.Line.Flags = []Flag{{"write", "true", true}} }, "without -w"},
		{func(o *Options) {
			o.Run = func(context.Context, []string, []byte) Outcome {
				return Outcome{Code: 2, Stderr: []byte("heddle: no such file\n")}
			}
		}, "it ends with\nheddle: no such file"},
	} {
		if _, err := made(t, two, c.change); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}

// A program whose verdict depends on names has no reduced program, unless names are kept.
func TestNamesMatter(t *testing.T) {
	named := func(o *Options) {
		o.Run = func(ctx context.Context, words []string, text []byte) Outcome {
			if !bytes.Contains(text, []byte(".entry k(")) {
				text = nil
			}
			return fake(ctx, words, text)
		}
	}
	rep, err := made(t, two, named)
	if err != nil || rep.Reduced || !strings.Contains(rep.Why, "--keep-names") ||
		data(rep, reducedName) != "" || !strings.Contains(data(rep, "README.txt"), rep.Why) {
		t.Errorf("error %v, %+v", err, rep)
	}
	rep, err = made(t, two, func(o *Options) { named(o); o.KeepNames = true })
	if err != nil || !rep.Reduced || !strings.Contains(data(rep, reducedName), ".entry k(") {
		t.Errorf("error %v, %+v", err, rep)
	}
}

// Random contents depend on the names of parameters. A bug that only some contents show needs
// another seed under other names.
func TestSeeds(t *testing.T) {
	text := strings.Replace(two, "k()", "k(.param .u64 secret)", 1)
	rep, err := made(t, text, func(o *Options) {
		o.Tidy = true
		o.Programs = func(context.Context, Line) []Program {
			a, err := launch.ParseArg("0=random:64")
			if err != nil {
				t.Fatal(err)
			}
			return []Program{{PTX: []byte(text), Kernel: "k", Demangled: "k",
				Launches: []reduce.Launch{{Kernel: "k", Args: []launch.ArgSpec{a}}}}}
		}
		o.Run = func(ctx context.Context, words []string, text []byte) Outcome {
			renamed := !bytes.Contains(text, []byte("secret"))
			if renamed && !strings.Contains(strings.Join(words, " "), "random@3:64") {
				text = nil
			}
			return fake(ctx, words, text)
		}
	})
	if err != nil || !strings.Contains(data(rep, "reproduce.txt"), "--arg 0=random@3:64 ") {
		t.Errorf("error %v: %s", err, data(rep, "reproduce.txt"))
	}
}

// An assumption names parameters, which have other names in the reduced program.
func TestAssume(t *testing.T) {
	text := strings.Replace(two, "k()", "k(.param .u32 secretCount)", 1)
	rep, err := made(t, text, func(o *Options) {
		o.Tidy = true
		o.Line.Flags = []Flag{{"assume", "secretCount < 4 && secretCount > 0", false}}
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := data(rep, "reproduce.txt"); !strings.Contains(got, "'--assume=p0 < 4 && p0 > 0'") {
		t.Errorf("command %s", got)
	}
	for _, f := range rep.Files {
		if bytes.Contains(f.Data, []byte("secret")) {
			t.Errorf("%s:\n%s", f.Name, f.Data)
		}
	}
}

// Paths of the home and of the working directory are replaced in what heddle prints.
func TestScrub(t *testing.T) {
	s := session{opt: Options{Home: "/home/secret", Dir: "/home/secret/work"}}
	const want = "./a.cu ~/b.cu /usr/c"
	if got := s.scrub("/home/secret/work/a.cu /home/secret/b.cu /usr/c"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	s.opt.Home, s.opt.Dir = "", "/"
	if got := s.scrub("/usr/c"); got != "/usr/c" {
		t.Errorf("%s", got)
	}
}

// A program is run once. Its launches are inputs with the PTX of their kernels, in their order, or
// for a crash with the last one first, in which it was. Launches without PTX are none.
func TestLaunches(t *testing.T) {
	const stack = "heddle: internal error: x\ngoroutine 1 [running]:\npanic({0x1, 0x2})\n\t/x.go:1\n" +
		"main.broken(...)\n\t/x.go:2\nmain.guarded(...)\n"
	for _, crash := range []bool{false, true} {
		executed := 0
		var asked []string
		opt := Options{Line: Line{Command: "exec", Words: []string{"exec", "a.cu"}, Inputs: []string{"a.cu"},
			Args: []string{"1"}}, Attempts: 100, Log: io.Discard}
		opt.Run = func(_ context.Context, words []string, text []byte) Outcome {
			if words[0] == "exec" {
				executed++
				saved := flagValue(t, words, "--save=")
				for i, name := range []string{"a.1", "b.1", "a.2", "c.1"} {
					touch(t, filepath.Join(saved, name), int64(i))
				}
				touch(t, filepath.Join(saved, "a.ptx"), 9)
				touch(t, filepath.Join(saved, "b.ptx"), 9)
				if tail := words[len(words)-3:]; !slices.Equal(tail, []string{"a.cu", "--", "1"}) {
					t.Errorf("the line ends with %q", tail)
				}
				facts := flagValue(t, words, "--report=json=")
				if err := os.WriteFile(facts, fake(t.Context(), nil, []byte("trap")).Stdout, 0o600); err != nil {
					t.Fatal(err)
				}
				if crash {
					return Outcome{Code: 4, Stderr: []byte(stack)}
				}
				return Outcome{}
			}
			if words[0] != "run" {
				t.Errorf("a candidate is examined by %q", words[0])
			}
			if crash {
				return Outcome{Code: 4, Stderr: []byte(stack)}
			}
			return fake(t.Context(), nil, text)
		}
		opt.Programs = func(_ context.Context, line Line) []Program {
			asked = append(asked, filepath.Base(line.Value("launch"))+" "+filepath.Base(line.Inputs[0]))
			text := two
			if name := filepath.Base(line.Value("launch")); name == "a.1" || crash && name == "a.2" {
				text = ".version" // no program
			}
			return []Program{{PTX: []byte(text), Kernel: "k", Demangled: "k"}}
		}
		rep, err := Make(t.Context(), opt)
		if err != nil || !rep.Reduced || executed != 1 {
			t.Fatalf("error %v, executed %d times, %+v", err, executed, rep)
		}
		want := []string{"a.1 a.ptx", "b.1 b.ptx"}
		if crash {
			want = []string{"a.2 a.ptx", "b.1 b.ptx"}
		}
		if !slices.Equal(asked, want) {
			t.Errorf("crash %v: the launches %q, want %q", crash, asked, want)
		}
	}
}

// flagValue returns the value of a flag in a command line.
func flagValue(t *testing.T, words []string, prefix string) string {
	t.Helper()
	for _, w := range words {
		if value, ok := strings.CutPrefix(w, prefix); ok {
			return value
		}
	}
	t.Fatalf("no %s in %q", prefix, words)
	return ""
}

// touch makes an empty file with a time.
func touch(t *testing.T, path string, second int64) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, time.Unix(second, 0), time.Unix(second, 0)); err != nil {
		t.Fatal(err)
	}
}

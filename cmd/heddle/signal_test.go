package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// endless is a module of two kernels: one that ends, and one that counts without end.
const endless = `.version 8.7
.target sm_90
.address_size 64
.visible .entry quick(.param .u64 p)
{
	ret;
}
.visible .entry spin(.param .u64 p)
{
	.reg .b32 %x;
	.reg .pred %q;
	mov.u32 %x, 0;
again:
	add.u32 %x, %x, 2;
	setp.eq.u32 %q, %x, 7;
	@!%q bra again;
	ret;
}
`

// command returns heddle with arguments as a process of its own, which a signal of a test can end,
// in an empty directory with the file endless.ptx, and the directory for its temporary files.
func command(t *testing.T, args ...string) (*exec.Cmd, string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	temp := filepath.Join(dir, "tmp")
	link := filepath.Join(dir, "heddle") // the name by which TestMain knows the command
	err = errors.Join(os.Mkdir(temp, 0o700), os.Symlink(self, link),
		os.WriteFile(filepath.Join(dir, "endless.ptx"), []byte(endless), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(link, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TMPDIR="+temp, "XDG_CACHE_HOME="+filepath.Join(dir, "cache"))
	return cmd, temp
}

// spin are the arguments of a run of endless.ptx that ends by a signal only.
var spin = []string{"run", "--grid", "1", "--block", "32", "--max-steps", "1000000000000",
	"endless.ptx"}

// A verdict is printed while a later kernel is still examined. A signal ends the command with its
// own code, after what is known; it is no error in the input, and nothing stays in the directory
// for temporary files. The codes are those of a shell: 128 and the number of the signal.
func TestSignals(t *testing.T) {
	for _, tt := range []struct {
		sig  syscall.Signal
		want int
	}{{syscall.SIGINT, 130}, {syscall.SIGTERM, 143}, {syscall.SIGHUP, 129}} {
		name := signalNames[tt.sig]
		t.Run(name, func(t *testing.T) {
			if signal.Ignored(tt.sig) { // as under nohup; the command inherits that
				t.Skip(name + " is ignored")
			}
			cmd, temp := command(t, spin...)
			var errs bytes.Buffer
			cmd.Stderr = &errs
			pipe, err := cmd.StdoutPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			out := bufio.NewReader(pipe)
			first, err := out.ReadString('\n') // without its end, the verdict on quick
			if err != nil || !strings.HasPrefix(first, "clean: kernel quick in endless.ptx") {
				t.Fatalf("%q, %v", first, err)
			}
			if err := cmd.Process.Signal(tt.sig); err != nil {
				t.Fatal(err)
			}
			rest, _ := io.ReadAll(out)
			_ = cmd.Wait()
			if got := cmd.ProcessState.ExitCode(); got != tt.want {
				t.Errorf("exit code %d, want %d", got, tt.want)
			}
			// It may come before spin begins; the reason then has more words.
			if text := string(rest); !strings.HasPrefix(text, "unknown: kernel spin in endless.ptx: ") ||
				!strings.Contains(text, "the run was interrupted by "+name) {
				t.Errorf("after the signal: %s", text)
			}
			if text := errs.String(); strings.Contains(text, "error") ||
				!strings.Contains(text, "interrupted by "+name) {
				t.Errorf("standard error: %s", text)
			}
			if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
				t.Errorf("temporary files are left: %v, %v", left, err)
			}
		})
	}
}

// After a signal, the reports are complete documents with what was known: the undecided kernel. No
// policy hides the signal.
func TestSignalReports(t *testing.T) {
	cmd, _ := command(t, append(slices.Clone(spin), "--format", "json", "--fail-on", "never",
		"--report", "gitlab=a.json", "--report", "sarif=a.sarif", "--report", "junit=a.xml",
		"--summary", "a.table")...)
	pipe, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	out := bufio.NewReader(pipe)
	if line, err := out.ReadString('\n'); err != nil || !json.Valid([]byte(line)) {
		t.Fatalf("%q, %v", line, err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, out)
	_ = cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != 143 {
		t.Errorf("exit code %d, want 143", got)
	}
	for name, valid := range map[string]func([]byte) bool{
		"a.json": json.Valid, "a.sarif": json.Valid,
		"a.xml": func(b []byte) bool { return xml.Unmarshal(b, new(struct{})) == nil },
		"a.table": func(b []byte) bool {
			return strings.HasPrefix(string(b), "### heddle: 1 unknown, 1 clean\n")
		},
	} {
		text, err := os.ReadFile(filepath.Join(cmd.Dir, name))
		if err != nil || !valid(text) || !strings.Contains(string(text), "interrupted by SIGTERM") {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
	}
}

// A reader that closes the pipe ends the command quietly, as SIGPIPE ends other programs: code 141,
// also in the middle of an endless run.
func TestClosedPipe(t *testing.T) {
	for _, args := range [][]string{spin, {"explain"}} {
		cmd, _ := command(t, args...)
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		var errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = w, &errs
		r.Close()
		err = cmd.Run()
		w.Close()
		if got := cmd.ProcessState.ExitCode(); got != 141 || errs.Len() > 0 {
			t.Errorf("%s: exit code %d (%v), want 141; standard error: %s", args[0], got, err,
				errs.String())
		}
	}
}

// On a full disk there is one message, and the code of an internal error: the verdicts are lost. An
// error of standard error changes nothing, because the results are elsewhere.
func TestFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	for _, format := range []string{"text", "json", "sarif", "gitlab", "junit", "github"} {
		cmd, _ := command(t, "check", "--grid", "1", "--block", "32", "--max-steps", "1000", "--format",
			format, "endless.ptx")
		var errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = full, &errs
		_ = cmd.Run()
		const want = "heddle: the results cannot be written: "
		if text := errs.String(); cmd.ProcessState.ExitCode() != exitInternal ||
			!strings.HasPrefix(text, want) || strings.Count(text, "\n") != 1 {
			t.Errorf("%s: exit code %d, %q", format, cmd.ProcessState.ExitCode(), text)
		}
	}
	// A report beside the results is output as well, and no policy hides that it is lost.
	for _, flag := range []string{"--report=gitlab=/dev/full", "--report=json=/dev/full",
		"--summary=/dev/full", "--html=/dev/full"} {
		cmd, _ := command(t, "run", "--grid", "1", "--block", "32", "--kernel", "quick", "--fail-on",
			"never", flag, "endless.ptx")
		var errs bytes.Buffer
		cmd.Stderr = &errs
		_ = cmd.Run()
		if text := errs.String(); cmd.ProcessState.ExitCode() != exitInternal ||
			!strings.HasPrefix(text, "heddle: the results cannot be written: write /dev/full: ") {
			t.Errorf("%s: exit code %d, %q", flag, cmd.ProcessState.ExitCode(), text)
		}
	}
	cmd, _ := command(t, "run", "--grid", "1", "--block", "32", "--kernel", "quick", "endless.ptx")
	cmd.Stderr = full
	if err := cmd.Run(); err != nil {
		t.Errorf("with standard error on a full disk: %v", err)
	}
}

// A command that waits for standard input ends with its context.
func TestInputEnds(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	ctx, cancel := context.WithCancelCause(t.Context())
	in := input{ctx, r}
	go func() { _, _ = w.Write([]byte("abc")) }()
	b := make([]byte, 8)
	if n, err := in.Read(b); n != 3 || err != nil || string(b[:n]) != "abc" {
		t.Errorf("%d, %v, %q", n, err, b)
	}
	why := signalError{syscall.SIGINT}
	go cancel(why)
	if _, err := in.Read(b); !errors.Is(err, why) {
		t.Errorf("a read after the end of the context: %v", err)
	}
}

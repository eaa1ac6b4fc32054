package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"heddle/internal/testing/long"
)

// betweenWant is an expectation in a file of testdata/repair/between: the result of a means, the
// text of a refusal, and the reason why it is right.
var betweenWant = regexp.MustCompile(
	`(?m)^// (grid-sync|split|double-buffer): (repaired|refused "([^"]+)"); (.+)$`)

// The kernels of testdata/repair/between, of which blocks race: each means repairs those that it
// should and refuses the others with the expected reason. What it prints is a patch that patch -p1
// takes; the patched program is verified, and its own check passes when it runs. With HEDDLE_LONG
// all kernels are repaired, else a few.
func TestBetween(t *testing.T) {
	if !hasClang() {
		t.Skip("no clang")
	}
	files, err := filepath.Glob("../../testdata/repair/between/*.cu")
	if err != nil || len(files) < 20 {
		t.Fatalf("%v, %d files", err, len(files))
	}
	for i, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		wants := betweenWant.FindAllStringSubmatch(string(text), -1)
		if len(wants) != 3 {
			t.Errorf("%s has %d expectations", path, len(wants))
		}
		if !long.All() && i%9 != 1 {
			continue
		}
		for j, w := range wants {
			if !long.All() && j != i/9%3 {
				continue // each means once
			}
			t.Run(filepath.Base(path)+" "+w[1], func(t *testing.T) {
				t.Chdir(t.TempDir())
				betweenRepair(t, string(text), w[1], w[3])
			})
		}
	}
}

// betweenRepair repairs a program by a means, or expects a refusal.
func betweenRepair(t *testing.T, text, means, refusal string) {
	write := func() {
		if err := os.WriteFile("k.cu", []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write()
	var diff, report bytes.Buffer
	code := run([]string{"fix", "--allow", means, "k.cu"}, strings.NewReader(""), &diff, &report)
	if refusal != "" {
		_, why, _ := strings.Cut(report.String(), "--allow "+means+" does not repair it, because ")
		if code == exitClean || !strings.Contains(why, refusal) || diff.Len() > 0 {
			t.Errorf("exit code %d, %q; want a refusal with %q", code, why, refusal)
		}
		return
	}
	if code != exitClean || !strings.Contains(report.String(), "repaired: kernel") {
		t.Fatalf("exit code %d:\n%s", code, report.String())
	}
	if _, err := exec.LookPath("patch"); err == nil {
		cmd := exec.Command("patch", "-p1", "-s")
		cmd.Stdin = bytes.NewReader(diff.Bytes())
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s\n%s", err, out, diff.String())
		}
		patched, _ := os.ReadFile("k.cu")
		write()
		none := strings.NewReader("")
		if code := run([]string{"fix", "--allow", means, "-w", "k.cu"}, none, &bytes.Buffer{},
			&bytes.Buffer{}); code != exitClean {
			t.Errorf("fix -w: exit code %d", code)
		}
		if other, _ := os.ReadFile("k.cu"); !bytes.Equal(patched, other) {
			t.Errorf("the patch and -w differ:\n%s\n%s", patched, other)
		}
	}
	var verdicts bytes.Buffer
	none := strings.NewReader("")
	if code := run([]string{"check", "k.cu"}, none, &verdicts, &verdicts); code != exitClean ||
		strings.Contains(verdicts.String(), "clean: ") {
		t.Errorf("check: exit code %d\n%s", code, verdicts.String())
	}
	var out bytes.Buffer
	if code := run([]string{"exec", "k.cu"}, strings.NewReader(""), &out, &out); code != exitClean ||
		!strings.Contains(out.String(), "PASS") {
		t.Errorf("exec: exit code %d\n%s", code, out.String())
	}
}

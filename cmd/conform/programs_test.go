package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestJudge judges what programs print. The expectations are what a reader would say.
func TestJudge(t *testing.T) {
	for _, x := range []struct {
		out  string
		code int
		want string
	}{
		{"time 1 ms\nPASS\n", 0, endPass},
		{"Test passed\n", 0, endPass},
		{"0 failed\nPASS\n", 0, endPass},
		{"No mismatches found, success\n", 0, endPass},
		{"FAIL\n", 0, endFail},
		{"part 1: PASS\npart 2: FAIL\n", 0, endFail},
		{"Test failed!\n", 1, endFail},
		{"Device assert failed as expected\nx completed, returned OK\n", 0, endPass},
		{"2 kernels failed\nx completed, returned OK\n", 1, endFail},
		{"keys array: OK\nShutting down\n", 0, endPass},
		{"Device assert failed as expected\n", 0, endPass},
		{"PASS\n", 139, endError},
		{"cannot open data.txt\n", 1, endError},
		{"average 3.5 us\n", 0, endSilent},
		{"passes: 3, bypassed\n", 0, endSilent},
	} {
		if got := judge([]byte(x.out), x.code); got != x.want {
			t.Errorf("%q with code %d: %s, want %s", x.out, x.code, got, x.want)
		}
	}
}

// TestPrograms builds and runs programs of shell scripts: one passes after its size is changed, one
// fails, one does not build, one lacks a file, one lacks a function, one says nothing, and one
// takes too long. One has commands of the table in the place of a Makefile, two share a directory,
// and one has objects for others. The command in the place of heddle runs them as they are, and
// builds by a copy.
func TestPrograms(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		// An ELF header makes a file a program; what runs is beside it.
		"heddle": "#!/bin/sh\nif [ \"$1\" = nvcc ]; then cp \"$2\" \"$3\"; exit; fi\n" +
			"while [ \"$1\" != -- ]; do shift; done\nshift\np=$1\nshift\n" +
			"exec sh $p.sh \"$@\"\n",
		"good/size":        "const int N = 4096;\n",
		"good/main.sh":     "grep -q 'N = 8;' size && [ \"$1 $2\" = '3 x' ] && echo PASS\n",
		"wrong/main.sh":    "echo FAIL\n",
		"broken/Makefile":  "all:\n\t@echo 'x.cu:1: error: no such thing'; exit 1\nclean:\n",
		"data/main.sh":     "echo cannot open; exit 3\n",
		"quiet/main.sh":    "echo 3.5 ms, passed over\n",
		"library/main.sh":  "echo heddle: cublasCreate is not supported; echo FAIL\n",
		"library/Makefile": "",
		"forever/main.sh":  "while :; do :; done\n",
		"ours/main.sh":     "echo passed\n",
		"ours/x.elf":       "\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00",
		"lost/main.sh":     "echo passed\n",
		"pair/main.sh":     "[ $1 = 1 ] && echo PASS || echo FAIL\n",
		"pair/x.elf":       "\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00",
		"objects/x.o":      "no program",
		"code/main.sh":     "echo 3.5 ms; exit $1\n",
		"code/Makefile":    "",
		"good/Makefile":    "",
		"wrong/Makefile":   "",
		"data/Makefile":    "",
		"quiet/Makefile":   "",
		"forever/Makefile": "",
	} {
		if strings.HasSuffix(name, "Makefile") && text == "" {
			text = "all:\n\t@printf '\\177ELF\\2\\1\\1\\0\\0\\0\\0\\0\\0\\0\\0\\0\\2\\0' >main\n" +
				"\t@chmod +x main\nclean:\n\t@rm -f main\n"
		}
		file := filepath.Join(dir, name)
		if os.MkdirAll(filepath.Dir(file), 0o700) != nil ||
			os.WriteFile(file, []byte(text), 0o700) != nil {
			t.Fatal(name)
		}
	}
	table := filepath.Join(dir, "programs.txt")
	lines := "# ours\n\ngood set size =.\\d+ =\\s8\n" +
		"good run 3 x\nwrong run\nbroken run\ndata run\ndata data input.bin\nquiet run\n" +
		"quiet silent\nlibrary run\nforever run\nabsent run\n" +
		"ours nvcc x.elf y.elf\nours nvcc y.* main\nours run\nlost nvcc in.elf main\nlost run\n" +
		"code exits\ncode run 0\ncode run 0\nobjects nvcc x.o y.o\n" +
		"pair@a nvcc x.elf main\npair@a run 1\npair@b nvcc x.elf main\npair@b run 2\n"
	if err := os.WriteFile(table, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	conform := func(only string) (string, int) {
		var out, errs bytes.Buffer
		code := run([]string{"-suite", "programs", "-heddle", filepath.Join(dir, "heddle"),
			"-table", table, "-limit", "1s", "-only", only, dir}, &out, &errs)
		return out.String() + errs.String(), code
	}
	got, code := conform("")
	for _, want := range []string{
		"FAIL         wrong",
		"unsupported  library",
		"not built    broken   x.cu:1: error: no such thing",
		"no data      data     input.bin",
		"limit        forever",
		"not built    lost     cp:",
		"FAIL         pair@b",
		"programs 13, built 10 (76.9%)",
		"of 7 that give a verdict 4 passed (57.1%)",
		"of 1 that give none 1 ended without an error",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	// The second time its file is changed already.
	if got, code := conform("good"); code != 0 {
		t.Errorf("exit code %d, want 0:\n%s", code, got)
	}
}

// TestReadPrograms refuses lines that would be misunderstood.
func TestReadPrograms(t *testing.T) {
	for _, text := range []string{"a", "a walk", "a set file x", "a set file ( y", "a data",
		"a silent x", "a nvcc", "a exits x"} {
		if _, err := readPrograms(strings.NewReader(text)); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}

// TestTables reads the tables of this repository. Each of them has something to run.
func TestTables(t *testing.T) {
	files, err := filepath.Glob("testdata/*-programs.txt")
	if err != nil || len(files) < 3 {
		t.Fatalf("%d tables, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		list, err := readPrograms(bytes.NewReader(text))
		runs := 0
		for _, p := range list {
			runs += len(p.args)
		}
		if err != nil || runs == 0 {
			t.Errorf("%s: %d runs, %v", file, runs, err)
		}
	}
}

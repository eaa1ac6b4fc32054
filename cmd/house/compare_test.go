package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestNormalize(t *testing.T) {
	const base = `{"type":"finding","code":"race-shared","message":"one wording","notes":["a"],` +
		`"count":3,"witness":{"seed":0},"fingerprint":"1"}`
	for _, c := range []struct {
		name, a, b string
		same       bool
	}{
		{"wording of a message", base, strings.Replace(base, "one wording", "another", 1), true},
		{"number of notes", base, strings.Replace(base, `["a"]`, `["b","c"]`, 1), true},
		{"order of keys and spaces", `{"a":1,"b":2}`, `{"b": 2, "a": 1}`, true},
		{"code", base, strings.Replace(base, "race-shared", "race-global", 1), false},
		{"count", base, strings.Replace(base, `"count":3`, `"count":4`, 1), false},
		{"large numbers", `{"count":9007199254740993}`, `{"count":9007199254740992}`, false},
		{"fingerprint", base, strings.Replace(base, `"fingerprint":"1"`, `"fingerprint":"2"`, 1), false},
		{"fingerprint of a message", `{"message":"a","fingerprint":"1"}`,
			`{"message":"b","fingerprint":"2"}`, true},
		{"a field that is missing", `{"reason":"a"}`, `{}`, false},
		{"time", `{"time_ms":1.5,"total_ms":1}`, `{"time_ms":2}`, true},
		{"wording inside", `{"related":[{"message":"a","location":{"line":1}}]}`,
			`{"related":[{"message":"b","location":{"line":1}}]}`, true},
		{"place inside", `{"related":[{"message":"a","location":{"line":1}}]}`,
			`{"related":[{"message":"a","location":{"line":2}}]}`, false},
		{"results in a list", `{"stuck":["a"]}`, `{"stuck":["b"]}`, true},
		{"number of results", `{"stuck":["a"]}`, `{"stuck":["a","b"]}`, false},
		{"objects", base, base + "\n" + base, false},
		{"text after JSON", base + "\npanic: a", base + "\npanic: b", false},
	} {
		a, b := normalize([]byte(c.a)), normalize([]byte(c.b))
		if (a == b) != c.same {
			t.Errorf("%s: equal is %v, want %v:\n%s\n%s", c.name, a == b, c.same, a, b)
		}
	}
}

func TestInputs(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b.cu", "a.ptx", "c.txt", "d.ll", "e.cl"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := inputs(dir)
	for i := range got {
		got[i] = filepath.Base(got[i])
	}
	if err != nil || strings.Join(got, " ") != "a.ptx b.cu d.ll e.cl" {
		t.Errorf("inputs = %v, %v", got, err)
	}
}

// Shell scripts replace the programs: one of them prints another code for one file.
func TestCompare(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"testdata/suite/a.cu": "", "examples/b.ptx": "",
		"old": "#!/bin/sh\necho '{\"message\":\"old\",\"code\":\"x\"}'; exit 1\n",
		"new": "#!/bin/sh\ncase $5 in *b.ptx) c=y;; *) c=x;; esac\n" +
			"echo '{\"message\":\"new\",\"code\":\"'$c'\"}'; exit 1\n",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		args string
		exit int
		want string
	}{
		{"compare ./old ./new", 1, "10 outputs of 2 files compared, 5 differ"},
		{"compare -run a.cu ./old ./new", 0, "5 outputs of 1 files compared, 0 differ"},
		{"compare -engine check -v ./old ./new", 1, "check examples/b.ptx: the output differs\n" +
			"\told: {\"code\":\"x\",\"message\":\"...\"}\n" +
			"\tnew: {\"code\":\"y\",\"message\":\"...\"}\n2 outputs of 2"},
		{"compare -engine fix ./old ./missing", 1, "2 differ"},
		{"compare -run nothing ./old ./new", 1, "0 outputs"},
		{"compare ./old", 2, ""},
	} {
		var out, errs bytes.Buffer
		if exit := run(strings.Fields(c.args), &out, &errs); exit != c.exit ||
			!strings.Contains(out.String(), c.want) {
			t.Errorf("%s: exit %d, want %d; output lacks %q:\n%s%s", c.args, exit, c.exit, c.want, &out,
				&errs)
		}
	}
}

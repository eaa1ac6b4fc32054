package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
	"go.starlark.net/syntax"
)

// The rule for Bazel is executed by an interpreter of its language, with a context of ours in place
// of Bazel's. What it writes is then run: heddle reads the configuration, and the script passes the
// arguments on.

// bazelRule loads bazel/heddle.bzl and returns what it defines, and the arguments of its call of
// rule.
func bazelRule(t *testing.T) (globals, rule starlark.StringDict) {
	t.Helper()
	rule = starlark.StringDict{}
	keep := func(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple,
		kwargs []starlark.Tuple) (starlark.Value, error) {
		fields := starlark.StringDict{"kind": starlark.String(b.Name())}
		for _, kv := range kwargs {
			fields[string(kv[0].(starlark.String))] = kv[1]
		}
		if len(args) > 0 {
			return nil, fmt.Errorf("%s has arguments without names", b.Name())
		}
		if b.Name() == "rule" {
			rule = fields
		}
		return starlarkstruct.FromStringDict(starlarkstruct.Default, fields), nil
	}
	attr := starlark.StringDict{}
	for _, name := range []string{"label", "label_list", "string", "string_list", "string_dict"} {
		attr[name] = starlark.NewBuiltin(name, keep)
	}
	fail := func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple,
		_ []starlark.Tuple) (starlark.Value, error) {
		return nil, fmt.Errorf("fail: %v", args[0])
	}
	globals, err := starlark.ExecFileOptions(&syntax.FileOptions{}, &starlark.Thread{},
		"../../bazel/heddle.bzl", nil, starlark.StringDict{
			"rule": starlark.NewBuiltin("rule", keep), "DefaultInfo": starlark.NewBuiltin("DefaultInfo", keep),
			"attr": starlarkstruct.FromStringDict(starlarkstruct.Default, attr),
			"fail": starlark.NewBuiltin("fail", fail),
		})
	if err != nil {
		t.Fatal(err)
	}
	return globals, rule
}

// bazelFile is a File of Bazel.
func bazelFile(path string) starlark.Value {
	return starlarkstruct.FromStringDict(starlarkstruct.Default, starlark.StringDict{
		"short_path": starlark.String(path)})
}

func bazelList(words ...string) *starlark.List {
	l := starlark.NewList(nil)
	for _, w := range words {
		_ = l.Append(starlark.String(w)) // fails for a frozen list only
	}
	return l
}

// bazelTest has the rule make a test in a directory, as Bazel does for runfiles, and returns the
// script.
func bazelTest(t *testing.T, dir string, launches map[string]string, heddle string, srcs []string,
	args ...string) (string, error) {
	t.Helper()
	_, rule := bazelRule(t)
	struct_ := func(d starlark.StringDict) starlark.Value {
		return starlarkstruct.FromStringDict(starlarkstruct.Default, d)
	}
	declare := func(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (
		starlark.Value, error) {
		return bazelFile(string(args[0].(starlark.String))), nil
	}
	write := func(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (
		starlark.Value, error) {
		path, err := args[0].(starlark.HasAttrs).Attr("short_path")
		if err != nil {
			return nil, err
		}
		mode := os.FileMode(0o644)
		if len(kwargs) > 0 {
			mode = 0o755
		}
		return starlark.None, os.WriteFile(filepath.Join(dir, string(path.(starlark.String))),
			[]byte(args[1].(starlark.String)), mode)
	}
	runfiles := func(_ *starlark.Thread, _ *starlark.Builtin, _ starlark.Tuple, kwargs []starlark.Tuple) (
		starlark.Value, error) {
		return kwargs[0][1], nil
	}
	dict := starlark.NewDict(len(launches))
	for k, v := range launches {
		_ = dict.SetKey(starlark.String(k), starlark.String(v))
	}
	files := starlark.NewList(nil)
	for _, s := range srcs {
		_ = files.Append(bazelFile(s))
	}
	ctx := struct_(starlark.StringDict{
		"label": struct_(starlark.StringDict{"name": starlark.String("t")}),
		"actions": struct_(starlark.StringDict{"declare_file": starlark.NewBuiltin("declare_file", declare),
			"write": starlark.NewBuiltin("write", write)}),
		"attr": struct_(starlark.StringDict{"launches": dict, "fail_on": starlark.String(""),
			"includes": bazelList("inc dir"), "defines": bazelList("N='1'"), "heddle_args": bazelList(args...)}),
		"file":     struct_(starlark.StringDict{"heddle": bazelFile(heddle), "compiler": starlark.None}),
		"files":    struct_(starlark.StringDict{"srcs": files, "hdrs": starlark.NewList(nil)}),
		"runfiles": starlark.NewBuiltin("runfiles", runfiles),
	})
	out, err := starlark.Call(&starlark.Thread{}, rule["implementation"], starlark.Tuple{ctx}, nil)
	if err != nil {
		return "", err
	}
	info := out.(*starlark.List).Index(0).(starlark.HasAttrs)
	script, err := info.Attr("executable")
	if err != nil {
		t.Fatal(err)
	}
	needed, err := info.Attr("runfiles")
	if err != nil {
		t.Fatal(err)
	}
	if n := needed.(*starlark.List).Len(); n != 2+len(srcs) { // heddle.toml and heddle
		t.Errorf("%d runfiles, want %d", n, 2+len(srcs))
	}
	path, err := script.(starlark.HasAttrs).Attr("short_path")
	if err != nil {
		t.Fatal(err)
	}
	return string(path.(starlark.String)), nil
}

// TestBazelRule: the rule is a test with the attributes that its document names, and the tests that
// it makes pass and fail as heddle does.
func TestBazelRule(t *testing.T) {
	_, rule := bazelRule(t)
	if rule["test"] != starlark.True {
		t.Error("the rule is not one for tests")
	}
	if n := rule["attrs"].(*starlark.Dict).Len(); n != 9 {
		t.Errorf("%d attributes, want 9", n)
	}
	dir := t.TempDir()
	for _, n := range []int{0, 1} { // a right kernel, and one with a race
		name := filepath.Join(dir, fmt.Sprintf("k%d.ptx", n))
		if err := os.WriteFile(name, []byte(variantText(n)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	program, err := filepath.Abs(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(program, filepath.Join(dir, "heddle")); err != nil {
		t.Fatal(err)
	}
	launches := map[string]string{"k*": "grid=2 block=64 p=zero:4K", "other": `skip=not\here`}
	for _, test := range []struct {
		src  string
		code int
	}{{"k0.ptx", exitClean}, {"k1.ptx", exitBugs}} {
		script, err := bazelTest(t, dir, launches, "heddle", []string{test.src}, "-v")
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("./" + script)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "XML_OUTPUT_FILE="+filepath.Join(dir, "out.xml"))
		out, _ := cmd.CombinedOutput()
		if got := cmd.ProcessState.ExitCode(); got != test.code ||
			!strings.Contains(string(out), "block 64 (configuration)") {
			t.Errorf("%s: exit code %d, want %d, with the block of the rule\n%s", test.src, got, test.code, out)
		}
		xml, err := os.ReadFile(filepath.Join(dir, "out.xml"))
		if err != nil || !strings.Contains(string(xml), "<testsuite") {
			t.Errorf("%s: no JUnit XML: %v", test.src, err)
		}
	}
}

// TestBazelArguments: words pass the shell as they are, and a launch that is not one is refused when
// Bazel reads the target.
func TestBazelArguments(t *testing.T) {
	dir := t.TempDir()
	show := "#!/bin/sh\nfor a in \"$@\"; do echo \"[$a]\"; done\n"
	if err := os.WriteFile(filepath.Join(dir, "show"), []byte(show), 0o755); err != nil {
		t.Fatal(err)
	}
	script, err := bazelTest(t, dir, nil, "show", []string{"a b.cu", "$c.cu"}, `--arg=x="1"`)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("./" + script)
	cmd.Dir = dir
	out, err := cmd.Output()
	want := "[check]\n[--config]\n[t.heddle.toml]\n[--no-cache]\n[-I]\n[inc dir]\n[-D]\n[N='1']\n" +
		"[--arg=x=\"1\"]\n[a b.cu]\n[$c.cu]\n"
	if err != nil || string(out) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, out, want)
	}
	for _, launch := range []string{"grid", "=1", "n=", "grid = 1"} {
		if _, err := bazelTest(t, dir, map[string]string{"k": launch}, "show", []string{"a.cu"}); err == nil ||
			!strings.Contains(err.Error(), "expected NAME=VALUE") {
			t.Errorf("launch %q: %v", launch, err)
		}
	}
}

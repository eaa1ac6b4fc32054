package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBeforeCommand: a program in the place of the first FILE and what follows it are the command,
// as for valgrind. Files to build, values of flags and what follows -- are not.
func TestBeforeCommand(t *testing.T) {
	t.Chdir(t.TempDir())
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]struct {
		text []byte
		mode os.FileMode
	}{
		"app": {program, 0o755}, "script.sh": {[]byte("#!/bin/sh\n"), 0o755},
		"main.cu": {[]byte("int main() {}\n"), 0o755}, "data": {program, 0o644},
		"bin/tool": {[]byte("#!/bin/sh\n"), 0o755}, "bin/tool1.5": {[]byte("#!/bin/sh\n"), 0o755},
		"bin/cmake": {[]byte("#!/bin/sh\n"), 0o755}, "cmake/CMakeLists.txt": {nil, 0o644},
		"bin/make": {[]byte("#!/bin/sh\n"), 0o755}, "make": {[]byte("notes\n"), 0o644},
		"plain": {[]byte("echo\n"), 0o755}, "closed.sh": {[]byte("#!/bin/sh\n"), 0o644},
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.text, f.mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", "bin")
	t.Setenv("GODEBUG", "execerrdot=0") // PATH is relative here
	for args, want := range map[string]string{
		"./app -n 4":                    "-- ./app -n 4",
		"app main.cu":                   "-- ./app main.cu",
		"./script.sh":                   "-- ./script.sh",
		"tool --seeds 2":                "-- tool --seeds 2",
		"tool1.5 a -n":                  "-- tool1.5 a -n",
		"cmake --build b":               "-- cmake --build b",
		"make -n":                       "-- make -n",
		"./plain 1":                     "-- ./plain 1",
		"./closed.sh a":                 "-- ./closed.sh a",
		"data x":                        "-- ./data x",
		"./app -arch sm_80 -std=c++17":  "-- ./app -arch sm_80 -std=c++17",
		"-arch sm_80 ./app -arch x":     "--arch sm_80 -- ./app -arch x",
		"-v -j 2 --timeout 5m ./app -v": "-v -j 2 --timeout 5m -- ./app -v",
		"-j2 --format=json ./app":       "-j2 --format=json -- ./app",
		"-vj 2 ./app":                   "-vj 2 -- ./app",
		"-o app main.cu":                "-o app main.cu",
		"-o app ./app":                  "-o app -- ./app",
		"main.cu ./app":                 "main.cu ./app",
		"main.cu -- ./app":              "main.cu -- ./app",
		"-- ./app -- x":                 "-- ./app -- x",
		"cmake/CMakeLists.txt":          "cmake/CMakeLists.txt",
		"missing ./app":                 "missing ./app",
		"missing.cu":                    "missing.cu",
		"--no-such-flag ./app":          "--no-such-flag ./app",
		"-v":                            "-v",
		"-j":                            "-j",
		"-":                             "-",
		"":                              "",
	} {
		if got := strings.Join(beforeCommand(flagsOf("exec"), strings.Fields(args)), " "); got != want {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
	}
}

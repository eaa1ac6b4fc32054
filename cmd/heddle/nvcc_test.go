package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Command lines of nvcc and what they mean (CUDA Compiler Driver NVCC, "NVCC Command Options").
func TestParseNVCC(t *testing.T) {
	for line, want := range map[string]nvccCall{
		"-o app main.cu -lcudart -lfoo -lm":     {inputs: []string{"main.cu"}, output: "app", link: []string{"-lfoo"}},
		"-o app a.o -lcublas -lcusparse -lz":    {inputs: []string{"a.o"}, output: "app", link: []string{"-lz"}},
		"-o app main.cpp -lcuda -lnvrtc":        {inputs: []string{"main.cpp"}, output: "app"},
		"-c -oa.o a.cu":                         {inputs: []string{"a.cu"}, output: "a.o", compile: true},
		"-dc -rdc=true a.cu --output-file=a.o":  {inputs: []string{"a.cu"}, output: "a.o", compile: true},
		"-fatbin -o k.fatbin k.cu":              {inputs: []string{"k.cu"}, output: "k.fatbin", image: ".fatbin"},
		"-rdc true -maxrregcount 32 a.cu":       {inputs: []string{"a.cu"}},
		"-Xptxas -v -Xcompiler -Wall a.cu":      {inputs: []string{"a.cu"}},
		"-L/usr/lib -L lib -Xlinker -rpath a.o": {inputs: []string{"a.o"}, link: []string{"-L/usr/lib", "-Llib", "-Wl,-rpath"}},
		"-lib -o x.a a.o b.o":                   {inputs: []string{"a.o", "b.o"}, output: "x.a", library: true},
		"-x cu main.cpp -MD -MF d -MT t":        {inputs: []string{"main.cpp"}, language: "cu", deps: []string{"-MD", "-MFd", "-MTt"}},
		"-m64 -ccbin g++ -G -g -lineinfo -w --expt-relaxed-constexpr --use_fast_math -O3 a.cu": {
			inputs: []string{"a.cu"}},
	} {
		n, err := parseNVCC(strings.Fields(line))
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if !slices.Equal(n.inputs, want.inputs) || n.output != want.output || n.compile != want.compile || n.image != want.image ||
			n.library != want.library || n.language != want.language || !slices.Equal(n.link, want.link) ||
			!slices.Equal(n.deps, want.deps) {
			t.Errorf("%s: %+v, want %+v", line, *n, want)
		}
	}
	// A library of the program's own goes before heddle's stand-in for NVIDIA's.
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "libcufft.a"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	own, err := parseNVCC([]string{"a.o", "-lcufft", "-lcurand", "-L" + dir})
	if err != nil || !slices.Equal(own.link, []string{"-lcufft", "-L" + dir}) {
		t.Errorf("%v, %v", own, err)
	}
	n, err := parseNVCC(strings.Fields("-DA -D B=1 -UC -Iinc -I more -isystem sys -std=c++17 -O -Xcompiler -fPIC,-Wall a.cu"))
	if err != nil {
		t.Fatal(err)
	}
	o := n.options()
	if !slices.Equal(o.Defines, []string{"A", "B=1"}) || !slices.Equal(o.Undefines, []string{"C"}) ||
		!slices.Equal(o.Includes, []string{"inc", "more"}) || !slices.Equal(o.Systems, []string{"sys"}) ||
		o.Std != "c++17" || o.HostLevel != "2" || !slices.Equal(o.HostArgs, []string{"-fPIC", "-Wall"}) {
		t.Errorf("%+v", o)
	}
	for line, arch := range map[string]string{
		"-arch=sm_90 a.cu": "sm_90", "-arch sm_75 a.cu": "sm_75", "-arch=native a.cu": "", "-gencode arch=compute_80,code=sm_80 " +
			"-gencode=arch=compute_100,code=[sm_100,compute_100] a.cu": "sm_100",
	} {
		if n, err := parseNVCC(strings.Fields(line)); err != nil || n.opt.Arch != arch {
			t.Errorf("%s: %v, %v", line, n, err)
		}
	}
	for line, separate := range map[string]bool{"-dc a.cu": true, "-c -rdc=true a.cu": true,
		"--relocatable-device-code true a.cu": true, "-c -rdc=false a.cu": false, "-c a.cu": false} {
		if n, err := parseNVCC(strings.Fields(line)); err != nil || n.opt.Separate != separate {
			t.Errorf("%s: %+v, %v; Separate must be %v", line, n, err, separate)
		}
	}
	for line, defined := range map[string]bool{"--default-stream per-thread a.cu": true,
		"-default-stream=per-thread a.cu": true, "-default-stream legacy a.cu": false} {
		n, err := parseNVCC(strings.Fields(line))
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains(n.opt.Defines, "CUDA_API_PER_THREAD_DEFAULT_STREAM=1") != defined {
			t.Errorf("%s: %v", line, n.opt.Defines)
		}
	}
	for line, want := range map[string]string{"-default-stream both a.cu": "legacy or per-thread",
		"-frobnicate a.cu": "-frobnicate", "-Wall a.cu": "-Wall", "-o": "-o", "": "no input"} {
		if _, err := parseNVCC(strings.Fields(line)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", line, err)
		}
	}
}

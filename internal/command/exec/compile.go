package exec

import (
	"errors"
	"fmt"
	"strings"

	"heddle/internal/host"
	"heddle/internal/lower"
)

// Compile implements host.Device: it compiles for a program that calls NVRTC, with the options of
// NVRTC's documentation ("Supported Compile Options"). Machine code that such a program asks for is
// PTX, too.
func (s *session) Compile(name, source string, options []string) (host.CompileResult, []byte,
	[]byte) {
	opt, err := compileOptions(options)
	if err != nil {
		return host.InvalidOption, nil, fmt.Appendf(nil, "nvrtc: error: %v\n", err)
	}
	in := lower.Input{Name: name, Content: []byte(source), Lang: lower.CUDA}
	results, err := lower.Lower(s.r.ctx, in, opt)
	if err != nil {
		log := err.Error() + "\n"
		var failed *lower.CompileError
		if errors.As(err, &failed) {
			log = failed.Output
		}
		return host.NotCompiled, nil, []byte(log)
	}
	for _, o := range results[0].Omitted {
		log := fmt.Appendf(nil, "%s: error: kernel %s: %s\n", name, o.Name, o.Reason)
		return host.NotCompiled, nil, log
	}
	return host.Compiled, results[0].PTX, nil
}

// compileOptions reads the options of NVRTC. Those that concern machine code change nothing here.
func compileOptions(options []string) (lower.Options, error) {
	// Programs use assert without an #include, as with NVRTC.
	opt := lower.Options{Strict: true, Forced: []string{"assert.h"}}
	for i := 0; i < len(options); i++ {
		name, value := strings.TrimSpace(options[i]), ""
		// The value of an option follows it behind "=" or a space, or is the next one.
		if at := strings.IndexAny(name, "= "); at > 0 && strings.HasPrefix(name, "-") &&
			!strings.HasPrefix(name, "-D") && !strings.HasPrefix(name, "-I") {
			name, value = name[:at], strings.TrimSpace(name[at+1:])
		} else if len(name) > 2 && (name[:2] == "-D" || name[:2] == "-I" || name[:2] == "-U") {
			name, value = name[:2], strings.TrimSpace(name[2:])
		}
		list, ok := valued(&opt, name)
		switch {
		case ok && value == "" && i+1 < len(options):
			i++
			list(options[i])
		case ok:
			list(value)
		case !ignored(name):
			return opt, fmt.Errorf("unrecognized option %s", options[i])
		}
	}
	return opt, nil
}

// valued returns what takes the value of an option.
func valued(opt *lower.Options, name string) (func(string), bool) {
	appendTo := func(list *[]string) func(string) {
		return func(v string) { *list = append(*list, v) }
	}
	switch name {
	case "-I", "--include-path":
		return appendTo(&opt.Includes), true
	case "-D", "--define-macro":
		return appendTo(&opt.Defines), true
	case "-U", "--undefine-macro":
		return appendTo(&opt.Undefines), true
	case "-include", "--pre-include":
		return appendTo(&opt.Forced), true
	case "-std", "--std":
		return func(v string) { opt.Std = v }, true
	case "-arch", "--gpu-architecture":
		return func(v string) { // compute_80 or sm_80
			_, number, _ := strings.Cut(v, "_")
			opt.Arch = "sm_" + number
		}, true
	case "-maxrregcount", "--maxrregcount", "-fmad", "--fmad", "-ftz", "--ftz", "-prec-sqrt",
		"--prec-sqrt", "-prec-div", "--prec-div", "-diag-suppress", "--diag-suppress", "-rdc",
		"--relocatable-device-code", "-builtin-initializer-list", "--builtin-initializer-list":
		return func(string) {}, true
	}
	return nil, false
}

// ignored reports whether an option without a value changes nothing here.
func ignored(name string) bool {
	switch name {
	case "-G", "--device-debug", "-lineinfo", "--generate-line-info", "-use_fast_math",
		"--use_fast_math", "-w", "--disable-warnings", "--device-c", "-dw", "--device-w",
		"-extra-device-vectorization", "--extra-device-vectorization", "-restrict", "--restrict",
		"-dlto":
		return true
	}
	return false
}

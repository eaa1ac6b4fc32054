package check

import (
	"fmt"
	"strings"

	"heddle/internal/lower"
)

// Stdin is what messages call the standard input.
const Stdin = "<stdin>"

// reproduce is the command that shows a finding again.
func (r *kernelRun) reproduce(seed uint64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "heddle %s", command(r.opt.Command))
	if r.several {
		fmt.Fprintf(&b, " --kernel %s", quote(r.kernel.Name))
	}
	if seed != 0 {
		fmt.Fprintf(&b, " --seed %d", seed)
	}
	if r.opt.Warp != "" && r.opt.Warp != "independent" {
		fmt.Fprintf(&b, " --warp %s", r.opt.Warp)
	}
	if r.opt.Benign != "" && r.opt.Benign != "warp" {
		fmt.Fprintf(&b, " --benign %s", r.opt.Benign)
	}
	if flags := r.cfg.Flags(); flags != "" {
		b.WriteString(" " + flags)
	}
	r.compiling(&b)
	name := r.in.name
	if name == Stdin {
		name = "-"
	}
	b.WriteString(" " + quote(name))
	return b.String()
}

// compiling writes the flags that say how the file was compiled.
func (r *kernelRun) compiling(b *strings.Builder) {
	flag := func(name string, values ...string) {
		for _, v := range values {
			if v != "" {
				fmt.Fprintf(b, " %s %s", name, quote(v))
			}
		}
	}
	if l := r.in.lowered.Lang; l == lower.PTX || l == lower.Binary {
		return
	}
	low := &r.opt.Lower
	flag("-p", r.opt.Database)
	flag("-I", low.Includes...)
	flag("-D", low.Defines...)
	flag("--std", low.Std)
	flag("--arch", low.Arch)
	flag("-O", low.OptLevel)
	flag("--compiler", low.Compiler)
	flag("--cuda-path", low.CUDAPath)
}

func command(c string) string {
	if c == "" {
		return "check"
	}
	return c
}

// quote protects a word from the shell where it needs that.
func quote(s string) string {
	if s != "" && strings.IndexFunc(s, needsQuote) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func needsQuote(c rune) bool {
	return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("_-./=:,+@%", c))
}

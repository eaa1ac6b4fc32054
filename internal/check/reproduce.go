package check

import (
	"fmt"
	"strings"
)

// reproduce is the command that shows a finding again.
func (r *kernelRun) reproduce(seed uint64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "heddle %s", command(r.opt.Command))
	if n := len(r.kernelsSeen); n > 1 {
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
	b.WriteString(" " + quote(r.in.name))
	return b.String()
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

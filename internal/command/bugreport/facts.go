package bugreport

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"heddle/internal/lazyregexp"
)

// Outcome is what one run of a command line left behind.
type Outcome struct {
	Code           int // of the exit
	Stdout, Stderr []byte
}

// Facts are what an outcome says about one kernel, or about the input as a whole.
type Facts struct {
	Kernel  string   // demangled; empty: the input
	Verdict string   // or the status of a repair; empty: there is none
	Reason  string   // of the verdict
	Codes   []string // of errors and warnings, each once
	Details []string // for each code, what the first such finding is between; see detail
	Crash   []string // the functions in which heddle panicked, innermost first
}

// object is what heddle writes with --format json.
type object struct {
	Type     string   `json:"type"`
	Code     string   `json:"code"`
	Severity string   `json:"severity"`
	Kernel   string   `json:"kernel"`
	Verdict  string   `json:"verdict"`
	Status   string   `json:"status"`
	Reason   string   `json:"reason"`
	Why      string   `json:"why"`
	Stuck    []string `json:"stuck"`
	Findings []object `json:"findings"`
	Kernels  []object `json:"kernels"`
	Verdicts []object `json:"verdicts"`
	Barriers []struct {
		Status string `json:"status"`
	} `json:"barriers"`
	Witness *struct {
		Level         string `json:"level"`
		First, Second *struct{ Kind string }
	} `json:"witness"`
}

// detail is what a finding is between, such as "intra-block read write"; empty: unknown. Without
// it, a reduction would often end at another race than that of the report.
func (x *object) detail() string {
	w := x.Witness
	if w == nil || w.First == nil || w.Second == nil {
		return ""
	}
	kinds := []string{w.First.Kind, w.Second.Kind}
	slices.Sort(kinds)
	return strings.Join(append([]string{w.Level}, kinds...), " ")
}

// readFacts reads an outcome whose standard output is JSON. Facts about the input have no kernel
// and are the first.
func readFacts(o Outcome) []Facts {
	out := []Facts{{Crash: crash(o.Stderr)}}
	of := func(kernel string) *Facts {
		i := slices.IndexFunc(out, func(f Facts) bool { return f.Kernel == kernel })
		if i < 0 {
			out = append(out, Facts{Kernel: kernel})
			i = len(out) - 1
		}
		return &out[i]
	}
	add := func(f object) {
		k := of(f.Kernel)
		if f.Severity != "note" && !slices.Contains(k.Codes, f.Code) {
			k.Codes, k.Details = append(k.Codes, f.Code), append(k.Details, f.detail())
		}
	}
	for line := range bytes.Lines(o.Stdout) {
		var x object
		if json.Unmarshal(line, &x) != nil {
			continue
		}
		switch x.Type {
		case "finding":
			add(x)
		case "verdict":
			k := of(x.Kernel)
			k.Verdict, k.Reason = x.Verdict, x.Reason
		case "fix":
			for _, f := range x.Findings {
				f.Kernel = x.Kernel
				add(f)
			}
			k := of(x.Kernel)
			k.Verdict, k.Reason = x.Status, x.Why
		case "sync":
			for _, one := range x.Kernels {
				k := of(one.Kernel)
				k.Verdict, k.Reason = one.placed(), one.stuck()
			}
		case "optimize":
			for _, one := range x.Verdicts {
				k := of(one.Kernel)
				k.Verdict, k.Reason = one.Verdict, one.Reason
			}
		}
	}
	return out
}

// placed is the status of a placement, with the kinds of changes, and with a verdict on the changed
// kernel that is not the expected one.
func (x *object) placed() string {
	out := x.Status
	for _, change := range []string{"inserted", "removed"} {
		for _, b := range x.Barriers {
			if b.Status == change {
				out += ", barriers " + change
				break
			}
		}
	}
	switch x.Verdict {
	case "bug", "unknown", "unsupported":
		if x.Status == "synchronized" || x.Status == "unchanged" {
			out += ", but " + x.Verdict
		}
	}
	return out
}

// stuck is why no placement is right, without the two places that it begins with.
func (x *object) stuck() string {
	if len(x.Stuck) == 0 {
		return ""
	}
	return x.Stuck[0][strings.LastIndex(x.Stuck[0], ": ")+1:]
}

// joined are the facts about the input and its kernels as one.
func joined(list []Facts) Facts {
	all := list[0]
	for _, f := range list[1:] {
		all.Codes, all.Details = append(all.Codes, f.Codes...), append(all.Details, f.Details...)
		if all.Verdict == "" {
			all.Kernel, all.Verdict, all.Reason = f.Kernel, f.Verdict, f.Reason
		}
	}
	return all
}

// frames is how many functions identify a panic. The innermost one alone is often a helper that
// many callers share.
const frames = 3

// guard is the function that reports panics. What calls it differs between a command and a report
// about one.
const guard = ".guarded"

// crash returns the functions in which heddle panicked, by the stack that it prints; nil if it did
// not. A panic of a worker has its own stack in the message, before that of the goroutine that
// passed it on.
func crash(stderr []byte) []string {
	_, text, ok := bytes.Cut(stderr, []byte("heddle: internal error: "))
	if !ok {
		return nil
	}
	out, inPanic := []string{}, false
	for line := range strings.Lines(string(text)) {
		args := strings.LastIndexByte(line, '(')
		switch {
		case strings.HasPrefix(line, "panic("):
			inPanic, out = true, out[:0] // of panics in deferred functions, the first one counts
		case strings.HasPrefix(line, "goroutine ") && inPanic:
			return out
		case !inPanic, args < 0, strings.HasPrefix(line, "\t"), strings.HasPrefix(line, "runtime."):
		case len(out) == frames, strings.HasSuffix(line[:args], guard):
			return out
		default:
			out = append(out, line[:args])
		}
	}
	return out
}

// Interest is what a report is about, and what a reduction keeps.
type Interest struct {
	Crash   []string // not empty: a panic in these functions
	Verdict string   // not empty: this verdict, or status of a repair
	Code    string   // not empty: a finding with this code
	Detail  string   // of that finding; empty: any
	// reason is that of an unknown or unsupported verdict, without names and numbers; empty: any.
	reason string
}

// holds reports whether facts are those of interest. named are the names in the program.
func (i *Interest) holds(f Facts, named func(string) bool) bool {
	switch {
	case len(i.Crash) > 0:
		return slices.Equal(i.Crash, f.Crash)
	case len(f.Crash) > 0:
		return false
	case i.Verdict != "" && i.Verdict != f.Verdict, i.Code != "" && !i.found(f):
		return false
	}
	return i.reason == "" || i.reason == shape(f.Reason, named)
}

// found reports whether facts have the finding of interest.
func (i *Interest) found(f Facts) bool {
	at := slices.Index(f.Codes, i.Code)
	return at >= 0 && (i.Detail == "" || i.Detail == f.Details[at])
}

// trivial reports that less code has the same property: an empty kernel is verified too.
func (i *Interest) trivial() bool {
	return len(i.Crash) == 0 && i.Code == "" &&
		(i.Verdict == "verified" || i.Verdict == "clean" || i.Verdict == "unchanged")
}

// String describes the interest for people.
func (i *Interest) String() string {
	switch {
	case len(i.Crash) > 0:
		return "an internal error in " + strings.Join(i.Crash, ", called by ")
	case i.Verdict == contradiction:
		return "a bug that heddle run finds in a kernel that heddle verify proves"
	case i.Verdict == "":
		return "a finding " + i.Code
	case i.Code == "":
		return "the verdict " + i.Verdict
	}
	return "the verdict " + i.Verdict + " with a finding " + i.Code
}

// variable finds what a reason quotes, words and numbers.
var variable = lazyregexp.New("`[^`]*`|\"[^\"]*\"|[A-Za-z_$%][\\w$]*|[0-9]+")

// shape is a reason without what differs between programs with the same cause: quotations, names of
// the program and numbers.
func shape(reason string, named func(string) bool) string {
	return variable.ReplaceAllStringFunc(reason, func(s string) string {
		if s[0] == '`' || s[0] == '"' || s[0] >= '0' && s[0] <= '9' || named(s) {
			return "_"
		}
		return s
	})
}

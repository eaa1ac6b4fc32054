package weaken

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/launch"
	"heddle/internal/lazyregexp"
	"heddle/internal/lockstep/symbol"
	"heddle/internal/lockstep/thread"
)

// Code outside a kernel that runs at the same time: the host, other GPUs, other kernels. No proof
// covers it. A fence or an order whose scope is the block concerns none of it. For wider ones:
//
// The operation is left alone where it may be half of a protocol with code outside: a release (8.8:
// data is stored, and behind the fence something is stored that code outside may read, by a strong
// access, or by a plain store of a constant, which is a data race there but common), or an acquire
// (a strong read before the fence, and an access behind it). It is also left alone where the file
// shows that other kernels may run at the same time, by streams or graphs. What remains is said
// with the offer: a kernel that does not follow the memory model could still be waited for.
//
// Barriers take part in such protocols, too: one thread announces what all have stored, or waits
// for what all will read. The same rule holds for them, where the kernel has fences or orders
// beyond the block, or strong loads and stores.
//
// The scope of the system is for the host and for other GPUs. It is left alone unless the file has
// the launch, allocates what all pointer arguments point to by cudaMalloc, and names no memory that
// the host or another GPU could access while the kernel runs.

// scopeWords show memory that is accessed from elsewhere while a kernel runs.
var scopeWords = []string{"cudaMallocManaged", "cudaMallocHost", "cudaHostAlloc",
	"cudaHostRegister", "cudaHostGetDevicePointer", "__managed__", "PeerAccess", "cudaIpc",
	"cudaMemAdvise", "cudaMemPrefetchAsync", "nvshmem", "cuMem", "cudaMallocFromPoolAsync"}

// overlapWords show that kernels, or kernels and copies, may run at the same time.
var overlapWords = []string{"cudaStream", "cudaGraph", "cudaLaunchKernelEx", "cuLaunch",
	"cudaMemcpyAsync", "cl_command_queue"}

// assumingDevice is what is assumed where an offer concerns the scope of the device.
const assumingDevice = "no other kernel that runs at the same time waits for it"

// mentioned returns the first of some words that the user's file has, or a header that it includes.
func (w *weakener) mentioned(words []string) string {
	for _, text := range w.ownTexts() {
		for _, word := range words {
			if strings.Contains(string(text), word) {
				return word
			}
		}
	}
	return ""
}

// included matches a header of the user's own.
var included = lazyregexp.New(`(?m)^\s*#\s*include\s*"([^"]+)"`)

// mostHeaders bounds the headers that are read.
const mostHeaders = 200

// ownTexts returns the user's file and the headers that it includes in quotes, as far as they are
// found beside the file that includes them or in the directories for headers.
func (w *weakener) ownTexts() [][]byte {
	if w.own != nil {
		return w.own
	}
	type text struct {
		dir     string
		content []byte
	}
	queue := []text{{filepath.Dir(w.user.Name), w.user.Content}}
	seen := map[string]bool{}
	for i := 0; i < len(queue) && i < mostHeaders; i++ {
		w.own = append(w.own, queue[i].content)
		for _, m := range included.FindAllSubmatch(queue[i].content, -1) {
			for _, dir := range append([]string{queue[i].dir}, w.opt.Common.Lower.Includes...) {
				path := filepath.Join(dir, string(m[1]))
				if content, err := os.ReadFile(path); err == nil && !seen[path] {
					seen[path] = true
					queue = append(queue, text{filepath.Dir(path), content})
					break
				}
			}
		}
	}
	return w.own
}

// streams matches a launch in a stream: the fourth argument of its configuration.
var streams = lazyregexp.New(`<<<[^;]*,[^;]*,[^;]*,[^;]*>>>`)

// beyondDevice returns why the host or another GPU may take part at a site; empty if they cannot.
func (w *weakener) beyondDevice(s *site, l level) string {
	if word := w.mentioned(scopeWords); word != "" {
		return fmt.Sprintf("the host or another GPU may take part (%s)", word)
	}
	for k := range s.in {
		for _, cfg := range k.configs {
			if hasFields(k.fn) || !w.allocated(k, cfg) {
				return "the host or another GPU may take part: " +
					"the file does not show that all memory of the kernel is allocated by cudaMalloc"
			}
		}
		for _, list := range k.facts(l).of {
			for _, a := range list {
				if a.Object == nil {
					return "the host or another GPU may take part: the kernel follows pointers in memory"
				}
			}
		}
	}
	return ""
}

// allocated reports whether the pointers of a launch are variables of the host code that cudaMalloc
// sets: any other memory may be the host's, which some GPUs access as it is.
func (w *weakener) allocated(k *kernel, cfg *launch.Config) bool {
	facts := w.base.in.Facts
	if cfg.Host == 0 || facts == nil || cfg.Host > len(facts.Launches) || len(cfg.Unplaced) > 0 ||
		facts.Beyond(k.fn, cfg, func(string) bool { return true }) != nil {
		return false
	}
	args := facts.Launches[cfg.Host-1].Args
	for i, v := range k.fn.Params {
		if !v.Pointer {
			continue
		}
		if i >= len(args) || !isName(args[i].Text) ||
			!regexp.MustCompile(allocation+args[i].Text+`\b`).Match(w.user.Content) {
			return false
		}
	}
	return true
}

// allocation matches the beginning of a call that allocates memory of the device, up to the
// variable.
const allocation = `\bcudaMalloc(Async)?\s*\(\s*(\(void\s*\*\*\)\s*)?&\s*`

// isName reports whether a text is one identifier.
func isName(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return r > unicode.MaxASCII || !isWord(byte(r))
	})
}

// hasFields reports whether a kernel has pointers in structs among its parameters.
func hasFields(f *ir.Func) bool {
	return slices.ContainsFunc(f.Params, func(v *ir.Var) bool { return len(v.PtrFields) > 0 })
}

// beyondKernel returns why another kernel may take part in what the instructions of a site order,
// at the scope of the device; empty if nothing shows it.
func (w *weakener) beyondKernel(s *site, l level) string {
	if word := w.mentioned(overlapWords); word != "" {
		return fmt.Sprintf("another kernel may run at the same time and take part (%s)", word)
	}
	if streams.Match(withoutComments(w.user.Content)) {
		return "another kernel may run at the same time and take part (launches in streams)"
	}
	for k, list := range s.in {
		if converses(k.fn, false) {
			return "the kernel may wait for code outside, or tell it something: it has volatile or relaxed " +
				"accesses to global memory"
		}
		f := k.facts(l)
		for _, in := range list {
			if why := f.protocol(in); why != "" {
				return why
			}
		}
	}
	return ""
}

// protocol returns why an instruction that orders accesses, a fence or an atomic operation, may be
// half of a protocol with code outside the kernel.
func (f *facts) protocol(at *ir.Instr) string {
	stored, read := f.before(at)
	switch {
	case isUpdate(at) && stored && global(f.of[at]):
		return "code outside the kernel may wait for it before it reads what was stored before"
	case isUpdate(at) && f.brackets(at):
		return "it may tell code outside the kernel that what is stored behind it is incomplete"
	case isUpdate(at) && f.reads(at):
		read = true
	}
	for in, list := range f.of {
		if !global(list) || !f.leads(at, in) || in == at {
			continue
		}
		switch {
		case stored && writes(in) && (in.Order.Strong() || f.constant(list)):
			return fmt.Sprintf("code outside the kernel may wait for the %s in line %d",
				accessText(in), lineOf(in))
		case read && in.Action() != isa.ActStore && !isUpdate(at),
			read && in.Action() == isa.ActLoad:
			return fmt.Sprintf("it may order the access in line %d, which reads what code outside the "+
				"kernel may have stored", lineOf(in))
		}
	}
	return ""
}

// handsOver returns why a barrier may order what is passed to code outside the kernel, or comes
// from there.
func (f *facts) handsOver(at *ir.Instr) string {
	stored, read := f.before(at)
	for in, list := range f.of {
		if !global(list) || !f.leads(at, in) {
			continue
		}
		announces := f.fences && (isUpdate(in) || f.constant(list)) ||
			in.Action() == isa.ActStore && in.Order.Strong()
		switch {
		case stored && announces:
			return fmt.Sprintf("code outside the kernel may wait for the %s in line %d",
				accessText(in), lineOf(in))
		case read && in.Action() == isa.ActLoad:
			return fmt.Sprintf("it may order the access in line %d, which reads what code outside the "+
				"kernel may have stored", lineOf(in))
		}
	}
	return ""
}

// beyondBarrier returns why what a barrier orders may concern code outside the kernel; empty if
// nothing shows it.
func (s *site) beyondBarrier(l level) string {
	for k, list := range s.in {
		if converses(k.fn, true) {
			return "the kernel may wait for code outside, or tell it something: it has volatile or relaxed " +
				"accesses, or atomic operations with results, in global memory"
		}
		f := k.facts(l)
		for _, in := range list {
			if why := f.handsOver(in); why != "" {
				return why
			}
		}
	}
	return ""
}

// brackets reports whether an update, a store and another update of the same array may follow each
// other, as where a version is counted before and after a change.
func (f *facts) brackets(at *ir.Instr) bool {
	for in, list := range f.of {
		if !global(list) || in.Action() != isa.ActStore || !f.leads(at, in) {
			continue
		}
		for u, other := range f.of {
			if u != at && sameArray(other, f.of[at]) && f.leads(in, u) {
				return true
			}
		}
	}
	return false
}

// before reports whether a store to global memory may precede an instruction, and a strong read.
func (f *facts) before(at *ir.Instr) (stored, read bool) {
	for in, list := range f.of {
		if global(list) && f.leads(in, at) {
			stored = stored || writes(in) && !sameArray(list, f.of[at])
			read = read || f.reads(in)
		}
	}
	return stored, read
}

// reads reports whether an instruction reads by a strong access what is used.
func (f *facts) reads(in *ir.Instr) bool {
	return in.Order.Strong() && in.Action() == isa.ActLoad || isUpdate(in) && isUsed(in, f.used)
}

// constant reports whether accesses store a value that all threads of the launch know, as plain
// stores of a flag do: a constant, or one that follows from the arguments.
func (f *facts) constant(list []*thread.Access) bool {
	other := func(name string) bool { return !symbol.IsParam(name) }
	for _, a := range list {
		if len(a.Values) > 0 && !symbol.Any(f.th.Context, a.Values[0], other) {
			return true
		}
	}
	return false
}

// global reports whether accesses may be to global memory.
func global(list []*thread.Access) bool {
	for _, a := range list {
		if a.Space != event.Shared {
			return true
		}
	}
	return false
}

func writes(in *ir.Instr) bool { return in.Action() == isa.ActStore || isUpdate(in) }

// sameArray reports whether all accesses of two instructions are to one array, and the first is an
// update: the sums of one array do not announce each other.
func sameArray(a, b []*thread.Access) bool {
	if len(a) == 0 || len(b) == 0 || !isUpdate(a[0].Instr) {
		return false
	}
	for _, x := range a {
		for _, y := range b {
			if x.Object == nil || x.Object != y.Object {
				return false
			}
		}
	}
	return true
}

func accessText(in *ir.Instr) string {
	switch {
	case isUpdate(in):
		return "atomic operation"
	case in.Action() == isa.ActStore:
		return "store"
	}
	return "access"
}

func lineOf(in *ir.Instr) int {
	f := in.Loc
	for f != nil && f.Parent != nil {
		f = f.Parent
	}
	if f == nil {
		return 0
	}
	return f.Pos.Line()
}

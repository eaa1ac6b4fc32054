package exec

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/emu"
	"heddle/internal/host"
	"heddle/internal/irgen"
	"heddle/internal/launch"
	"heddle/internal/lazyregexp"
	"heddle/internal/lower"
	"heddle/internal/ptx"
	"heddle/internal/source"
)

// process is what heddle knows of a process that uses CUDA, whatever executes its kernels: places
// in its host code, names of its memory, and what was found in it.
type process struct {
	r      *runner
	input  string // the program in reports
	hello  host.Hello
	memory *emu.Arena
	sites  *host.Sites
	files  *source.Set
	driver *driver.Driver

	spare     func() bool // the process has ended by itself: it is not to be ended
	kernels   []*kernel
	problems  []diag.Verdict
	executing *kernel      // whose launch is being executed
	launch    *host.Launch // that launch
	cwd       string
	libraries []string            // directories of the libraries that modules were compiled with
	texts     map[string][]string // lines of the files in which memory is allocated
	names     map[uint64]string   // of allocations, by the return address of the call
	apart     int                 // findings that belong to no kernel
	aside     driver.Aside        // those of them that do not count
}

// open prepares p for a process whose memory is at the addresses of an arena. progress may be nil.
func (p *process) open(r *runner, h host.Hello, a *emu.Arena, progress func(driver.Progress)) {
	p.r, p.hello, p.memory, p.sites, p.files = r, h, a, host.NewSites(h), r.shown
	p.texts, p.names = make(map[string][]string), make(map[uint64]string)
	p.cwd, _ = os.Getwd()
	common := r.opt.Common
	common.Files, common.Progress = p.files, progress
	if p.input = p.shown(h.Path); r.opt.Name != "" && h.Process == r.process {
		p.input = r.opt.Name
	}
	p.driver = driver.New(common, p.finding)
	p.driver.Open(p.input)
	// What a make has started would run on when the make is ended.
	p.spare = context.AfterFunc(r.ctx, func() {
		if p, err := os.FindProcess(h.Process); err == nil {
			_ = p.Signal(syscall.SIGTERM)
		}
	})
}

// allocatedRE matches a call that allocates, up to the variable that receives the address.
var allocatedRE = lazyregexp.New(`\bcuda(?:Malloc|HostAlloc)\w*\s*\(\s*` +
	`(?:\(\s*void\s*\*\s*\*\s*\)\s*|reinterpret_cast<\s*void\s*\*\*\s*>\s*\(\s*)?&?\s*` +
	variableText)

// variableText matches a variable, or a member or element of one.
const variableText = `([A-Za-z_]\w*(?:(?:\.|->)\w+|\[\w+\])*)`

// finding prints a finding at once: the program may run for long, or crash.
func (p *process) finding(d diag.Diagnostic) {
	p.r.mu.Lock()
	defer p.r.mu.Unlock()
	if d.Severity == diag.Warning && d.Suppressed == nil {
		p.r.sum.Warnings++
	}
	_ = p.r.sum.printer.Finding(&d)
}

// stack returns the host's calls that led to a launch by caller; nothing if main makes it itself.
// Functions of system headers, of libraries and of heddle's own are left out.
func (p *process) stack(caller uint64, callers []uint64) string {
	var frames []string
	for _, addr := range append([]uint64{caller}, callers...) {
		for _, f := range p.sites.Frames(addr) {
			if f.Line == 0 || strings.HasPrefix(f.File, "/usr/") || p.isForeign(f.File) {
				continue
			}
			frames = append(frames, fmt.Sprintf("%s at %s:%d", f.Func, p.shown(f.File), f.Line))
		}
	}
	if len(frames) < 2 {
		return ""
	}
	return strings.Join(frames, ", called by ")
}

// siteOf returns the place of a call in the host code. What the compiler has inlined there from
// heddle's headers, such as the constructor of the dim3 of a launch, is part of the call.
func (p *process) siteOf(caller uint64) host.Site {
	site := p.sites.Of(caller)
	if !lower.IsHeader(site.File) {
		return site
	}
	for _, f := range p.sites.Frames(caller) {
		if f.Line != 0 && !lower.IsHeader(f.File) {
			return f.Site
		}
	}
	return site
}

// isForeign reports whether a file of host code is one of heddle's headers or of a library that a
// module was compiled with.
func (p *process) isForeign(file string) bool {
	name := p.shown(file)
	return lower.IsHeader(file) || slices.ContainsFunc(p.libraries, func(dir string) bool {
		return strings.HasPrefix(name, dir)
	})
}

// placeOf is place for a launch. If a library makes it, it is that of the call of the library.
func (p *process) placeOf(l *host.Launch) string {
	if site := p.siteOf(l.Caller); site.Line == 0 || !p.isForeign(site.File) {
		return p.place(l.Caller)
	}
	for _, addr := range append([]uint64{l.Caller}, l.Callers...) {
		for _, f := range p.sites.Frames(addr) {
			if f.Line != 0 && !strings.HasPrefix(f.File, "/usr/") && !p.isForeign(f.File) {
				return fmt.Sprintf(" at %s:%d", p.shown(f.File), f.Line)
			}
		}
	}
	return p.place(l.Caller)
}

// verdict records and prints a verdict.
func (p *process) verdict(v diag.Verdict) {
	if v.Input == "" {
		v.Input = p.input
	}
	p.r.sum.Verdicts = append(p.r.sum.Verdicts, v)
	_ = p.r.sum.printer.Verdict(&v)
}

// problem records what could not be loaded: a launch that needs it fails.
func (p *process) problem(kind diag.VerdictKind, kernel, format string, args ...any) {
	p.problems = append(p.problems, diag.Verdict{Kind: kind, Kernel: kernel,
		Reason: fmt.Sprintf(format, args...)})
}

// shown returns the name of a file as reports print it: relative to the working directory if it is
// below it.
func (p *process) shown(name string) string {
	if rel, ok := strings.CutPrefix(name, p.cwd+string(filepath.Separator)); ok {
		return rel
	}
	return name
}

// place names the place of a call in the host code: " at main.cu:12", or nothing.
func (p *process) place(caller uint64) string {
	site := p.siteOf(caller)
	if site.Line == 0 {
		return ""
	}
	return fmt.Sprintf(" at %s:%d", p.shown(site.File), site.Line)
}

// receiver returns the expression that receives the result in a call at a place: d_out in
// cudaMalloc(&d_out, n), for a call that calls matches. It returns "" if the text of the line does
// not show it.
func (p *process) receiver(site host.Site, calls *lazyregexp.Regexp) string {
	lines, ok := p.texts[site.File]
	if !ok {
		text, _ := source.ReadRegular(site.File, 1<<24) // a file that cannot be read names nothing
		lines = strings.Split(string(text), "\n")
		p.texts[site.File] = lines
	}
	if site.Line == 0 || site.Line > len(lines) {
		return ""
	}
	line := lines[site.Line-1]
	if m := calls.FindStringSubmatch(line[min(max(site.Col-1, 0), len(line)):]); m != nil {
		return m[1]
	}
	return ""
}

// nameOf returns the name of an allocation: "d_out, allocated at main.cu:12".
func (p *process) nameOf(a host.Allocation) string {
	at := p.place(a.Caller)
	if at == "" {
		return a.Kind.String()
	}
	if r := p.receiver(p.siteOf(a.Caller), allocatedRE); r != "" {
		return r + ", allocated" + at
	}
	return a.Kind.String() + " allocated" + at
}

// mark adds the launch to a finding.
func (p *process) mark(d *diag.Diagnostic) {
	notes := []string{fmt.Sprintf("in launch %d of this kernel%s", p.executing.launches,
		p.placeOf(p.launch))}
	if stack := p.stack(p.launch.Caller, p.launch.Callers); stack != "" {
		notes = append(notes, "host call stack: "+stack)
	}
	d.Notes = append(notes, d.Notes...)
}

// relative makes the names of files below the working directory relative to it, as far as they are
// in the lines of PTX that name files: a build knows the files by absolute names.
func (p *process) relative(text []byte) []byte {
	below := []byte(p.cwd + string(filepath.Separator))
	if len(below) < 2 || !bytes.Contains(text, below) {
		return text
	}
	var out []byte
	for line := range bytes.Lines(text) {
		t := bytes.TrimSpace(line)
		if bytes.HasPrefix(t, []byte(".file")) || bytes.HasPrefix(t, []byte("// heddle.")) {
			line = bytes.ReplaceAll(line, below, nil)
		}
		out = append(out, line...)
	}
	return out
}

// parse reads the PTX of a module, and returns its text and tree.
func (p *process) parse(m *module, name string, text []byte) (*source.File, *ptx.File, error) {
	file, err := p.files.Add(name, text)
	if err != nil {
		return nil, nil, err
	}
	tree, errs := ptx.Parse(file)
	if len(errs) == 0 {
		mod, genErrs := irgen.Module(p.files, tree)
		if errs = genErrs; len(errs) == 0 {
			m.driver = &driver.Module{Name: p.hello.Path, IR: mod, Several: true,
				Lowered: &lower.Result{Name: name, Lang: lower.CUDA, PTX: text}}
			p.libraries = append(p.libraries, mod.Libraries...)
			p.driver.ReadComments(m.driver)
			return file, tree, nil
		}
	}
	return nil, nil, fmt.Errorf("%s: %s", p.files.Format(errs[0].Span.Start), errs[0].Msg)
}

// find returns the memory that a pointer points to, for the description of a launch.
func (p *process) find(addr uint64) *launch.Memory {
	a, ok := p.memory.Find(addr)
	if !ok {
		return nil
	}
	return &launch.Memory{Name: a.Name, Addr: a.Addr, Size: a.Size}
}

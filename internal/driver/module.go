package driver

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"heddle/internal/diag"
	"heddle/internal/ir"
	"heddle/internal/irgen"
	"heddle/internal/launch"
	"heddle/internal/lower"
	"heddle/internal/ptx"
	"heddle/internal/source"
)

// Module is one module of PTX: a file of the command line after lowering, or a part of one.
type Module struct {
	Name    string // of the file, as the user named it
	Lowered *lower.Result
	IR      *ir.Module
	Facts   *launch.SourceFacts // pragmas and host launches in the file itself
	Several bool                // the file has more than one kernel or module

	text  *source.File      // of the PTX, see PTX
	read  map[string][]byte // what was read to find launches, by name
	once  sync.Once         // for texts
	texts []Text
}

// FromSource reports whether the module was compiled from CUDA C++ or OpenCL C.
func (m *Module) FromSource() bool {
	return m.Lowered != nil && (m.Lowered.Lang == lower.CUDA || m.Lowered.Lang == lower.OpenCL)
}

// CUDA and OpenCL report the language of the module's source; neither is true for PTX and others.
func (m *Module) CUDA() bool { return m.Lowered != nil && m.Lowered.Lang == lower.CUDA }

// OpenCL is described with CUDA.
func (m *Module) OpenCL() bool { return m.Lowered != nil && m.Lowered.Lang == lower.OpenCL }

// Kernels returns the kernels of a module that have a body.
func (m *Module) Kernels() []*ir.Func {
	var out []*ir.Func
	for _, f := range m.IR.Funcs {
		if f.Kernel && f.Blocks != nil {
			out = append(out, f)
		}
	}
	return out
}

// omitted returns the kernels of a module that are not in its PTX, for their names.
func (m *Module) omitted() []*ir.Func {
	var out []*ir.Func
	for _, k := range m.Lowered.Omitted {
		out = append(out, &ir.Func{Name: k.Name, Demangled: k.Demangled})
	}
	return out
}

// Lower returns the modules of one file; none if it has mistakes, which are reported.
func (d *Driver) Lower(ctx context.Context, file Input) []*lower.Result {
	return d.LowerWith(ctx, file, d.opt.Lower)
}

// LowerWith is Lower with options other than those of the run. A file that was only found in a
// directory and has no kernel gives no modules and no error. If ctx ends, the file has a verdict
// that says so.
func (d *Driver) LowerWith(ctx context.Context, file Input, opt lower.Options) []*lower.Result {
	return d.lowered(ctx, file, compile(ctx, file, opt))
}

// lowered reports what is to be said of a file that was compiled, and returns its modules.
func (d *Driver) lowered(ctx context.Context, file Input, c compiled) []*lower.Result {
	results, err := c.results, c.err
	d.sum.Times.Compile += c.took
	if why := Stopped(ctx); err != nil && why != "" { // the compiler was killed: no mistake of the user
		d.unread(why)
		return nil
	}
	if err != nil {
		var ie *lower.InputError
		if file.Found && errors.As(err, &ie) && ie.NoKernel {
			return nil
		}
		d.LowerError(file, err)
		return nil
	}
	for _, low := range results {
		d.warnings(low)
		d.omitted(file, low)
	}
	return results
}

// warnings reports what lowering left out. For source files these are parts of the host code. The
// first one is enough there, because the kernels are complete.
func (d *Driver) warnings(low *lower.Result) {
	list, code := low.Warnings, diag.CodeInput
	if low.Lang != lower.Binary {
		code = diag.CodeHostCode
		if n := len(list); n > 1 {
			list = []string{fmt.Sprintf("%s (and %d more)", list[0], n-1)}
		}
	}
	for _, w := range list {
		d.report(diag.Diagnostic{Code: code, Severity: diag.Warning, Message: w})
	}
}

// selects is Select for a kernel of which only the names are known.
func (d *Driver) selects(k lower.Kernel) bool {
	named := &ir.Func{Name: k.Name, Demangled: k.Demangled}
	return d.opt.Kernel == "" || launch.Matches(named, d.opt.Kernel)
}

// skipsModule reports whether a module of a binary has no selected kernel and need not be parsed: a
// binary may hold hundreds of modules. It records the names of the kernels.
func (d *Driver) skipsModule(low *lower.Result) bool {
	if low.Lang != lower.Binary || d.opt.Kernel == "" ||
		slices.ContainsFunc(low.Kernels, d.selects) {
		return false
	}
	for _, k := range low.Kernels {
		d.seen = append(d.seen, launch.BaseName(k.Demangled))
	}
	return true
}

// omitted records that kernels that are not in the PTX are unsupported. Without this verdict they
// would look as if they did not exist.
func (d *Driver) omitted(file Input, low *lower.Result) {
	list := slices.Clone(low.Omitted)
	for _, k := range low.SASS {
		list = append(list, lower.Omitted{Kernel: k,
			Reason: file.Name + " holds only machine code (SASS) for it, no PTX; build with " +
				"-gencode arch=compute_80,code=compute_80 (or your architecture)"})
	}
	for _, k := range list {
		d.leftOut(k)
	}
}

// leftOut records one kernel that is not examined.
func (d *Driver) leftOut(k lower.Omitted) {
	d.seen = append(d.seen, launch.BaseName(k.Demangled))
	if d.selects(k.Kernel) {
		d.examined++
		d.verdict(diag.Verdict{Kind: diag.Unsupported, Kernel: k.Demangled, Reason: k.Reason})
	}
}

// Parse reads one module; nil if it is not valid PTX, which is reported.
func (d *Driver) Parse(file Input, low *lower.Result) *Module {
	start := time.Now()
	defer func() { d.sum.Times.Read += time.Since(start) }()
	m := &Module{Name: file.Name, Lowered: low}
	text, err := d.opt.Files.Add(low.Name, low.PTX)
	if err != nil {
		d.InputError(diag.Diagnostic{
			Code: diag.CodeInput, Severity: diag.Error, Message: err.Error(),
		})
		return nil
	}
	m.Facts = d.scan(file, m, text)
	if m.Facts != nil {
		if d.opt.MayRead != nil {
			m.Facts.Confine(d.opt.MayRead)
		}
		for _, e := range m.Facts.Errs {
			d.InputError(launchDiagnostic("", e))
		}
	}
	if m.IR = d.readPTX(m, text); m.IR == nil {
		return nil
	}
	d.metadata(file, m)
	m.Several = len(m.Kernels()) > 1
	return m
}

// scan reads the pragmas and host launches in the text that the user wrote; nil if the input is a
// binary or its source cannot be read.
func (d *Driver) scan(file Input, m *Module, text *source.File) *launch.SourceFacts {
	switch m.Lowered.Lang {
	case lower.PTX:
		return launch.ScanPTX(text)
	case lower.CUDA:
		if f := d.AddText(file.Name, file.Content); f != nil {
			return launch.ScanCUDA(f, &launch.Preprocessing{
				Defines: slices.Concat(file.Flags.Defines, d.opt.Lower.Defines),
				Include: d.headers(m, slices.Concat(file.Flags.Includes, d.opt.Lower.Includes)),
				System:  lower.LaunchMacros,
			})
		}
	case lower.OpenCL:
		if f := d.AddText(file.Name, file.Content); f != nil {
			return launch.ScanOpenCL(f)
		}
	}
	return nil
}

// maxHeader bounds the headers that are read for host code, in bytes.
const maxHeader = 1 << 18

// headers returns a function that opens what a source file includes by "name": in the directory of
// the file, or else in the include directories, as compilers do.
func (d *Driver) headers(m *Module, dirs []string) func(from, name string) (string, []byte) {
	return func(from, name string) (string, []byte) {
		for _, dir := range append([]string{filepath.Dir(from)}, dirs...) {
			path := filepath.Join(dir, name)
			if !d.mayRead(path) {
				continue
			}
			if text, err := d.readFile(m, path, maxHeader); err == nil {
				return path, text
			}
		}
		return "", nil
	}
}

// mayRead reports whether a file may be read that an input names.
func (d *Driver) mayRead(path string) bool { return d.opt.MayRead == nil || d.opt.MayRead(path) }

// maxText bounds the bytes of a file whose lines findings show.
const maxText = 256 << 20

// AddText adds the text of a user's file to the set of files, and reads it if content is nil. It
// returns nil if the file cannot or may not be read: findings then have no source lines. The name
// may come from a #line directive, so the file need not be regular.
func (d *Driver) AddText(name string, content []byte) *source.File {
	f := d.opt.Files.Named(name)
	if f == nil || f.Content != nil {
		return f
	}
	if content == nil {
		if !d.mayRead(name) {
			return nil
		}
		var err error
		if content, err = d.read(name, maxText); err != nil {
			return nil
		}
	}
	return d.opt.Files.Fill(name, content)
}

// syntaxErrors reports mistakes in PTX. Those in PTX that lowering produced are a bug of heddle,
// and the note says so.
func (d *Driver) syntaxErrors(errs []*ptx.Error, m *Module) {
	for _, e := range errs {
		g := diag.Diagnostic{
			Code: diag.CodeSyntax, Severity: diag.Error, Message: e.Msg, Span: e.Span,
		}
		switch m.Lowered.Lang {
		case lower.PTX:
		case lower.Binary:
			g.Notes = []string{fmt.Sprintf("this is image %d of %s; heddle ptx --image %d %s prints it",
				m.Lowered.Image, m.Name, m.Lowered.Image, launch.Quote(m.Name))}
		default:
			g.Notes = []string{fmt.Sprintf("heddle generated this PTX from %s: the mistake is "+
				"a bug in heddle, or in inline assembly of that file", m.Name)}
		}
		d.InputError(g)
	}
}

func launchDiagnostic(kernel string, e *launch.Error) diag.Diagnostic {
	g := diag.Diagnostic{
		Code: diag.CodeLaunch, Severity: diag.Error, Message: e.Msg, Span: e.Span, Kernel: kernel,
	}
	if e.Help != "" {
		g.Help = []string{e.Help}
	}
	return g
}

// LowerError reports why a file could not be lowered.
func (d *Driver) LowerError(file Input, err error) {
	g := diag.Diagnostic{Code: diag.CodeInput, Severity: diag.Error, Message: err.Error()}
	var ce *lower.CompileError
	if errors.As(err, &ce) {
		g.Code = diag.CodeCompile
		g.Message = file.Name + ": the compiler rejects the file"
		g.Notes = strings.Split(strings.TrimRight(ce.Output, "\n"), "\n")
		for _, line := range g.Notes {
			if m, ok := ReadCompilerLine(d.Files(), line); ok && m.Severity == diag.Error {
				g.Span = m.Span
				break
			}
		}
		if ce.Help != "" {
			g.Help = []string{ce.Help}
		}
	}
	d.InputError(g)
}

// noKernel reports that no kernel was examined. If a name matched none, it lists those that exist.
func (d *Driver) noKernel(inputs []Input) {
	g := diag.Diagnostic{Code: diag.CodeInput, Severity: diag.Error}
	switch {
	case len(d.seen) == 0:
		g.Message = fmt.Sprintf("no kernel in %s", listed(inputs))
	case d.opt.Kernel == "":
		g.Message = fmt.Sprintf("no kernel in %s but those of libraries", listed(inputs))
		g.Help = []string{"heddle exec examines them in the program, with its launches"}
	default:
		slices.Sort(d.seen)
		g.Message = fmt.Sprintf("no kernel %q", d.opt.Kernel)
		names, more := slices.Compact(d.seen), ""
		if n := len(names) - mostNames; n > 0 {
			names, more = names[:mostNames], fmt.Sprintf(" and %d more", n)
		}
		g.Help = []string{"the kernels are: " + strings.Join(names, ", ") + more}
	}
	d.InputError(g)
}

// mostNames bounds a list of kernels in a message: libraries have thousands.
const mostNames = 40

// listed names the first few inputs.
func listed(inputs []Input) string {
	const most = 5
	var names []string
	for _, in := range inputs[:min(len(inputs), most)] {
		names = append(names, in.Name)
	}
	s := strings.Join(names, ", ")
	if n := len(inputs) - most; n > 0 {
		s += fmt.Sprintf(" and %d more files", n)
	}
	return s
}

// SyntaxError returns the first mistake in PTX text, and says how many more there are; nil if there
// is none.
func SyntaxError(name string, text []byte) error {
	files := source.NewSet()
	f, err := files.Add(name, text)
	if err != nil {
		return err
	}
	tree, errs := ptx.Parse(f)
	if len(errs) == 0 {
		_, errs = irgen.Module(files, tree) // which also knows the opcodes
	}
	if len(errs) == 0 {
		return nil
	}
	more := ""
	if n := len(errs) - 1; n > 0 {
		more = fmt.Sprintf(" (and %d more; heddle check lists them)", n)
	}
	return fmt.Errorf("%s: %s%s", files.Format(errs[0].Span.Start), errs[0].Msg, more)
}

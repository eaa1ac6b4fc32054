package driver

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"heddle/internal/diag"
	"heddle/internal/ir"
	"heddle/internal/irgen"
	"heddle/internal/lazyregexp"
	"heddle/internal/lower"
	"heddle/internal/ptx"
	"heddle/internal/source"
)

// Inline assembly that is not PTX, such as that for another vendor's GPU, is copied by compilers as
// it is. It costs the kernels that contain it, and not the others of the file.

// entryRE matches the head of a kernel in the PTX of a compiler, up to its name.
var entryRE = lazyregexp.New(`(?m)^\s*(\.visible\s+|\.weak\s+)*\.entry\s+([\w$.]+)`)

// readPTX reads the PTX of a module. Of PTX that a compiler wrote it takes out the kernels with
// mistakes, which become unsupported. It reports other mistakes, and returns nil then.
func (d *Driver) readPTX(m *Module, text *source.File) *ir.Module {
	for {
		mod, errs := d.readOnce(text)
		if m.text = text; len(errs) == 0 {
			return mod
		}
		rest := d.takeOut(m, text, errs)
		if rest == nil {
			d.syntaxErrors(errs, m)
			return nil
		}
		var err error
		if text, err = d.opt.Files.Add(m.Lowered.Name, rest); err != nil {
			d.InputError(diag.Diagnostic{Code: diag.CodeInput, Severity: diag.Error, Message: err.Error()})
			return nil
		}
	}
}

// readOnce returns the IR of a text, or its mistakes.
func (d *Driver) readOnce(text *source.File) (*ir.Module, []*ptx.Error) {
	tree, errs := ptx.Parse(text)
	if len(errs) > 0 {
		return nil, errs
	}
	return irgen.Module(d.opt.Files, tree)
}

// takeOut returns the text without the kernels that contain mistakes, which it reports as
// unsupported; nil if a mistake is elsewhere, or if no kernel would be left.
func (d *Driver) takeOut(m *Module, text *source.File, errs []*ptx.Error) []byte {
	if m.Lowered.Lang == lower.PTX || m.Lowered.Lang == lower.Binary {
		return nil
	}
	out := bytes.Clone(text.Content)
	reasons := map[string]string{}
	for _, e := range errs {
		off, ok := text.Offset(e.Span.Start)
		if !ok {
			return nil
		}
		name, start, end := entryAt(text.Content, off)
		if name == "" {
			return nil
		}
		if reasons[name] == "" {
			line, _ := text.Line(e.Span.Start.Line())
			reasons[name] = fmt.Sprintf("its inline assembly is not PTX: %s in \"%s\"", e.Msg,
				strings.TrimSpace(line))
		}
		for i := start; i < end; i++ {
			if out[i] != '\n' {
				out[i] = ' '
			}
		}
	}
	if !entryRE.Match(out) {
		return nil
	}
	d.withoutKernels(m, reasons)
	return out
}

// entryAt returns the name and the extent of the kernel with an offset in its body; "" if there is
// none. A compiler ends functions by a brace at the start of a line.
func entryAt(text []byte, off int) (name string, start, end int) {
	for _, m := range entryRE.FindAllSubmatchIndex(text[:off], -1) {
		name, start = string(text[m[4]:m[5]]), m[0]
	}
	size := bytes.Index(text[start:], []byte("\n}"))
	if end = start + size + 2; name == "" || size < 0 || off >= end {
		return "", 0, 0
	}
	return name, start, end
}

// withoutKernels reports kernels as unsupported, with the reasons.
func (d *Driver) withoutKernels(m *Module, reasons map[string]string) {
	for _, k := range m.Lowered.Kernels {
		if reason := reasons[k.Name]; reason != "" {
			d.leftOut(lower.Omitted{Kernel: k, Reason: reason})
		}
	}
	m.Lowered.Kernels = slices.DeleteFunc(slices.Clone(m.Lowered.Kernels),
		func(k lower.Kernel) bool { return reasons[k.Name] != "" })
}

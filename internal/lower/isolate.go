package lower

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"heddle/internal/lazyregexp"
)

// llc ends at the first function that it cannot lower, such as one with a computed goto, and prints
// nothing for the others. Then each kernel is lowered alone, with what it reaches, to find those
// that fail. The rest is lowered once more, as one module.

// mostIsolated bounds the kernels that are lowered alone: each is a run of llc.
const mostIsolated = 100

// omitFailing lowers a module for which llc has failed with first, without the kernels that fail
// alone, and returns these. It returns first if no kernel is left, or if each alone succeeds.
func (b *build) omitFailing(ctx context.Context, m *irModule, first error) (*lowered, []byte,
	[]Omitted, error) {
	var failure *ToolError
	var kernels []*irFunc
	for _, f := range m.funcs {
		if f.kernel {
			kernels = append(kernels, f)
		}
	}
	if !errors.As(first, &failure) || len(kernels) < 2 || len(kernels) > mostIsolated {
		return nil, nil, nil, first
	}
	g := newCallGraph(m)
	var out []Omitted
	var kept []*irFunc
	for _, k := range kernels {
		_, _, err := b.lowerModule(ctx, m.without(kernels, []*irFunc{k}))
		reason := g.needs(k.name, nil)
		switch {
		case errors.As(err, &failure):
			reason = failure.reason()
		case err != nil:
			return nil, nil, nil, err
		}
		if reason == "" {
			kept = append(kept, k)
		} else {
			out = append(out, Omitted{named([]string{k.name})[0], reason})
		}
	}
	if len(kept) == 0 || len(out) == 0 {
		return nil, nil, nil, first
	}
	low, raw, err := b.lowerModule(ctx, m.without(kernels, kept))
	return low, raw, out, err
}

// dagRE matches an address of a node by which LLVM names it: another one in each run.
var dagRE = lazyregexp.New(`0x[0-9a-f]{6,}[:,]? ?`)

// reason returns why a tool failed, in one line without the name of the file.
func (e *ToolError) reason() string {
	line, _, _ := strings.Cut(strings.TrimSpace(e.Output), "\n")
	if strings.Contains(line, "Cannot select") && strings.Contains(line, "= brind") {
		return "it has a computed goto (goto *p), for which PTX has no instruction; use a switch"
	}
	line = clip(dagRE.ReplaceAllString(line, ""), 200)
	return fmt.Sprintf("it cannot be lowered to PTX: %s: %s", filepath.Base(e.Tool), line)
}

// without returns a module without the functions of a list, apart from those of another list. It
// shares all that it does not change.
func (m *irModule) without(drop, keep []*irFunc) *irModule {
	out := *m
	out.named = slices.Clone(m.named)
	out.meta = make(map[string]string, len(m.meta))
	maps.Copy(out.meta, m.meta)
	out.keepOnly(slices.DeleteFunc(slices.Clone(m.funcs), func(f *irFunc) bool {
		return slices.Contains(drop, f) && !slices.Contains(keep, f)
	}))
	return &out
}

// lowerModule runs llc on a module in analysis form, without what only other files may call.
func (b *build) lowerModule(ctx context.Context, m *irModule) (*lowered, []byte, error) {
	low := lowerIR(m, b.debugInfo(m), b.opt.OptLevel == "", false)
	llc, err := start(ctx, b.tc.Llc, b.llcArgs())
	if err != nil {
		return nil, nil, err
	}
	ir, err := b.registers(ctx, low)
	if err != nil {
		return nil, nil, err
	}
	raw, err := llc.finish(ir)
	if err != nil {
		return nil, nil, b.toolError(ctx, llc, err)
	}
	return low, raw, nil
}

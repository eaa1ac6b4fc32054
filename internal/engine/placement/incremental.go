package placement

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"heddle/internal/cache"
	"heddle/internal/diag"
	"heddle/internal/digest"
	"heddle/internal/driver"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/launch"
	"heddle/internal/lower"
	placer "heddle/internal/place"
	"heddle/internal/source"
	"heddle/internal/syntax"
)

// Incremental searches keep the result for each kernel in a file, and take it from there as long as
// nothing changes on which it depends.
//
// The name of the file is a digest of everything that decides the result: the program heddle
// itself, the options, the launch with the contents of its buffers, the instructions of the kernel
// and of what it calls with the statements that they belong to, and the texts of these functions
// with the lines within them. Line numbers count from the first line of the function, so that an
// edit above it changes nothing. Only results that were verified are kept, with their verdicts. As
// in the caches of compilations and of answers, the directory is the user's own, and a checksum
// finds damage.

// earlierFormat is part of the path. It changes with the format; a change of heddle needs no other
// one.
const earlierFormat = "placements-1"

// mostEarlier is how many results are kept.
const mostEarlier = 5_000

// earlier is the result for one kernel in a file.
type earlier struct {
	Funcs     []extent // that the lines in texts belong to
	Result    *placer.Result
	Given     bool
	Elsewhere []string
	Spaces    []spaces
	Verdict   diag.Verdict
	Proved    digest.Sum // of the kernel that the verdict is about
}

// extent is where a function is in a file.
type extent struct {
	File     string
	From, To int // lines
}

// spaces are the memory spaces in which two statements race.
type spaces struct {
	Race   [2]placer.Label
	Spaces []event.Space
}

// earlierDir returns the directory of earlier results; empty: they are not wanted, or there is no
// cache.
func (s *syncer) earlierDir() string {
	if !s.opt.Incremental {
		return ""
	}
	dir := lower.CacheDir(s.opt.Common.Lower)
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, earlierFormat)
}

// path returns the file for the result of a search; empty if the result depends on something that
// has no digest, such as where output goes.
func (f *found) path() string {
	m := f.marked
	dir := m.s.earlierDir()
	if dir == "" {
		return ""
	}
	f.functions = m.functions()
	program, known := cache.Program()
	if !known {
		return ""
	}
	values := []any{program, m.tree, m.scalars, texts(f.functions), m.unit.PTX, m.unit.OpenCL,
		m.s.setting(m), m.unfollowed()}
	kernels, err := m.placed(m.tree.Standing())
	if err != nil {
		return ""
	}
	err = m.each(kernels, func(k *ir.Func) error {
		cfg, errs := m.config(k)
		if len(errs) > 0 {
			return errs[0]
		}
		values = append(values, *cfg)
		return nil
	})
	if err != nil {
		return ""
	}
	for _, k := range kernels {
		values = append(values, k, k.Module.Version, k.Module.Target, k.Module.AddressSize)
		for _, g := range ir.ReachableFuncs(k) {
			for _, b := range g.Blocks {
				for _, in := range b.Instrs {
					values = append(values, m.placeOf(in))
				}
			}
		}
	}
	opt := m.s.opt
	common := opt.Common
	values = append(values, opt.Run, opt.Prove, opt.Options, opt.Oracle, opt.Measured, opt.BlockOnly,
		opt.VerifyOnly, opt.Grid, opt.From, opt.Wanted, common.Launch, common.Warp, common.Benign,
		common.MaxSteps, common.Memory, common.Limit)
	sum, err := content.Of(values...)
	if err != nil {
		return ""
	}
	return filepath.Join(dir, hex.EncodeToString(sum[:]))
}

// content ignores where things are: placeOf has what counts of that. Labels of blocks have the
// number of the function in its module. A row of the instruction table is one of this program.
var content = digest.New(source.Span{}, source.Pos(0), (*source.Frame)(nil), (*ir.Module)(nil)).
	Without(ir.Func{}, "Index", "Span", "Src").
	Without(ir.Block{}, "Label").
	Without(isa.Desc{}, "Row").
	Without(driver.Setting{}, "Span").
	Without(launch.Config{}, "Launch")

// setting is what a configuration says of the kernels.
func (s *syncer) setting(m *marked) []driver.Setting {
	var out []driver.Setting
	if s.opt.Common.Settings != nil {
		for _, k := range m.kernels {
			out = append(out, s.opt.Common.Settings(s.file.Name, k))
		}
	}
	return out
}

// functions are those of the tree, and others in the text of which an instruction is.
func (m *marked) functions() []*syntax.Func {
	var out []*syntax.Func
	add := func(fn *syntax.Func) {
		if fn != nil && !slices.Contains(out, fn) {
			out = append(out, fn)
		}
	}
	for l := range m.tree.Labels {
		add(m.origins[placer.Label(l)].fn)
	}
	for _, k := range m.kernels {
		for _, g := range ir.ReachableFuncs(k) {
			for _, b := range g.Blocks {
				for _, in := range b.Instrs {
					for _, p := range frames(in) {
						add(m.unit.FuncOf(p))
					}
				}
			}
		}
	}
	return out
}

// texts returns the texts of functions, with the names of their files.
func texts(list []*syntax.Func) []string {
	var out []string
	for _, fn := range list {
		from, ok1 := fn.File.Offset(fn.Span.Start)
		to, ok2 := fn.File.Offset(fn.Span.End)
		if ok1 && ok2 {
			out = append(out, fn.File.Name, string(fn.File.Content[from:to]))
		}
	}
	return out
}

// extents are the lines of functions.
func extents(list []*syntax.Func) []extent {
	var out []extent
	for _, fn := range list {
		out = append(out, extent{fn.File.Name, fn.Span.Start.Line(), fn.Span.End.Line()})
	}
	return out
}

// placeOf says to which statement an instruction belongs and where it is in its function.
func (m *marked) placeOf(in *ir.Instr) string {
	label, barrier := placer.None, placer.None
	if l, err := m.label(in); err == nil {
		label = l
	}
	if l, ok := m.barriers[in.Span]; ok {
		barrier = l
	}
	at := []any{in.Row.Opcode, label, barrier}
	for _, p := range frames(in) {
		name, line := "", p.Line()
		if f := m.s.d.Files().File(p.File()); f != nil {
			name = f.Name
		}
		if fn := m.unit.FuncOf(p); fn != nil {
			line -= fn.Span.Start.Line()
		}
		at = append(at, name, line, p.Col())
	}
	return fmt.Sprintln(at...)
}

// restore takes the result from an earlier search; false if there is none.
func (f *found) restore(path string) bool {
	if path == "" {
		return false
	}
	text, ok := cache.Checked(path)
	e := earlier{}
	if !ok || json.Unmarshal(text, &e) != nil || e.Result == nil {
		return false
	}
	m := f.marked
	shift := m.shift(e.Funcs, extents(f.functions))
	for _, list := range [][]string{e.Elsewhere, e.Verdict.Details, e.Verdict.Apart} {
		for i := range list {
			list[i] = shift(list[i])
		}
	}
	e.Verdict.Scope = shift(e.Verdict.Scope)
	e.Result.GaveUp = shift(e.Result.GaveUp)
	move := func(r *placer.Race) {
		r.Texts = [2]string{shift(r.Texts[0]), shift(r.Texts[1])}
		r.Undecided = shift(r.Undecided)
	}
	for i := range e.Result.OtherBlocks {
		move(&e.Result.OtherBlocks[i])
	}
	for i := range e.Result.Stuck {
		move(e.Result.Stuck[i].Race)
	}
	for _, reasons := range e.Result.Reasons {
		for i := range reasons {
			move(reasons[i].Race)
		}
	}
	for _, s := range e.Spaces {
		m.spaces[s.Race] = s.Spaces
	}
	f.result, f.sync.Given, f.sync.Elsewhere = e.Result, e.Given, e.Elsewhere
	e.Verdict.Input, e.Verdict.Span = m.s.file.Name, driver.KernelPlace(m.kernels[0])
	f.sync.Verdict, f.sync.Earlier, f.sync.proved = e.Verdict, true, e.Proved
	return true
}

// sumOf is the digest of a kernel of the patched text, without places. What is inserted may mean
// something else than before: a header may have made a macro of it.
func sumOf(kernel *ir.Func) digest.Sum {
	sum, _ := content.Of(kernel) // instructions have no part without content
	return sum
}

// keep writes the result for the next search.
func (f *found) keep() error {
	e := earlier{
		Funcs: extents(f.functions), Result: f.result, Given: f.sync.Given,
		Elsewhere: f.sync.Elsewhere, Verdict: f.sync.Verdict, Proved: f.sync.proved,
	}
	for r, s := range f.marked.spaces {
		e.Spaces = append(e.Spaces, spaces{r, s})
	}
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return cache.WriteChecked(f.file, text)
}

// shift returns a function that moves the lines in a text with the functions that they are in:
// "line 12" in the kernel's file, and "reduce.cu:12".
func (m *marked) shift(was, is []extent) func(string) string {
	own := m.fn.File.Name
	place := regexp.MustCompile(`(\bline |[^\s:]+:)(\d+)`)
	return func(text string) string {
		return place.ReplaceAllStringFunc(text, func(s string) string {
			parts := place.FindStringSubmatch(s)
			name := strings.TrimSuffix(parts[1], ":")
			if name == "line " {
				name = own
			}
			n, err := strconv.Atoi(parts[2])
			for i, w := range was {
				if err == nil && i < len(is) && w.File == name && w.From <= n && n <= w.To {
					return parts[1] + strconv.Itoa(n-w.From+is[i].From)
				}
			}
			return s
		})
	}
}

// keepAll keeps the verified results of a search in a file. A result that cannot be written is
// searched again.
func (s *syncer) keepAll(all []*found) {
	dir := s.earlierDir()
	if dir == "" {
		return
	}
	for i, f := range all {
		k := &s.out.Kernels[i]
		done := k.Status == Unchanged || k.Status == Changed
		if f.file == "" || k.Earlier || !done || k.Verdict.Kind != diag.Verified {
			continue
		}
		f.sync.Verdict, f.sync.proved = k.Verdict, k.proved
		if f.keep() != nil {
			_ = os.Remove(f.file)
		}
	}
	cache.Prune(dir, "", mostEarlier)
}

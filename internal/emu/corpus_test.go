package emu

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/irgen"
	"heddle/internal/launch"
	"heddle/internal/ptx"
	"heddle/internal/source"
)

// TestCorpus decodes all kernels of the .ptx files below the directories that HEDDLE_PTX_CORPUS
// names, separated by colons, and counts by opcode the instructions that the emulator does not
// execute, for a person to judge. Nothing may panic.
func TestCorpus(t *testing.T) {
	roots := os.Getenv("HEDDLE_PTX_CORPUS")
	if roots == "" {
		t.Skip("HEDDLE_PTX_CORPUS is not set")
	}
	c := corpus{unsupported: make(map[string]int), example: make(map[string]string)}
	for _, root := range filepath.SplitList(roots) {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(path) != ".ptx" {
				return err
			}
			return c.file(path)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Logf(
		"%d files, %d parsed, %d built, %d kernels, %d of them without an unsupported instruction, %d instructions",
		c.files, c.parsed, c.built, c.kernels, c.whole, c.instrs)
	var ops []string
	for op := range c.unsupported {
		ops = append(ops, op)
	}
	slices.SortFunc(ops, func(a, b string) int { return c.unsupported[b] - c.unsupported[a] })
	for _, op := range ops {
		t.Logf("%4d %s: %s", c.unsupported[op], op, c.example[op])
	}
}

type corpus struct {
	files, parsed, built, kernels, whole, instrs int
	unsupported                                  map[string]int
	example                                      map[string]string
}

func (c *corpus) file(path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	c.files++
	set := source.NewSet()
	src, err := set.Add(path, b)
	if err != nil {
		return err
	}
	tree, errs := ptx.Parse(src)
	if len(errs) > 0 {
		return nil
	}
	c.parsed++
	m, genErrs := irgen.Module(set, tree)
	if len(genErrs) > 0 {
		return nil
	}
	c.built++
	for _, f := range m.Funcs {
		if f.Kernel && len(f.Blocks) > 0 {
			c.kernel(path, f)
		}
	}
	return nil
}

func (c *corpus) kernel(path string, k *ir.Func) {
	c.kernels++
	cfg := &launch.Config{Geometry: event.Geometry{Grid: dim(1), Block: dim(32), Cluster: dim(1)}}
	for _, p := range k.Params {
		cfg.Args = append(cfg.Args, launch.Arg{Name: p.Name, Bits: make([]byte, p.Size)})
	}
	m, err := New(k, cfg)
	if err != nil {
		c.unsupported["(kernel)"]++
		c.example["(kernel)"] = fmt.Sprintf("%s: %v", path, err)
		return
	}
	whole := true
	for _, fc := range m.prog.funcs {
		for i := range fc.code {
			in := &fc.code[i]
			c.instrs++
			if in.misc == nil || in.misc.what == "" {
				continue
			}
			whole = false
			op, _, _ := strings.Cut(in.ir.Op(), " ")
			c.unsupported[op]++
			c.example[op] = fmt.Sprintf("%s: %s", filepath.Base(path), in.misc.what)
		}
	}
	if whole {
		c.whole++
	}
}

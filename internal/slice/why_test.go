package slice

import (
	"fmt"
	"os"
	"testing"

	"heddle/internal/irgen"
	"heddle/internal/ptx"
	"heddle/internal/source"
)

func TestWhy(t *testing.T) {
	name := os.Getenv("WHY")
	if name == "" {
		t.Skip()
	}
	text, _ := os.ReadFile(name)
	set := source.NewSet()
	f, _ := set.Add(name, text)
	tree, _ := ptx.Parse(f)
	m, errs := irgen.Module(set, tree)
	fmt.Println(errs)
	for _, fn := range m.Funcs {
		if !fn.Kernel {
			continue
		}
		s := Of(fn, Options{})
		n := 0
		for _, in := range s.funcs[fn].instrs {
			if in != nil && s.Role(fn, in) != Skip {
				fmt.Println(s.Role(fn, in), s.funcs[fn].kindOf(in), fn.Format(in))
				n++
			}
		}
	}
}

func TestWhy2(t *testing.T) {
	name := os.Getenv("WHY")
	if name == "" {
		t.Skip()
	}
	text, _ := os.ReadFile(name)
	set := source.NewSet()
	f, _ := set.Add(name, text)
	tree, _ := ptx.Parse(f)
	m, _ := irgen.Module(set, tree)
	for _, fn := range m.Funcs {
		if !fn.Kernel {
			continue
		}
		s := Of(fn, Options{})
		ff := s.funcs[fn]
		seen := map[string]bool{}
		for i, in := range ff.instrs {
			if in == nil {
				continue
			}
			k := ff.kindOf(in)
			if k == sync || k == shared || k == other || k == calls {
				for _, b := range ff.ctl[ff.block[i]] {
					tm := fn.Blocks[b].Last()
					x := fmt.Sprint(tm.Index)
					if !seen[x] {
						seen[x] = true
						fmt.Println(fn.Format(in), " <- ", fn.Format(tm), in.Span.Start.Line(), tm.Span.Start.Line())
					}
				}
			}
		}
	}
}

package launch

import (
	"strconv"
	"strings"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/lazyregexp"
	"heddle/internal/source"
)

// A class of CUB for a block is instantiated for the dimensions of the block, which the kernel must
// be launched with (CUB's documentation: "The thread block length in threads along the X
// dimension"). The names of inlined functions have them, so that no block needs to be guessed.

// blockClasses are the positions of the dimensions y and z in the arguments of these templates, from
// 0; x is at 1. Where they are missing, as in older versions, they are 1.
var blockClasses = map[string]int{
	"BlockAdjacentDifference": 2, "BlockDiscontinuity": 2, "BlockShuffle": 2,
	"BlockReduce": 3, "BlockScan": 3,
	"BlockExchange": 4, "BlockLoad": 4, "BlockStore": 4, "BlockMergeSort": 4,
	"BlockHistogram": 5, "BlockRunLengthDecode": 5,
	"BlockRadixSort": 8,
}

// blockClassRE matches the name of such a class up to its arguments.
var blockClassRE = lazyregexp.New(`\bcub::(?:\w+::)*(Block\w+)<`)

// libraryBlock returns the block for which the classes of CUB that a kernel uses are instantiated,
// and the name of one of them. ok is false if there is none, or if they differ.
func libraryBlock(k *ir.Func) (block event.Dim3, class string, ok bool) {
	seen := make(map[string]bool)
	look := func(name string) bool {
		if seen[name] || !strings.Contains(name, "cub::") {
			return true
		}
		seen[name] = true
		for _, at := range blockClassRE.FindAllStringSubmatchIndex(name, -1) {
			d, found := blockOf(name[at[2]:at[3]], name[at[1]:])
			if found && ok && d != block {
				return false
			}
			if found && !ok {
				block, class, ok = d, "cub::"+name[at[2]:at[3]], true
			}
		}
		return true
	}
	for _, f := range ir.ReachableFuncs(k) {
		if !f.Kernel && !look(f.Demangled) || !eachFrame(f, func(fr *source.Frame) bool {
			return look(fr.Func)
		}) {
			return event.Dim3{}, "", false
		}
	}
	return block, class, ok
}

// eachFrame calls do with the frames of a function until it returns false, which it reports.
func eachFrame(f *ir.Func, do func(*source.Frame) bool) bool {
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			for fr := in.Loc; fr != nil; fr = fr.Parent {
				if !do(fr) {
					return false
				}
			}
		}
	}
	return true
}

// blockOf returns the block of a class from its arguments and what follows them.
func blockOf(class, args string) (event.Dim3, bool) {
	y, known := blockClasses[class]
	list := templateArgs(args)
	if !known || len(list) < 2 {
		return event.Dim3{}, false
	}
	d := event.Dim3{X: 1, Y: 1, Z: 1}
	for at, dim := range map[int]*uint32{1: &d.X, y: &d.Y, y + 1: &d.Z} {
		if at >= len(list) {
			continue
		}
		n, err := strconv.ParseUint(list[at], 10, 16)
		if err != nil || n == 0 {
			return event.Dim3{}, false
		}
		*dim = uint32(n)
	}
	return d, d.Count() <= maxThreads
}

// templateArgs splits the arguments of a template, of which text has all after the "<".
func templateArgs(text string) []string {
	var out []string
	depth, start := 0, 0
	for i := range len(text) {
		switch text[i] {
		case '<', '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case ',':
			if depth == 0 {
				out, start = append(out, strings.TrimSpace(text[start:i])), i+1
			}
		case '>':
			if depth == 0 {
				return append(out, strings.TrimSpace(text[start:i]))
			}
			depth--
		}
	}
	return nil
}

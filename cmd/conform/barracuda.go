package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"heddle/internal/event"
	"heddle/internal/lazyregexp"
)

// barracuda is the suite of Barracuda (PLDI 2017). Its table racey.py has source files, macros and
// expectations. Our own labels count instead (labels.go), each with a reason, since some
// expectations of the table assume warps in lock step or concern more than one launch.
type barracuda struct{}

var (
	// racey.py is a Python list of constructor calls with a regular layout, so patterns suffice.
	programRE = lazyregexp.New(`(?s)CudaRaceTestProgram\("([^"]+)",(.*?)\n\s*\]\)`)
	macroRE   = lazyregexp.New(`'(\w+)'\s*:\s*(?:None|'(\w+)')`)
	errorRE   = lazyregexp.New(`CudaError\.(\w+)`)
)

// Cases reads racey.py and returns a case for each configuration.
func (barracuda) Cases(dir string) ([]Case, error) {
	table, err := os.ReadFile(filepath.Join(dir, "racey.py"))
	if err != nil {
		return nil, err
	}
	var out []Case
	for _, m := range programRE.FindAllStringSubmatch(string(table), -1) {
		c, err := configuration(dir, m[1], m[2])
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// configuration returns the case for a file and a list of macros, as racey.py declares it: 'NAME':
// None or 'NAME': 'VALUE'. Every configuration must have a label of ours, so that a new one of the
// suite is an error here and not a silent pass.
func configuration(dir, file, rest string) (Case, error) {
	macros := map[string]string{}
	var names, defines []string
	for _, d := range macroRE.FindAllStringSubmatch(rest, -1) {
		macros[d[1]] = d[2]
		if d[2] == "" {
			names = append(names, d[1])
			defines = append(defines, d[1])
		} else {
			defines = append(defines, d[1]+"="+d[2])
		}
	}
	slices.Sort(names)
	key := strings.TrimSuffix(filepath.Base(file), ".cu")
	config := strings.Join(names, " ")
	grid, block, err := shapeOf(key, macros)
	if err != nil {
		return Case{}, fmt.Errorf("racey.py: %s: %w", file, err)
	}
	config = strings.TrimSpace(fmt.Sprintf("%s %dx%d", config, grid.X, block.X))
	// A program of the suite is racy unless it declares otherwise.
	theirs := "racy"
	if slices.Contains(errorRE.FindStringSubmatch(rest), "NO_RACE") {
		theirs = "free"
	}
	l := labelOf(key, config)
	if l == nil {
		return Case{}, fmt.Errorf("racey.py: %s %s: labels.go has no label for this configuration", key,
			config)
	}
	c := Case{
		Name: key + " " + config, File: filepath.Join(dir, file), Want: l.want, Why: l.why, Expect: Pass,
		Jobs: []Job{{File: filepath.Join(dir, file), Defines: defines, Grid: grid, Block: block,
			Warp: event.Independent, Benign: event.BenignWarp, MaxSteps: maxSteps, Seeds: 4}},
	}
	if l.want == "bug" {
		c.Expect = Fail
	}
	// A label that differs from that of the suite needs a reason of its own.
	if (theirs == "racy") != (l.want == "bug") {
		c.Theirs, c.WhyNot = theirs, l.whyNot
	}
	return c, nil
}

// shapeOf returns the launch: from the macros BLOCKS and THREADS, otherwise one thread. One file
// has its number of blocks in main instead, which is not parsed.
func shapeOf(key string, macros map[string]string) (grid, block event.Dim3, err error) {
	grid, block = event.Dim3{X: 1, Y: 1, Z: 1}, event.Dim3{X: 1, Y: 1, Z: 1}
	if key == "flag_sync_across_blocks" {
		grid.X = 2
	}
	for name, to := range map[string]*uint32{"BLOCKS": &grid.X, "THREADS": &block.X} {
		if text, ok := macros[name]; ok {
			n, err := strconv.ParseUint(text, 10, 32)
			if err != nil || n == 0 {
				return grid, block, fmt.Errorf("%s=%s", name, text)
			}
			*to = uint32(n)
		}
	}
	return grid, block, nil
}

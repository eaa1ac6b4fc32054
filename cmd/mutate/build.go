package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"

	"heddle/internal/testing/mutate"
)

// A pkg is what go list says about a package.
type pkg struct {
	ImportPath, Dir, Name              string
	GoFiles, TestGoFiles, XTestGoFiles []string
	TestImports, XTestImports          []string
}

// rapid reports whether the tests use the package rapid, whose flags they have then.
func (p *pkg) rapid() bool {
	const path = "pgregory.net/rapid"
	return slices.Contains(p.TestImports, path) || slices.Contains(p.XTestImports, path)
}

// A built group has its mutants, in files that replace those of the tree.
type built struct {
	group   group
	all     int                 // mutants in the source, without equivalent ones
	mutants []*mutate.Mutant    // those drawn; mutant i has number i+1
	stale   []mutate.Equivalent // entries of the list for which there is no mutant
	own     []*pkg              // the packages of the group
	overlay string              // the file that has the go command read the mutants
	bins    int                 // test binaries that are compiled
	dir     string              // for temporary files
}

// A testBinary is the compiled tests of a package.
type testBinary struct {
	path, dir string // the program; the directory of its package, in which it runs
	name      string // of the package, from the directory of the module
	flags     []string
	run       string // which tests judge, as for go test -run
}

// build draws the mutants of a group and writes the files with them to dir.
func build(ctx context.Context, g group, known []mutate.Equivalent, dir string,
	opt options) (*built, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	b := &built{group: g, dir: dir}
	var err error
	if b.own, err = list(ctx, g.packages); err != nil {
		return nil, err
	}
	text, err := b.draw(known, opt)
	if err != nil {
		return nil, err
	}
	b.overlay, err = b.writeOverlay(text)
	return b, err
}

// list runs go list.
func list(ctx context.Context, patterns []string) ([]*pkg, error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"list", "-json"}, patterns...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, stderr.Bytes())
	}
	var all []*pkg
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		p := new(pkg)
		if err := dec.Decode(p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		all = append(all, p)
	}
}

// draw finds the mutants of the packages, leaves out those that are known to be equivalent, and
// draws some of the others. It returns the text of the files, by the names that the mutants have.
func (b *built) draw(known []mutate.Equivalent, opt options) (map[string][]byte, error) {
	text := map[string][]byte{}
	equivalent, seen := map[mutate.Key]bool{}, map[mutate.Key]bool{}
	for _, e := range known {
		equivalent[e.Key] = true
	}
	for _, p := range b.own {
		for _, f := range p.GoFiles {
			if !b.group.has(f) {
				continue
			}
			name := relative(p.Dir) + "/" + f
			t, err := os.ReadFile(filepath.Join(p.Dir, f))
			if err != nil {
				return nil, err
			}
			found, err := mutate.Find(name, t)
			if err != nil {
				return nil, err
			}
			text[name] = t
			for _, m := range found {
				if k := m.Key(); equivalent[k] {
					seen[k] = true
				} else if opt.only == nil || opt.only.MatchString(m.String()) {
					b.mutants = append(b.mutants, m)
				}
			}
		}
	}
	for _, e := range known {
		if _, ours := text[e.File]; !seen[e.Key] && (ours || !exists(e.File)) {
			b.stale = append(b.stale, e)
		}
	}
	b.all = len(b.mutants)
	if opt.n > 0 && opt.n < b.all {
		// By a hash of its own, so that the others are still drawn if one is added or left out.
		slices.SortFunc(b.mutants, func(x, y *mutate.Mutant) int {
			return cmp.Compare(lot(opt.seed, x), lot(opt.seed, y))
		})
		b.mutants = b.mutants[:opt.n]
	}
	return text, nil
}

// lot returns the number by which a mutant is drawn: those with the lowest are.
func lot(seed uint64, m *mutate.Mutant) uint64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", seed, m.Key()))
	return binary.BigEndian.Uint64(sum[:])
}

// exists reports whether a file exists.
func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// relative returns a directory from that of the module, with slashes.
func relative(dir string) string {
	if wd, err := os.Getwd(); err == nil {
		if r, err := filepath.Rel(wd, dir); err == nil {
			return filepath.ToSlash(r)
		}
	}
	return filepath.ToSlash(dir)
}

// supportName is the base name, without its ending, of the file that a package with mutants gets.
const supportName = "mutant_support"

// writeOverlay writes the files with mutants, and returns the file that tells the go command to
// read them in place of those of the tree.
func (b *built) writeOverlay(text map[string][]byte) (string, error) {
	replace := map[string]string{}
	put := func(name string, content []byte) error {
		to := filepath.Join(b.dir, strconv.Itoa(len(replace))+".go")
		replace[name] = to
		return os.WriteFile(to, content, 0o644)
	}
	for _, p := range b.own {
		for _, f := range p.GoFiles {
			name := relative(p.Dir) + "/" + f
			own := map[int]*mutate.Mutant{}
			for i, m := range b.mutants {
				if m.File == name {
					own[i+1] = m
				}
			}
			if len(own) == 0 {
				continue
			}
			if err := put(filepath.Join(p.Dir, f), mutate.Rewrite(text[name], own)); err != nil {
				return "", err
			}
		}
		support := mutate.Support(p.Name, len(b.mutants))
		if err := put(filepath.Join(p.Dir, supportName+".go"), support); err != nil {
			return "", err
		}
	}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	name := filepath.Join(b.dir, "overlay.json")
	return name, os.WriteFile(name, data, 0o644)
}

// compile returns the tests of packages, without those that have none.
func (b *built) compile(ctx context.Context, pkgs []*pkg, run string) ([]*testBinary, error) {
	var bins []*testBinary
	for _, p := range pkgs {
		if len(p.TestGoFiles)+len(p.XTestGoFiles) == 0 {
			continue
		}
		path := filepath.Join(b.dir, fmt.Sprintf("%d.test", b.bins))
		b.bins++
		cmd := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-overlay", b.overlay,
			"-o", path, p.ImportPath)
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("compiling %s with mutants: %w\n%s", p.ImportPath, err, out)
		}
		bins = append(bins, b.binary(p, path, run))
	}
	return bins, nil
}

// binary describes the compiled tests of a package.
func (b *built) binary(p *pkg, path, run string) *testBinary {
	bin := &testBinary{path: path, dir: p.Dir, name: relative(p.Dir), run: run}
	if p.rapid() {
		// A failure is enough: it need be neither small nor kept.
		bin.flags = []string{"-rapid.nofailfile", "-rapid.shrinktime=1ms", "-rapid.seed=1"}
		if run == "" { // the package's own tests; long runs have more checks than short ones
			bin.flags = append(bin.flags, "-rapid.checks=500")
		}
	}
	if b.group.short && slices.Contains(b.group.packages, "./"+bin.name) {
		bin.flags = append(bin.flags, "-test.short")
	}
	return bin
}

package driver

import (
	"crypto/sha256"
	"fmt"

	"heddle/internal/diag"
	"heddle/internal/launch"
)

// A cache of compiled kernels has one directory for each choice of options of the compiler, and
// many of them make no difference: the PTX and the launch are the same.

// cached knows the kernels of caches that have been examined.
type cached struct {
	seen    map[string]string // the first file, by key
	repeats int               // files with a kernel of an earlier one
	example [2]string         // such a file and the earlier one
}

// repeats reports whether a file that was found in a directory has the same PTX as an earlier one,
// with metadata that says the same about its launch. The user's settings for its path count too.
func (d *Driver) repeats(file Input, m *Module) bool {
	if !file.Found || m.Facts == nil || m.Facts.Metadata == nil {
		return false
	}
	key := fmt.Sprintf("%x %s", sha256.Sum256(m.Lowered.PTX), m.Facts.Metadata.Key())
	for _, k := range m.Kernels() {
		if d.opt.Settings != nil {
			s := d.opt.Settings(m.Name, k)
			if len(s.Launch) > 0 {
				return false
			}
			key += fmt.Sprint(s)
		}
		if d.opt.Saved != nil && len(d.opt.Saved(m.Name, k)) > 0 {
			return false
		}
	}
	first, ok := d.cached.seen[key]
	if !ok {
		if d.cached.seen == nil {
			d.cached.seen = make(map[string]string)
		}
		d.cached.seen[key] = m.Name
		return false
	}
	d.cached.repeats++
	d.cached.example = [2]string{m.Name, first}
	return true
}

// noteRepeats says which files were not examined because they repeat others.
func (d *Driver) noteRepeats() {
	c := &d.cached
	if c.repeats == 0 {
		return
	}
	one, other := launch.Quote(c.example[0]), launch.Quote(c.example[1])
	text := fmt.Sprintf("%s has the same kernel and launch as %s, and is not examined again", one,
		other)
	if c.repeats > 1 {
		text = fmt.Sprintf("%d files have the same kernels and launches as others, such as %s and %s, "+
			"and are not examined again", c.repeats, one, other)
	}
	d.report(diag.Diagnostic{Code: diag.CodeLaunch, Severity: diag.Note, Message: text})
}

package main

import (
	"fmt"
	"os"

	"heddle/internal/check/kept"
	"heddle/internal/lower"
)

// keepResults makes a run take and keep results of examinations, if there is a cache. They are
// those of this program: the file with it, its size and the time of its last change identify it.
// It returns what to do at the end.
func (c *checkCommand) keepResults() (end func()) {
	none := func() {}
	dir := lower.CacheDir(c.opt.Lower)
	path, err := os.Executable()
	if dir == "" || err != nil {
		return none
	}
	fi, err := os.Stat(path)
	if err != nil {
		return none
	}
	d := kept.Open(dir, fmt.Sprint(moduleVersion(), path, fi.Size(), fi.ModTime().UnixNano()))
	if d == nil {
		return none
	}
	c.opt.Kept = d
	return d.Close
}

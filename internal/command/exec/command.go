package exec

import (
	"debug/elf"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// CommandName returns how to run a program: a file that the system can execute, or a command of PATH
// that is no file. ok is false for other names, which are files to build.
func CommandName(name string) (command string, ok bool) {
	plain := !strings.ContainsRune(name, filepath.Separator)
	fi, err := os.Stat(name)
	if err != nil {
		_, err = exec.LookPath(name)
		return name, err == nil && plain && filepath.Ext(name) == ""
	}
	if !fi.Mode().IsRegular() || fi.Mode().Perm()&0o111 == 0 || !executable(name) {
		return name, false
	}
	if plain {
		name = "." + string(filepath.Separator) + name
	}
	return name, true
}

// executable reports whether a file is a script or a program, and no library.
func executable(name string) bool {
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	var start [2]byte
	if _, err := io.ReadFull(f, start[:]); err == nil && string(start[:]) == "#!" {
		return true
	}
	e, err := elf.NewFile(f)
	if err != nil || e.Type != elf.ET_EXEC && e.Type != elf.ET_DYN {
		return false
	}
	return slices.ContainsFunc(e.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }) ||
		e.Type == elf.ET_EXEC
}

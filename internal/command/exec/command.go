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

// CommandName returns how to run a program: a file with a program or a script, or a command of PATH.
// ok is false for other names, which are files to build.
func CommandName(name string) (command string, ok bool) {
	plain := !strings.ContainsRune(name, filepath.Separator)
	fi, err := os.Stat(name)
	if err == nil && fi.Mode().IsRegular() && executable(name, fi) {
		if plain {
			name = "." + string(filepath.Separator) + name
		}
		return name, true
	}
	if !plain || err == nil && filepath.Ext(name) != "" {
		return name, false
	}
	_, err = exec.LookPath(name)
	return name, err == nil
}

// executable reports whether a file is a program or a script, and no library. The system says what
// is wrong with one that it cannot execute. A file that may be executed and has no ending is one.
func executable(name string, fi os.FileInfo) bool {
	if fi.Mode().Perm()&0o111 != 0 && filepath.Ext(name) == "" {
		return true
	}
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
	return e.Type == elf.ET_EXEC ||
		slices.ContainsFunc(e.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP })
}

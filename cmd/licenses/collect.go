package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// platforms are the systems that releases are built for. Which packages a binary contains depends
// on the system, and not on the architecture.
var platforms = []string{"linux", "darwin", "windows"}

// licenceFile matches the names of files that a licence asks to pass on.
var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents|unlicense)([.-].*)?$`)

// A part is a module, or Go itself.
type part struct {
	name  string
	files map[string]bool // paths of its licences
}

// listed is what this program reads of the output of go list.
type listed struct {
	Dir      string
	Standard bool
	Module   *struct {
		Path, Version, Dir string
		Main               bool
	}
}

// printAll prints the texts, those of heddle first. A part without a licence is an error: it could
// not be passed on.
func printAll(w io.Writer) error {
	parts := map[string]*part{}
	for _, system := range platforms {
		if err := collect(parts, system); err != nil {
			return err
		}
	}
	fmt.Fprintln(w, "heddle, and what its programs contain:")
	names := slices.Sorted(maps.Keys(parts))
	for _, n := range names {
		fmt.Fprintln(w, " ", parts[n].name)
	}
	for _, n := range names {
		p := parts[n]
		if len(p.files) == 0 {
			return fmt.Errorf("%s has no file with its licence", p.name)
		}
		for _, path := range slices.Sorted(maps.Keys(p.files)) {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(w, "\n%s\n%s, %s\n\n%s\n", strings.Repeat("=", 80), p.name,
				filepath.Base(path), bytes.TrimSpace(text))
		}
	}
	return nil
}

// collect adds what a binary for one system contains. The empty name is heddle's, which sorts
// first.
func collect(parts map[string]*part, system string) error {
	all, err := list(system)
	if err != nil {
		return err
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return err
	}
	for _, l := range all {
		var name, title, top string
		dir := l.Dir
		switch {
		case l.Module == nil: // of the standard library
			name, title, top = "Go", "Go, its standard library", strings.TrimSpace(string(root))
			dir = top
		case l.Module.Main:
			title, top = "heddle", l.Module.Dir
		default:
			name, top = l.Module.Path, l.Module.Dir
			title = name + " " + l.Module.Version
		}
		if parts[name] == nil {
			parts[name] = &part{name: title, files: map[string]bool{}}
		}
		if err := addFiles(parts[name].files, dir, top); err != nil {
			return err
		}
	}
	return nil
}

// addFiles adds the licences in a package's directory and in those above it, up to that of its
// module: code that a module has taken from elsewhere keeps its licence beside it.
func addFiles(files map[string]bool, dir, top string) error {
	for {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if e.Type().IsRegular() && licenceFile.MatchString(e.Name()) &&
				filepath.Ext(e.Name()) != ".go" {
				files[filepath.Join(dir, e.Name())] = true
			}
		}
		if dir == top || filepath.Dir(dir) == dir {
			return nil
		}
		dir = filepath.Dir(dir)
	}
}

// list lists the packages of a binary for one system.
func list(system string) ([]listed, error) {
	cmd := exec.Command("go", "list", "-deps", "-json=Dir,Standard,Module", "./cmd/heddle")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH=amd64")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, stderr.Bytes())
	}
	var all []listed
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var l listed
		if err := dec.Decode(&l); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, l)
	}
}

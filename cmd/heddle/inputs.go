package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/internal/driver"
	"heddle/internal/lower"
	"heddle/internal/project"
)

// inputFlags say what the arguments stand for.
type inputFlags struct {
	lang, database string
	verbose        bool
	config         configFlags
}

func (f *inputFlags) define(fs *pflag.FlagSet) {
	fs.Var(newChoice(&f.lang, "", string(lower.CUDA), string(lower.OpenCL), string(lower.PTX), string(lower.LLVM)), "lang", "read the input as `LANGUAGE` cu, cl, ptx or ll (default: by extension and content)")
	fs.StringVarP(&f.database, "database", "p", "", "compile with the flags of `DIR`/compile_commands.json; without a FILE, check all its CUDA files")
	fs.BoolVarP(&f.verbose, "verbose", "v", false, "print which parts of compile commands are ignored")
	f.config.define(fs)
}

// some is a check of a command's arguments: that there is an input.
func (f *inputFlags) some(_ *cobra.Command, args []string) error {
	if path, err := f.config.find(); err == nil && path != "" {
		return nil // it may say which files count
	}
	return f.anything(args)
}

// anything is some once the configuration is read.
func (f *inputFlags) anything(args []string) error {
	if len(args) == 0 && f.database == "" {
		return errors.New("no input file; expected .cu, .cl, .ptx, .ll or .bc files, programs that contain PTX, directories, or - for standard input")
	}
	return nil
}

// inputs resolves the arguments: files, directories, - for standard input, and the files of a compilation
// database. Notes go to log.
func (f *inputFlags) inputs(args []string, stdin io.Reader, log io.Writer) ([]driver.Input, error) {
	if len(args) == 0 && f.database == "" {
		args = f.config.project()
	}
	if err := f.anything(args); err != nil {
		return nil, err
	}
	var db *project.Database
	if f.database != "" {
		var err error
		if db, err = project.ReadDatabase(f.database); err != nil {
			return nil, err
		}
	}
	var out []driver.Input
	if len(args) == 0 && db != nil {
		if len(db.Entries) == 0 {
			return nil, fmt.Errorf("-p %s: no CUDA file in the compilation database", f.database)
		}
		for _, e := range db.Entries {
			out = append(out, driver.Input{Input: lower.Input{Name: shortest(e.Path), Lang: lower.CUDA}})
		}
	}
	read := false
	for _, arg := range args {
		if arg == "-" {
			if read {
				return nil, errors.New("standard input (-) is given more than once")
			}
			read = true
			in, err := fromStdin(stdin)
			if err != nil {
				return nil, err
			}
			out = append(out, in)
			continue
		}
		dir, ok := project.Directory(arg)
		if !ok {
			out = append(out, driver.Input{Input: lower.Input{Name: arg}})
			continue
		}
		files, err := project.Walk(dir)
		if err != nil {
			return nil, err
		}
		if len(files) == 0 {
			return nil, fmt.Errorf("%s: the directory contains no .cu, .cl, .ptx, .ll or .bc file", arg)
		}
		found := len(out)
		for _, name := range files {
			if f.config.checks(name) {
				out = append(out, driver.Input{Input: lower.Input{Name: name}, Found: true})
			}
		}
		if len(out) == found {
			return nil, fmt.Errorf("%s: %s excludes every file in this directory", arg, f.config.file.Path)
		}
	}
	for i := range out {
		if f.lang != "" && !out[i].Found {
			out[i].Lang = lower.Lang(f.lang)
		}
		f.compileFlags(db, &out[i], log)
	}
	return out, nil
}

// compileFlags adds what the database says of one input.
func (f *inputFlags) compileFlags(db *project.Database, in *driver.Input, log io.Writer) {
	if db == nil || in.Content != nil {
		return
	}
	e := db.Lookup(in.Name)
	if e == nil {
		if strings.EqualFold(filepath.Ext(in.Name), ".cu") {
			fmt.Fprintf(log, "heddle: %s is not in the compilation database of %s\n", in.Name, f.database)
		}
		return
	}
	in.Flags = e.Flags
	if f.verbose && len(e.Dropped) > 0 {
		fmt.Fprintf(log, "heddle: %s: ignored in its compile command: %s\n", in.Name, strings.Join(e.Dropped, " "))
	}
}

// maxStdin bounds what is read from standard input.
const maxStdin = 1 << 30

func fromStdin(stdin io.Reader) (driver.Input, error) {
	content, err := io.ReadAll(io.LimitReader(stdin, maxStdin+1))
	switch {
	case err != nil:
		return driver.Input{}, fmt.Errorf("reading standard input: %w", err)
	case len(content) > maxStdin:
		return driver.Input{}, fmt.Errorf("standard input is larger than %d bytes", maxStdin)
	case strings.TrimSpace(string(content[:min(len(content), 1<<12)])) == "":
		return driver.Input{}, errors.New("standard input is empty")
	}
	return driver.Input{Input: lower.Input{Name: driver.Stdin, Content: content}}, nil
}

// shortest is a path as a user would type it: relative if it lies below the working directory.
func shortest(path string) string {
	cwd, err := filepath.Abs(".")
	if err != nil {
		return path
	}
	if rel, err := filepath.Rel(cwd, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

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
	"heddle/internal/source"
)

// inputFlags control how the arguments are turned into inputs: the language, the compilation
// database and the configuration.
type inputFlags struct {
	lang, database string
	verbose        bool
	config         configFlags
}

// define adds the flags to a command. An empty --lang means: decide by extension and content.
func (f *inputFlags) define(fs *pflag.FlagSet) {
	fs.Var(newChoice(&f.lang, "", string(lower.CUDA), string(lower.OpenCL), string(lower.PTX),
		string(lower.LLVM)), "lang",
		"read the input as `LANGUAGE` cu, cl, ptx or ll (default: by extension and content)")
	fs.StringVarP(&f.database, "database", "p", "",
		"compile with the flags of `DIR`/compile_commands.json; without a FILE, check all its CUDA files")
	verboseFlag(fs, &f.verbose, "print which parts of compile commands are ignored")
	f.config.define(fs)
}

// some implements cobra.PositionalArgs: there must be an input. The configuration may name the
// files, but it is not read yet when cobra calls this, so its presence is enough here; anything
// decides later.
func (f *inputFlags) some(_ *cobra.Command, args []string) error {
	// An error of find is reported when the file is read.
	if path, err := f.config.find(); err == nil && path != "" {
		return nil // it may say which files count
	}
	return f.anything(args)
}

// anything returns an error if neither an argument nor a database names an input. It is called once
// the configuration is read.
func (f *inputFlags) anything(args []string) error {
	if len(args) == 0 && f.database == "" {
		return errors.New("no input file; expected .cu, .cl, .ptx, .ll or .bc files, programs that " +
			"contain PTX, directories, or - for standard input")
	}
	return nil
}

// inputs resolves the arguments: files, directories, - for standard input, and the files of a
// compilation database. Without arguments, the configuration or the database names the files. Notes
// about compile commands are written to log.
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
			in := lower.Input{Name: shortest(e.Path), Lang: lower.CUDA}
			out = append(out, driver.Input{Input: in})
		}
	}
	read := false // standard input can be read only once
	for _, arg := range args {
		if arg == "-" {
			if read {
				return nil, errors.New("standard input (-) is given more than once")
			}
			read = true
		}
		found, err := f.argument(arg, stdin)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	for i := range out {
		// --lang describes what the user named, not the mixed files of a directory.
		if f.lang != "" && !out[i].Found {
			out[i].Lang = lower.Lang(f.lang)
		}
		f.compileFlags(db, &out[i], log)
	}
	return out, nil
}

// argument resolves one argument. A directory is replaced by the files below that the configuration
// includes; an empty result is an error, because a run that checks nothing must not look clean.
func (f *inputFlags) argument(arg string, stdin io.Reader) ([]driver.Input, error) {
	if arg == "-" {
		in, err := fromStdin(stdin)
		return []driver.Input{in}, err
	}
	dir, ok := project.Directory(arg)
	if !ok {
		return []driver.Input{{Input: lower.Input{Name: arg}}}, nil
	}
	files, err := project.Walk(dir)
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: the directory contains no .cu, .cl, .ptx, .ll or .bc file", arg)
	}
	var out []driver.Input
	for _, name := range files {
		if f.config.checks(name) {
			out = append(out, driver.Input{Input: lower.Input{Name: name}, Found: true})
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: %s excludes every file in this directory", arg,
			f.config.file.Path)
	}
	return out, nil
}

// compileFlags gives an input the flags of its entry in the database. A CUDA file without an entry
// is compiled without flags, with a note, since it is often a new file. Standard input has no path
// to look up.
func (f *inputFlags) compileFlags(db *project.Database, in *driver.Input, log io.Writer) {
	if db == nil || in.Content != nil {
		return
	}
	// Lookup compares cleaned absolute paths.
	e := db.Lookup(in.Name)
	if e == nil {
		if source.CUDAName(in.Name) {
			fmt.Fprintf(log, "heddle: %s is not in the compilation database of %s\n", in.Name, f.database)
		}
		return
	}
	in.Flags = e.Flags
	if f.verbose && len(e.Dropped) > 0 {
		fmt.Fprintf(log, "heddle: %s: ignored in its compile command: %s\n", in.Name,
			strings.Join(e.Dropped, " "))
	}
}

// maxStdin bounds the bytes read from standard input: 1 GiB, far above any real module, so that a
// mistaken pipe (`cat /dev/zero |`) ends with an error.
const maxStdin = 1 << 30

// fromStdin reads standard input. One byte more than the limit is requested, so that input of
// exactly the limit is accepted. Blank input is an error: the pipe before it has probably failed.
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

// shortest returns path as a user would type it: relative if it is below the working directory,
// unchanged otherwise.
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

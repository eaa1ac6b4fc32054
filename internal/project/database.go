package project

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"heddle/internal/lower"
	"heddle/internal/source"
)

// Entry is one CUDA file of a compilation database.
type Entry struct {
	Path  string      // absolute
	Flags lower.Flags // include paths, macros and standard, with absolute paths
	// words of the command that heddle does not use, except the compiler and the file
	Dropped []string
}

// Database is the content of a compile_commands.json: how each file of a project is compiled
// (clang.llvm.org/docs/JSONCompilationDatabase.html).
type Database struct {
	Entries []Entry // CUDA files in the order of the database, without duplicates
	byPath  map[string]*Entry
}

// command is one object of the file. Either Command, a line for a shell, or Arguments is set.
type command struct {
	Directory string   `json:"directory"`
	File      string   `json:"file"`
	Command   string   `json:"command"`
	Arguments []string `json:"arguments"`
}

// maxDatabase bounds the bytes of a compilation database; that of Chromium has 100 MB.
const maxDatabase = 1 << 30

// ReadDatabase reads the compile_commands.json in dir; dir may also be the path of such a file. It
// fails if the file does not exist or is not a compilation database; errors name the flag -p and
// the place in the file.
func ReadDatabase(dir string) (*Database, error) {
	path := dir
	if fi, err := os.Stat(dir); err == nil && fi.IsDir() {
		path = filepath.Join(dir, "compile_commands.json")
	}
	text, err := source.ReadRegular(path, maxDatabase)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("-p %s: %s does not exist; cmake creates it with "+
			"-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", dir, path)
	}
	if err != nil {
		return nil, fmt.Errorf("-p %s: %w", dir, err)
	}
	var commands []command
	if err := json.Unmarshal(text, &commands); err != nil {
		return nil, fmt.Errorf("-p %s: %s: %w", dir, at(path, text, err), err)
	}
	base, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	db := &Database{byPath: make(map[string]*Entry)}
	for i, c := range commands {
		if err := db.add(c, base); err != nil {
			return nil, fmt.Errorf("-p %s: %s: command %d: %w", dir, path, i+1, err)
		}
	}
	for i := range db.Entries {
		db.byPath[db.Entries[i].Path] = &db.Entries[i]
	}
	return db, nil
}

// at returns the position of a JSON error as file:line:column; the path alone if the error has
// none.
func at(path string, text []byte, err error) string {
	var syntax *json.SyntaxError
	var typ *json.UnmarshalTypeError
	offset := int64(-1)
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &typ):
		offset = typ.Offset
	}
	if offset < 0 || offset > int64(len(text)) {
		return path
	}
	before := string(text[:max(offset-1, 0)]) // the offset includes the offending byte
	return fmt.Sprintf("%s:%d:%d", path, 1+strings.Count(before, "\n"),
		len(before)-strings.LastIndexByte(before, '\n'))
}

// add adds one command. The first command for a file counts, as for clang's tools; files of other
// languages than CUDA are skipped.
func (db *Database) add(c command, base string) error {
	if c.File == "" {
		return errors.New(`the object has no "file"`)
	}
	dir := absolute(base, c.Directory)
	args := c.Arguments
	if len(args) == 0 {
		var err error
		if args, err = splitCommand(c.Command); err != nil {
			return err
		}
	}
	path := absolute(dir, c.File)
	if _, ok := db.byPath[path]; ok {
		return nil
	}
	args, err := expandResponses(args, dir, 0)
	if err != nil {
		return err
	}
	r := flagReader{dir: dir, file: path, nvcc: len(args) > 0 && isNVCC(args[0])}
	if len(args) > 0 {
		r.read(args[1:])
	}
	if !r.cuda && !source.CUDAName(path) {
		return nil
	}
	db.byPath[path] = nil
	db.Entries = append(db.Entries, Entry{path, r.out, r.dropped})
	return nil
}

// Lookup returns the entry of a file, or nil. A name that is a symbolic link matches the entry of
// its target.
func (db *Database) Lookup(name string) *Entry {
	abs, err := filepath.Abs(name)
	if err != nil {
		return nil
	}
	if e := db.byPath[abs]; e != nil {
		return e
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		return db.byPath[real]
	}
	return nil
}

// absolute returns path, relative to dir, as an absolute path.
func absolute(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// exists reports whether a file or directory exists and is accessible.
func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

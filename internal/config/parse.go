package config

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/pelletier/go-toml/v2"

	"heddle/internal/event"
	"heddle/internal/launch"
	"heddle/internal/source"
)

// document is the form of the file. The decoder checks the keys and the types of values; the reader
// checks their meaning. Pointers tell an absent key from an empty value.
type document struct {
	Include []text  `toml:"include"`
	Exclude []text  `toml:"exclude"`
	Engine  *text   `toml:"engine"`
	FailOn  *text   `toml:"fail-on"`
	Timeout *text   `toml:"timeout"`
	Compile compile `toml:"compile"`
	Kernel  []table `toml:"kernel"`
}

// compile is the [compile] table, named as flags of the command line are.
type compile struct {
	Includes []string `toml:"includes"`
	Systems  []string `toml:"systems"`
	Defines  []string `toml:"defines"`
	Std      string   `toml:"std"`
	Arch     string   `toml:"arch"`
	OptLevel *text    `toml:"opt-level"`
	Bits     *text    `toml:"address-bits"`
	CCCL     string   `toml:"cccl"`
}

// table is one [[kernel]]. Values that have a syntax of their own (dimensions, sizes, arguments,
// durations) are read by the functions that the command line uses, so both accept the same.
type table struct {
	Name    text            `toml:"name"`
	File    *text           `toml:"file"`
	Grid    list            `toml:"grid"`
	Block   list            `toml:"block"`
	Global  list            `toml:"global"`
	Cluster list            `toml:"cluster"`
	Shared  *text           `toml:"shared"`
	Args    map[string]text `toml:"args"`
	Engine  *text           `toml:"engine"`
	Timeout *text           `toml:"timeout"`
	Skip    text            `toml:"skip"`
}

// text is a scalar as it was written. Numbers may be written without quotes.
type text string

// UnmarshalText receives a scalar without its quotes; the decoder rejects lists and tables.
func (t *text) UnmarshalText(b []byte) error {
	*t = text(b)
	return nil
}

// list is written as 64, "8,8" or [8, 8]: one scalar, or several.
type list []text

// UnmarshalText receives a single scalar; the decoder appends the elements of an array itself.
func (l *list) UnmarshalText(b []byte) error {
	*l = list{text(b)}
	return nil
}

// reader turns a document into a File. It collects all mistakes, each with the position of the
// value or the key that is wrong.
type reader struct {
	src   *source.File
	pos   *positions
	trust bool // paths may leave the checkout
	errs  []error
}

// failf records a mistake; the reader continues, so that all are reported at once.
func (r *reader) failf(span source.Span, format string, args ...any) {
	r.errs = append(r.errs, &Error{span, fmt.Sprintf(format, args...)})
}

// key returns the position of a key; the start of the file if it is unknown.
func (r *reader) key(path string) source.Span {
	return source.Span{Start: r.src.PosAt(r.pos.keys[path])}
}

// value returns the position of a value; that of its key if it is unknown.
func (r *reader) value(path string) source.Span {
	if off, ok := r.pos.values[path]; ok {
		return source.Span{Start: r.src.PosAt(off)}
	}
	return r.key(path)
}

// parse reads a document.
func parse(src *source.File, trust bool) (*File, []error) {
	r := &reader{src: src, trust: trust}
	var doc document
	if err := decode(src.Content, &doc); err != nil {
		r.decodeErrors(err)
		return nil, r.errs
	}
	r.pos = locate(src.Content)
	f := r.file(&doc)
	if len(r.errs) > 0 {
		return nil, r.errs
	}
	return f, nil
}

// decode reads a document. The decoder has panicked on files with mistakes: a panic becomes an
// error.
func decode(text []byte, doc *document) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("this is not valid TOML: %v", p)
		}
	}()
	return toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields().Decode(doc)
}

// decodeErrors records the mistakes that the decoder found: unknown keys, all of them, or else the
// first mistake in the syntax or in the type of a value.
func (r *reader) decodeErrors(err error) {
	at := func(row, col int) source.Span {
		return source.Span{Start: source.MakePos(r.src.ID, row, col)}
	}
	var unknown *toml.StrictMissingError
	var one *toml.DecodeError
	switch {
	case errors.As(err, &unknown):
		for i := range unknown.Errors {
			e := &unknown.Errors[i]
			row, col := e.Position()
			r.failf(at(row, col), "unknown key %s", strings.Join(e.Key(), "."))
		}
	case errors.As(err, &one):
		row, col := one.Position()
		r.failf(at(row, col), "%s", plain(one.Error()))
	default:
		r.failf(at(1, 1), "%s", plain(err.Error()))
	}
}

// plain rewrites the decoder's messages in terms of the document, without the names of Go types. A
// message of another form is kept: a later version of the decoder may word it differently.
func plain(msg string) string {
	msg = strings.TrimPrefix(msg, "toml: ")
	if what, into, ok := strings.Cut(strings.TrimPrefix(msg, "cannot store "), " in a "); ok {
		return misplaced(what, into)
	}
	what, ok := strings.CutPrefix(msg, "cannot decode TOML ")
	if !ok {
		return msg
	}
	what, into, _ := strings.Cut(what, " into ")
	_, typ, _ := strings.Cut(into, " of type ")
	want := "a value of another type"
	switch {
	case strings.HasPrefix(typ, "map["):
		want = "a table"
	case strings.HasPrefix(typ, "[]"):
		want = "a list"
	case strings.HasSuffix(typ, ".text"), strings.HasSuffix(typ, ".list"):
		want = "a string or a number"
	case typ == "string":
		want = "a string"
	case strings.HasSuffix(typ, ".compile"):
		want = "a table"
	}
	return fmt.Sprintf("expected %s, found %s", want, article(what))
}

// misplaced is plain for a table where the decoder stores something else: what is "a table" or "an
// array table", into the kind of Go type.
func misplaced(what, into string) string {
	want := "a string or a number"
	if into == "struct" || into == "map" {
		want = "a table, [name]"
	}
	if strings.HasPrefix(what, "an array") {
		what = "a list of tables, [[name]]"
	}
	return fmt.Sprintf("expected %s; found %s", want, what)
}

// article returns a noun with its indefinite article.
func article(noun string) string {
	if strings.ContainsRune("aeiou", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}

// file converts a document.
func (r *reader) file(doc *document) *File {
	dir := filepath.Dir(r.src.Name)
	f := &File{
		Path:    r.src.Name,
		Include: r.patterns("include", doc.Include),
		Exclude: r.patterns("exclude", doc.Exclude),
		Engine:  r.engine("engine", doc.Engine),
		FailOn:  r.oneOf("fail-on", "fail-on", doc.FailOn, FailOns),
		Timeout: r.duration("timeout", doc.Timeout),
	}
	c := &doc.Compile
	f.Compile = Compile{
		Includes: below(dir, c.Includes),
		Systems:  r.inside("compile.systems", below(dir, c.Systems)),
		Defines:  c.Defines,
		Std:      c.Std,
		Arch:     c.Arch,
		OptLevel: r.optLevel("compile.opt-level", c.OptLevel),
		Bits:     r.addressBits("compile.address-bits", c.Bits),
		CCCL:     r.library("compile.cccl", dir, c.CCCL),
	}
	for i := range doc.Kernel {
		f.Kernels = append(f.Kernels, r.kernel(&doc.Kernel[i], fmt.Sprintf("kernel.%d", i)))
	}
	return f
}

// library returns the directory of a copy of CCCL, which must be in the checkout like those of
// system headers; "" if there is none.
func (r *reader) library(path, dir, cccl string) string {
	if cccl == "" {
		return ""
	}
	cccl = below(dir, []string{cccl})[0]
	r.within(r.value(path), cccl)
	return cccl
}

// below makes paths of a configuration, which are relative to its directory dir, relative to the
// working directory. Absolute paths stay.
func below(dir string, paths []string) []string {
	out := slices.Clone(paths)
	for i, p := range out {
		if !filepath.IsAbs(p) {
			out[i] = filepath.Join(dir, p)
		}
	}
	return out
}

// inside checks that directories are in the checkout of the configuration.
func (r *reader) inside(path string, dirs []string) []string {
	for i, dir := range dirs {
		r.within(r.value(fmt.Sprintf("%s.%d", path, i)), dir)
	}
	return dirs
}

// within records a mistake if a path leaves the checkout of the configuration, also by a symbolic
// link, and the configuration is not trusted.
func (r *reader) within(span source.Span, path string) {
	top, err := filepath.Abs(filepath.Dir(r.src.Name))
	abs, err2 := filepath.Abs(path)
	if r.trust || err != nil || err2 != nil {
		return
	}
	top = root(top)
	rel, err := filepath.Rel(resolved(top), resolved(abs))
	if err != nil || rel != "." && !filepath.IsLocal(rel) {
		r.failf(span, "%s is outside of %s; --trust allows that, if you trust this file", path, top)
	}
}

// resolved returns a path without symbolic links, as far as it exists.
func resolved(path string) string {
	for at, rest := path, ""; ; {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		}
		up := filepath.Dir(at)
		if up == at {
			return path
		}
		at, rest = up, filepath.Join(filepath.Base(at), rest)
	}
}

// patterns checks a list of file patterns; a mistake has the position of its element.
func (r *reader) patterns(path string, list []text) []string {
	var out []string
	for i, p := range list {
		out = append(out, r.pattern(fmt.Sprintf("%s.%d", path, i), &p))
	}
	return out
}

// pattern checks a file pattern by the syntax of doublestar; "" if there is none.
func (r *reader) pattern(path string, t *text) string {
	if t == nil {
		return ""
	}
	if !doublestar.ValidatePattern(string(*t)) {
		r.failf(r.value(path), "%q is not a valid file name pattern", *t)
	}
	return string(*t)
}

// engine reads the name of an engine.
func (r *reader) engine(path string, t *text) Engine {
	return Engine(r.oneOf(path, "engine", t, Engines))
}

// optLevel reads the compiler's level of optimization. 0 is not accepted: unoptimized code keeps
// every variable in local memory, where values are not followed as well as in registers.
func (r *reader) optLevel(path string, t *text) string {
	return r.oneOf(path, "opt-level", t, []string{"1", "2", "3"})
}

// addressBits reads the bits of pointers in OpenCL C; 0 if there are none.
func (r *reader) addressBits(path string, t *text) int {
	bits, _ := strconv.Atoi(r.oneOf(path, "address-bits", t, []string{"32", "64"}))
	return bits
}

// oneOf reads a value that must be one of some words; what names it in the message.
func (r *reader) oneOf(path, what string, t *text, words []string) string {
	if t == nil {
		return ""
	}
	if last := len(words) - 1; !slices.Contains(words, string(*t)) {
		list := strings.Join(words[:last], ", ") + " or " + words[last]
		r.failf(r.value(path), "%s %q: expected %s", what, *t, list)
	}
	return string(*t)
}

// duration reads a positive duration, written as "20s" or as a number of seconds, with a fraction
// or without; 0 if there is none. Infinity and NaN are numbers to ParseFloat and are rejected as
// durations.
func (r *reader) duration(path string, t *text) time.Duration {
	if t == nil {
		return 0
	}
	s := string(*t)
	if v, err := strconv.ParseFloat(s, 64); err == nil && !math.IsInf(v, 0) && !math.IsNaN(v) {
		s += "s"
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		r.failf(r.value(path), "%q is not a duration; expected one like \"20s\"", *t)
	}
	return d
}

// dim reads up to three dimensions, as one string ("8,8") or as a list; nil if there are none,
// which leaves the decision to the launch. Elements of a list are checked one by one, for the
// position of the wrong one.
func (r *reader) dim(path string, l list) *event.Dim3 {
	if l == nil {
		return nil
	}
	parts := make([]string, len(l))
	for i, t := range l {
		parts[i] = string(t)
		if _, err := strconv.ParseUint(parts[i], 0, 64); err != nil && len(l) > 1 {
			r.failf(r.value(fmt.Sprintf("%s.%d", path, i)), "expected a whole number, found %q", t)
			return nil
		}
	}
	v, err := launch.ParseDim(strings.Join(parts, ","))
	if err != nil {
		r.failf(r.value(path), "%v", err)
		return nil
	}
	return &v
}

// shared reads a number of bytes of dynamic shared memory, written as 4096 or "48K"; nil if there
// is none.
func (r *reader) shared(path string, t *text) *uint32 {
	if t == nil {
		return nil
	}
	v, err := launch.ParseShared(string(*t))
	if err != nil {
		r.failf(r.value(path), "%v", err)
		return nil
	}
	return &v
}

// kernel reads the [[kernel]] table at a path ("kernel.0"). Files with contents of arguments are
// relative to the configuration's directory. Arguments are in the order of their names, so that
// messages do not depend on the order of a map.
func (r *reader) kernel(k *table, path string) Kernel {
	span := r.key(path + ".name")
	if k.Name == "" {
		span = r.key(path)
		r.failf(span, "this [[kernel]] has no name; expected name = \"PATTERN\"")
	}
	out := Kernel{
		Name:    string(k.Name),
		File:    r.pattern(path+".file", k.File),
		Engine:  r.engine(path+".engine", k.Engine),
		Timeout: r.duration(path+".timeout", k.Timeout),
		Skip:    string(k.Skip),
		Span:    span,
	}
	out.Launch = launch.Request{
		Grid:    r.dim(path+".grid", k.Grid),
		Block:   r.dim(path+".block", k.Block),
		Cluster: r.dim(path+".cluster", k.Cluster),
		Global:  r.dim(path+".global", k.Global),
		Shared:  r.shared(path+".shared", k.Shared),
	}
	for _, name := range slices.Sorted(maps.Keys(k.Args)) {
		at := r.key(path + ".args." + name)
		spec, err := launch.ParseArg(name + "=" + string(k.Args[name]))
		if err != nil {
			r.failf(at, "%v", err)
			continue
		}
		if spec.Kind == launch.ArgFile && !filepath.IsAbs(spec.Text) {
			spec.Text = filepath.Join(filepath.Dir(r.src.Name), spec.Text)
		}
		if spec.Kind == launch.ArgFile {
			r.within(at, spec.Text)
		}
		spec.Span = at
		out.Launch.Args = append(out.Launch.Args, spec)
	}
	return out
}

package config

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"heddle/internal/event"
	"heddle/internal/launch"
	"heddle/internal/source"
)

// document is the form of the file.
type document struct {
	Include []*pattern `toml:"include"`
	Exclude []*pattern `toml:"exclude"`
	Engine  word       `toml:"engine"`
	Timeout duration   `toml:"timeout"`
	Compile compile    `toml:"compile"`
	Kernel  []kernel   `toml:"kernel"`
}

type compile struct {
	Includes []string `toml:"includes"`
	Systems  []string `toml:"systems"`
	Defines  []string `toml:"defines"`
	Std      string   `toml:"std"`
	Arch     string   `toml:"arch"`
	OptLevel optLevel `toml:"opt-level"`
}

type kernel struct {
	Name    text            `toml:"name"`
	File    pattern         `toml:"file"`
	Grid    dim             `toml:"grid"`
	Block   dim             `toml:"block"`
	Global  dim             `toml:"global"`
	Cluster dim             `toml:"cluster"`
	Shared  bytesOf         `toml:"shared"`
	Args    map[string]text `toml:"args"`
	Engine  word            `toml:"engine"`
	Timeout duration        `toml:"timeout"`
	Skip    text            `toml:"skip"`
}

// text is a scalar as it was written. Numbers may be written without quotes.
type text struct{ s string }

func (t *text) UnmarshalTOML(n *unstable.Node) error {
	switch n.Kind {
	case unstable.String, unstable.Integer, unstable.Float, unstable.Bool:
		t.s = string(n.Data)
		return nil
	}
	return wrong(n, "expected a string or a number")
}

// wrong is a mistake at a node.
func wrong(n *unstable.Node, format string, args ...any) error {
	at := n.Data
	for c := n.Child(); len(at) == 0 && c != nil; c = c.Child() {
		at = c.Data
	}
	if len(at) == 0 {
		return fmt.Errorf(format, args...)
	}
	return unstable.NewParserError(at, format, args...)
}

// pattern is a pattern of file names.
type pattern struct{ text }

func (p *pattern) UnmarshalTOML(n *unstable.Node) error {
	if err := p.text.UnmarshalTOML(n); err != nil {
		return err
	}
	if !doublestar.ValidatePattern(p.s) {
		return wrong(n, "%q is no pattern of file names", p.s)
	}
	return nil
}

// word is the name of an engine.
type word struct{ text }

func (w *word) UnmarshalTOML(n *unstable.Node) error {
	if err := w.text.UnmarshalTOML(n); err != nil {
		return err
	}
	if !slices.Contains(Engines, w.s) {
		return wrong(n, "engine %q: expected %s", w.s, strings.Join(Engines, ", "))
	}
	return nil
}

type optLevel struct{ text }

func (o *optLevel) UnmarshalTOML(n *unstable.Node) error {
	if err := o.text.UnmarshalTOML(n); err != nil {
		return err
	}
	if !slices.Contains([]string{"1", "2", "3"}, o.s) {
		return wrong(n, "opt-level %s: expected 1, 2 or 3", o.s)
	}
	return nil
}

// duration is written as "20s", or as a number of seconds.
type duration struct{ d time.Duration }

func (d *duration) UnmarshalTOML(n *unstable.Node) error {
	var t text
	if err := t.UnmarshalTOML(n); err != nil {
		return err
	}
	s := t.s
	if n.Kind != unstable.String {
		s += "s"
	}
	v, err := time.ParseDuration(s)
	if err != nil || v <= 0 {
		return wrong(n, "%q is no time, such as \"20s\"", t.s)
	}
	d.d = v
	return nil
}

// dim is written as 64, "8,8" or [8, 8].
type dim struct{ v *event.Dim3 }

func (d *dim) UnmarshalTOML(n *unstable.Node) error {
	var t text
	if n.Kind == unstable.Array {
		var parts []string
		for it := n.Children(); it.Next(); {
			c := it.Node()
			if c.Kind != unstable.Integer {
				return wrong(c, "expected a whole number")
			}
			parts = append(parts, string(c.Data))
		}
		t.s = strings.Join(parts, ",")
	} else if err := t.UnmarshalTOML(n); err != nil {
		return err
	}
	v, err := launch.ParseDim(t.s)
	if err != nil {
		return wrong(n, "%v", err)
	}
	d.v = &v
	return nil
}

// bytesOf is a number of bytes: 4096 or "48K".
type bytesOf struct{ v *uint32 }

func (b *bytesOf) UnmarshalTOML(n *unstable.Node) error {
	var t text
	if err := t.UnmarshalTOML(n); err != nil {
		return err
	}
	v, err := launch.ParseShared(t.s)
	if err != nil {
		return wrong(n, "%v", err)
	}
	b.v = &v
	return nil
}

// reader turns a document into a File.
type reader struct {
	src    *source.File
	places map[string]int // offset of each key
	errs   []error
}

func (r *reader) failf(span source.Span, format string, args ...any) {
	r.errs = append(r.errs, &Error{span, fmt.Sprintf(format, args...)})
}

// at is the place of a key, as places names it; the head of the file if it is unknown.
func (r *reader) at(key string) source.Span {
	off := r.places[key]
	return source.Span{Start: r.src.PosAt(off)}
}

// parse reads a document.
func parse(src *source.File) (*File, []error) {
	r := &reader{src: src}
	var doc document
	d := toml.NewDecoder(bytes.NewReader(src.Content)).DisallowUnknownFields().EnableUnmarshalerInterface()
	if err := d.Decode(&doc); err != nil {
		r.decodeErrors(err)
		return nil, r.errs
	}
	r.places = places(src.Content)
	f := r.file(&doc)
	if len(r.errs) > 0 {
		return nil, r.errs
	}
	return f, nil
}

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

// plain takes the names of Go's types out of a message of the decoder.
func plain(msg string) string {
	msg = strings.TrimPrefix(msg, "toml: ")
	if what, ok := strings.CutPrefix(msg, "cannot decode TOML "); ok {
		what, _, _ = strings.Cut(what, " into")
		return fmt.Sprintf("a value of another type is expected here than %s", what)
	}
	return msg
}

// file makes a File of a document.
func (r *reader) file(doc *document) *File {
	dir := filepath.Dir(r.src.Name)
	f := &File{Path: r.src.Name, Engine: Engine(doc.Engine.s), Timeout: doc.Timeout.d}
	for _, p := range doc.Include {
		f.Include = append(f.Include, p.s)
	}
	for _, p := range doc.Exclude {
		f.Exclude = append(f.Exclude, p.s)
	}
	c := &doc.Compile
	f.Compile = Compile{Includes: below(dir, c.Includes), Systems: below(dir, c.Systems), Defines: c.Defines, Std: c.Std, Arch: c.Arch, OptLevel: c.OptLevel.s}
	for i := range doc.Kernel {
		f.Kernels = append(f.Kernels, r.kernel(&doc.Kernel[i], i))
	}
	return f
}

// below makes paths of a configuration relative to the working directory.
func below(dir string, paths []string) []string {
	out := slices.Clone(paths)
	for i, p := range out {
		if !filepath.IsAbs(p) {
			out[i] = filepath.Join(dir, p)
		}
	}
	return out
}

func (r *reader) kernel(k *kernel, i int) Kernel {
	at := fmt.Sprintf("kernel.%d", i)
	if k.Name.s != "" {
		at += ".name"
	}
	span := r.at(at)
	if k.Name.s == "" {
		r.failf(span, "this [[kernel]] has no name; want name = \"PATTERN\"")
	}
	out := Kernel{Name: k.Name.s, File: k.File.s, Engine: Engine(k.Engine.s), Timeout: k.Timeout.d, Skip: k.Skip.s, Span: span}
	out.Launch = launch.Request{Grid: k.Grid.v, Block: k.Block.v, Cluster: k.Cluster.v, Global: k.Global.v, Shared: k.Shared.v}
	names := make([]string, 0, len(k.Args))
	for name := range k.Args {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		v := k.Args[name]
		spec, err := launch.ParseArg(name + "=" + v.s)
		if err != nil {
			r.failf(r.at(fmt.Sprintf("kernel.%d.args.%s", i, name)), "%v", err)
			continue
		}
		if spec.Kind == launch.ArgFile && !filepath.IsAbs(spec.Text) {
			spec.Text = filepath.Join(filepath.Dir(r.src.Name), spec.Text)
		}
		spec.Span = r.at(fmt.Sprintf("kernel.%d.args.%s", i, name))
		out.Launch.Args = append(out.Launch.Args, spec)
	}
	return out
}

// places finds the keys of a document that is right: "timeout", "kernel.0" (the table itself), "kernel.0.args.n".
func places(text []byte) map[string]int {
	out := map[string]int{}
	var p unstable.Parser
	p.Reset(text)
	table, kernels := "", -1
	for p.NextExpression() {
		e := p.Expression()
		switch e.Kind {
		case unstable.ArrayTable, unstable.Table:
			name, at := key(&p, e)
			if rest, ok := strings.CutPrefix(name, "kernel"); ok {
				if e.Kind == unstable.ArrayTable && rest == "" {
					kernels++
				}
				name = fmt.Sprintf("kernel.%d%s", kernels, rest)
			}
			table = name + "."
			out[name] = at
		case unstable.KeyValue:
			keyValue(&p, e, table, out)
		}
	}
	return out
}

func keyValue(p *unstable.Parser, e *unstable.Node, table string, out map[string]int) {
	name, at := key(p, e)
	out[table+name] = at
	if v := e.Value(); v.Kind == unstable.InlineTable {
		for it := v.Children(); it.Next(); {
			keyValue(p, it.Node(), table+name+".", out)
		}
	}
}

// key returns the dotted key of a node, and where it starts.
func key(p *unstable.Parser, n *unstable.Node) (string, int) {
	var parts []string
	at := -1
	for it := n.Key(); it.Next(); {
		k := it.Node()
		if at < 0 {
			at = int(k.Raw.Offset)
		}
		parts = append(parts, string(k.Data))
	}
	return strings.Join(parts, "."), max(at, 0)
}

package describe

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"heddle/internal/launch"
	"heddle/internal/lazyregexp"
)

// head is the comment at the beginning of the file.
const head = `# heddle.toml: how heddle compiles, launches and examines the kernels of this project. heddle
# init wrote this file; docs/config.md describes every key. Settings here override comments and host
# code, and flags override them. Values that heddle would guess are comments: a finding that rests
# on a guess is a warning. Remove the "#" of those that you know.

`

// render returns the text of the file.
func render(opt Options, kernels []*kernel, left []*launch.Saved) []byte {
	var b strings.Builder
	b.WriteString(head)
	if len(opt.Include) > 0 {
		fmt.Fprintf(&b, "include = %s   # what heddle check without a FILE checks\n", list(opt.Include))
	}
	b.WriteString("# exclude = [\"build\"]\n# timeout = \"30s\"   # for the proof of one kernel\n\n")
	compile(&b, opt)
	for _, k := range kernels {
		// Two kernels of one name, such as instances of a template, need their parameters.
		same := func(o *kernel) bool { return o != k && o.name == k.name && o.file == k.file }
		name := k.name
		if slices.ContainsFunc(kernels, same) {
			name = k.demangled
		}
		k.render(&b, name)
	}
	for _, s := range left {
		fmt.Fprintf(&b, "\n# %s: a launch that the program made; no given file has this kernel.\n"+
			"[[kernel]]\nname  = %s\n", s.Path, strconv.Quote(launch.BaseName(s.Demangled)))
		fmt.Fprintf(&b, "grid  = %s\nblock = %s\n", dims(launch.Dims(s.Grid)), dims(launch.Dims(s.Block)))
		if s.Shared > 0 {
			fmt.Fprintf(&b, "shared = %d\n", s.Shared)
		}
	}
	return []byte(b.String())
}

// compile writes the compiler's flags.
func compile(b *strings.Builder, opt Options) {
	low := opt.Common.Lower
	b.WriteString("[compile]\n")
	for _, f := range []struct {
		key, example string
		values       []string
	}{
		{"includes", `["include"]   # -I, relative to this file`, low.Includes},
		{"systems", `["third_party"]`, low.Systems},
		{"defines", `["TILE=16"]`, low.Defines},
	} {
		if len(f.values) > 0 {
			fmt.Fprintf(b, "%s = %s\n", f.key, list(f.values))
		} else {
			fmt.Fprintf(b, "# %s = %s\n", f.key, f.example)
		}
	}
	for _, f := range []struct{ key, example, value string }{
		{"std", "c++17", low.Std}, {"arch", "sm_80", low.Arch}} {
		if f.value != "" {
			fmt.Fprintf(b, "%s = %q\n", f.key, f.value)
		} else {
			fmt.Fprintf(b, "# %s = %q\n", f.key, f.example)
		}
	}
}

// render writes what is known of the kernel, and a table for the rest.
func (k *kernel) render(b *strings.Builder, name string) {
	fmt.Fprintf(b, "\n# %s, %s:%d\n", k.demangled, k.file, k.line)
	if k.failed != "" {
		fmt.Fprintf(b, "# its launch is not possible: %s\n", k.failed)
	}
	if k.saved != nil {
		k.program(b, name)
		return
	}
	guesses := []string{}
	for i, c := range k.launches {
		where := "heddle would launch it with"
		if c.Launch.IsValid() {
			where = fmt.Sprintf("launched in line %d with", c.Launch.Start.Line())
		}
		fmt.Fprintf(b, "# %s %s\n", where, c.Describe())
		if i == 0 {
			guesses = guessed(c)
		}
	}
	if len(guesses) == 0 && k.failed == "" {
		return
	}
	fmt.Fprintf(b, "[[kernel]]\nname = %q\nfile = %q\n", name, k.file)
	for _, g := range guesses {
		fmt.Fprintf(b, "# %s\n", g)
	}
}

// program writes the launch that a program made.
func (k *kernel) program(b *strings.Builder, name string) {
	fmt.Fprintf(b, "# %s: a launch that the program made; heddle check --launch %s also takes the\n"+
		"# contents of memory from it.\n", k.path, launch.Quote(k.path))
	if k.others > 0 {
		fmt.Fprintf(b, "# %d more of this kernel were given: one table describes one launch.\n", k.others)
	}
	fmt.Fprintf(b, "[[kernel]]\nname = %q\nfile = %q\n", name, k.file)
	g := k.saved.Geometry
	fmt.Fprintf(b, "grid = %s\nblock = %s\n", dims(launch.Dims(g.Grid)), dims(launch.Dims(g.Block)))
	if g.Cluster.Count() > 1 {
		fmt.Fprintf(b, "cluster = %s\n", dims(launch.Dims(g.Cluster)))
	}
	if k.saved.DynShared > 0 {
		fmt.Fprintf(b, "shared = %d\n", k.saved.DynShared)
	}
	if args := numbers(k.saved, func(launch.Origin) bool { return true }); args != "" {
		fmt.Fprintf(b, "args = { %s }\n", args)
	}
}

// guessed returns a line for each part of a launch that heddle would guess.
func guessed(c *launch.Config) []string {
	var out []string
	for _, part := range []struct{ key, value string }{
		{"grid", dims(launch.Dims(c.Geometry.Grid))}, {"block", dims(launch.Dims(c.Geometry.Block))},
		{"shared", strconv.Itoa(int(c.DynShared))}} {
		if !c.Origins[part.key].Guessed() || part.key == "shared" && c.DynShared == 0 {
			continue
		}
		line := part.key + " = " + part.value
		if why := c.Reasons[part.key]; why != "" {
			line += "   # " + why
		}
		out = append(out, line)
	}
	if args := numbers(c, launch.Origin.Guessed); args != "" {
		out = append(out, "args = { "+args+" }")
	}
	return out
}

// numbers returns the arguments that are numbers and of some origin, as members of a TOML table.
// What a pointer leads to is no setting that anyone would write by hand.
func numbers(c *launch.Config, wanted func(launch.Origin) bool) string {
	var out []string
	for i := range c.Args {
		a := &c.Args[i]
		if a.Buffer != nil || a.Local != nil || a.Unknown || a.Func != "" || a.Symbol != "" ||
			len(a.Fields) > 0 || len(a.Bits) > 8 || !wanted(c.Origins["arg "+a.Name]) {
			continue
		}
		value := a.Value()
		if _, err := strconv.ParseInt(value, 10, 64); err != nil {
			value = strconv.Quote(value)
		}
		out = append(out, key(a.Name)+" = "+value)
	}
	return strings.Join(out, ", ")
}

// bareKey matches what TOML takes for a key without quotes.
var bareKey = lazyregexp.New(`^[A-Za-z0-9_-]+$`)

func key(name string) string {
	if bareKey.MatchString(name) {
		return name
	}
	return strconv.Quote(name)
}

// dims writes a size as one number, or as a text of several.
func dims(s string) string {
	if strings.Contains(s, ",") {
		return strconv.Quote(s)
	}
	return s
}

// list writes strings as an array.
func list(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = strconv.Quote(w)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

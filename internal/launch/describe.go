package launch

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"heddle/internal/event"
)

// Describe returns the launch as one line, with the origin of each fact:
//
//	grid 4 (guessed), block 256 (comment), in: zeros (guessed), n = 1024 (flag), m = 64 (guessed: ...)
func (c *Config) Describe() string {
	g := c.Geometry
	parts := []string{
		"grid " + Dims(g.Grid) + c.origin("grid"),
		"block " + Dims(g.Block) + c.origin("block"),
	}
	if g.Cluster.Count() > 1 {
		parts = append(parts, "cluster "+Dims(g.Cluster)+c.origin("cluster"))
	}
	if c.DynShared > 0 {
		parts = append(parts, fmt.Sprintf("shared %d", c.DynShared)+c.origin("shared"))
	}
	for i := range c.Args {
		parts = append(parts, c.describeArg(i)+c.argOrigin(i))
	}
	for _, name := range c.Initial {
		parts = append(parts, name+": its initial value (guessed: the host code may change it)")
	}
	return strings.Join(append(parts, c.unread()...), ", ")
}

// Shape returns the grid and the block, and the cluster if there is one, each with the mark
// "(guessed)" if it is a guess, and what of the launch is not understood.
func (c *Config) Shape() string {
	g := c.Geometry
	part := func(key string, d event.Dim3) string {
		if c.Origins[key].Guessed() {
			return key + " " + Dims(d) + " (guessed)"
		}
		return key + " " + Dims(d)
	}
	s := part("grid", g.Grid) + ", " + part("block", g.Block)
	if g.Cluster.Count() > 1 {
		s += ", " + part("cluster", g.Cluster)
	}
	return strings.Join(append([]string{s}, c.unread()...), ", ")
}

// unread names what of the launch is not understood.
func (c *Config) unread() []string {
	var out []string
	for _, key := range c.Unread {
		out = append(out, "without the unknown "+key)
	}
	return out
}

// origin returns the origin of a fact in parentheses, with the reason for a guess.
func (c *Config) origin(key string) string {
	label := c.Origins[key].String()
	if why := c.Reasons[key]; why != "" && (c.Origins[key] == FromRelation || c.Origins[key] == FromLibrary) {
		label = why
	} else if why != "" && c.Origins[key] == Default {
		label += ": " + why
	}
	return " (" + label + ")"
}

// argOrigin is origin for argument i, without the size of its buffer, which describeArg has.
func (c *Config) argOrigin(i int) string {
	text := c.origin("arg " + c.Args[i].Name)
	if b := c.Args[i].Buffer; b != nil && b.Size > 0 {
		text = strings.Replace(text, fmt.Sprintf("host code: %d bytes; ", b.Size), "host code; ", 1)
	}
	return text
}

// describeArg returns argument i with its value or the contents of its buffer.
func (c *Config) describeArg(i int) string {
	a := &c.Args[i]
	switch {
	case a.Buffer != nil && a.Buffer.Fill == FillMemory:
		return a.describeMemory()
	case a.Buffer != nil:
		if j := c.owner(a.Buffer); j >= 0 && j != i {
			return a.Name + ": the buffer of " + c.Args[j].Name + pointerAt(a.Offset)
		}
		return a.Name + ": " + a.Buffer.describe() + pointerAt(a.Offset)
	case a.Local != nil:
		return fmt.Sprintf("%s: %d bytes of local memory", a.Name, a.Local.Size)
	case a.Unknown:
		return a.Name + " unknown"
	case a.Func != "":
		return a.Name + ": function " + a.Func
	case len(a.Fields) > 0:
		fields := make([]string, len(a.Fields))
		for k, f := range a.Fields {
			what := f.Buffer.describe()
			if f.Buffer.Name != fieldName(a.Name, f.Offset) {
				what = "the buffer of " + f.Buffer.Name
			}
			fields[k] = fmt.Sprintf("+%d %s%s", f.Offset, what, pointerAt(f.At))
		}
		return fmt.Sprintf("%s: struct with buffers at %s", a.Name, strings.Join(fields, " and "))
	}
	return a.Name + " = " + a.Value()
}

// owner returns the index of the argument that b was made for, which is not always the first that
// points to it: an alias may precede what it is an alias of.
func (c *Config) owner(b *Buffer) int {
	return slices.IndexFunc(c.Args, func(a Arg) bool { return a.Buffer == b && a.Name == b.Name })
}

// pointerAt describes where in its buffer a pointer points; empty for the start.
func pointerAt(offset uint64) string {
	if offset == 0 {
		return ""
	}
	return fmt.Sprintf(" from byte %d", offset)
}

// describe returns the size of a bounded buffer, and its contents.
func (b *Buffer) describe() string {
	var what string
	switch b.Fill {
	case FillZero:
		what = "zeros"
	case FillRandom:
		what = "random bytes"
	case FillFile:
		what = "given bytes"
		if b.Size == 0 {
			what = fmt.Sprintf("%d given bytes and zeros", len(b.Data))
		}
	case FillUnknown:
		what = "unknown contents"
	case FillIota:
		what = "0, 1, 2, ..."
	case FillValue:
		what = fmt.Sprintf("words of %#x", b.Value)
	case FillSmall:
		what = fmt.Sprintf("random integers below %d", b.N)
	case FillPerm:
		what = fmt.Sprintf("a permutation of %d integers", b.N)
	case FillCSR:
		what = fmt.Sprintf("row pointers of %d rows with %d entries", b.N, b.E)
	case FillInts:
		what = "given integers"
	case FillOneOf:
		what = "random integers of a list"
	case FillStruct:
		what = fmt.Sprintf("structs of %d bytes", b.Stride)
	}
	if b.Size > 0 {
		what = fmt.Sprintf("%d bytes of %s", b.Size, what)
	}
	return what
}

// Value returns the number of an argument without buffers as a user would write it.
func (a *Arg) Value() string { return formatBits(a.Bits, a.Float) }

// formatBits formats 1, 2, 4 or 8 bytes as a signed integer or, if float is set, 4 or 8 bytes as a
// float. Bytes of any other size are formatted in hexadecimal.
func formatBits(bits []byte, float bool) string {
	switch {
	case float && len(bits) == 4:
		return strconv.FormatFloat(float64(math.Float32frombits(binary.LittleEndian.Uint32(bits))), 'g',
			-1, 32)
	case float && len(bits) == 8:
		return strconv.FormatFloat(math.Float64frombits(binary.LittleEndian.Uint64(bits)), 'g', -1, 64)
	case len(bits) == 0 || len(bits) > 8 || len(bits)&(len(bits)-1) != 0:
		return "hex:" + hex.EncodeToString(bits)
	}
	var u uint64
	for i, b := range bits {
		u |= uint64(b) << (8 * i)
	}
	shift := 64 - 8*len(bits)
	return fmt.Sprint(int64(u<<shift) >> shift)
}

// Flags returns the command-line flags that reproduce this launch, quoted for a shell. Grid and
// block are always included, unless a saved launch has them; other defaults are omitted, since the
// same command decides them in the same way.
func (c *Config) Flags() string {
	g := c.Geometry
	var flags []string
	switch c.Saved {
	case "":
	case PathExec:
		flags = append(flags, PathExec)
	default:
		flags = append(flags, "--launch "+Quote(c.Saved))
	}
	saved := func(key string) bool { return c.Saved != "" && c.Origins[key] == FromProgram }
	if !saved("grid") {
		flags = append(flags, "--grid "+Dims(g.Grid))
	}
	if !saved("block") {
		flags = append(flags, "--block "+Dims(g.Block))
	}
	if g.Cluster.Count() > 1 && !saved("cluster") {
		flags = append(flags, "--cluster "+Dims(g.Cluster))
	}
	if c.Origins["shared"] != Default && !saved("shared") && c.DynShared > 0 {
		flags = append(flags, fmt.Sprintf("--shared %d", c.DynShared))
	}
	for _, a := range c.given {
		if a.Kind == ArgSaved {
			continue
		}
		flags = append(flags, "--arg "+Quote(a.String()))
	}
	return strings.Join(flags, " ")
}

// Given returns the arguments that were specified, in the order of the parameters: those that are not
// guessed.
func (c *Config) Given() []ArgSpec { return slices.Clone(c.given) }

// String formats a in the form that ParseArg reads: parsing the result gives the same ArgSpec,
// except for its Span.
func (a ArgSpec) String() string {
	name := a.Param
	if a.Offset >= 0 {
		name = fmt.Sprintf("%s+%d", a.Param, a.Offset)
	}
	if a.At > 0 {
		return name + "=" + a.form() + fmt.Sprintf("+%d", a.At)
	}
	return name + "=" + a.form()
}

// form formats the value of a, without the position in a buffer.
func (a ArgSpec) form() string {
	size := ""
	if a.Size > 0 {
		size = fmt.Sprintf(":%d", a.Size)
	}
	switch a.Kind {
	case ArgAlias:
		return "alias:" + a.Text
	case ArgUnknown:
		return "unknown" + size
	case ArgFunc:
		return "func:" + a.Text
	case ArgBytes:
		return "hex:" + a.Text
	case ArgLocal:
		return "local" + size
	case ArgFile:
		return "file:" + a.Text + size
	case ArgBuffer:
		return a.fillText() + size
	}
	return a.Text
}

// Quote protects a word of a command line from a POSIX shell, if it contains anything but letters,
// digits and @%_+=:,./-
func Quote(s string) string {
	plain := func(r rune) bool {
		return strings.ContainsRune("@%_+=:,./-", r) || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' ||
			r >= 'A' && r <= 'Z'
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

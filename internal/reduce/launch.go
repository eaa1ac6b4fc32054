package reduce

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"heddle/internal/event"
	"heddle/internal/launch"
)

// Launch is the launch of one kernel, in the form of flags. What is nil or absent is unspecified.
type Launch struct {
	Kernel               string // its name in the PTX; empty: all kernels of the module
	Grid, Block, Cluster *event.Dim3
	Shared               *uint32 // bytes of dynamic shared memory
	// Args name parameters by index, in Param and in the Text of an alias, so that names may change
	// and parameters may be removed.
	Args []launch.ArgSpec
	// Saved has the parameters and the memory that a program gave the kernel; the fields above
	// override it. It is for launches that flags do not describe: variables, pointers in memory,
	// large contents. The parameters of the kernel then stay. nil: there is none.
	Saved *launch.Saved
}

// Words are the flags of heddle's command line that make the launch, but for --launch with a file
// that has Saved.
func (l *Launch) Words() []string {
	var out []string
	flag := func(name, value string) { out = append(out, "--"+name, value) }
	if l.Kernel != "" {
		flag("kernel", l.Kernel)
	}
	for _, d := range []struct {
		name string
		size *event.Dim3
	}{{"grid", l.Grid}, {"block", l.Block}, {"cluster", l.Cluster}} {
		if d.size != nil {
			flag(d.name, launch.Dims(*d.size))
		}
	}
	if l.Shared != nil {
		flag("shared", fmt.Sprint(*l.Shared))
	}
	for _, a := range l.Args {
		flag("arg", a.String())
	}
	return out
}

// withoutParam returns the launch of the kernel without parameter i: its arguments are dropped,
// with those that are aliases of it, and the later ones move up.
func (l Launch) withoutParam(i int) Launch {
	args := l.Args
	l.Args = nil
	for _, a := range args {
		param, ok := without(a.Param, i)
		if a.Kind == launch.ArgAlias && ok {
			a.Text, ok = without(a.Text, i)
		}
		if ok {
			a.Param = param
			l.Args = append(l.Args, a)
		}
	}
	return l
}

// without returns the index of a parameter once parameter i is removed; false for i itself.
func without(index string, i int) (string, bool) {
	n, err := strconv.Atoi(index)
	switch {
	case err != nil || n < i:
		return index, true
	case n == i:
		return "", false
	}
	return strconv.Itoa(n - 1), true
}

// smaller returns smaller launches, those that are expected to help most first. Each is smaller by
// the same measure: threads, bytes, and the number and size of arguments. So a reducer that follows
// them ends.
func (l Launch) smaller() []Launch {
	var out []Launch
	for _, d := range []struct {
		size *event.Dim3
		set  func(*Launch, *event.Dim3)
	}{
		{l.Grid, func(l *Launch, d *event.Dim3) { l.Grid = d }},
		{l.Block, func(l *Launch, d *event.Dim3) { l.Block = d }},
	} {
		for _, s := range smallerDims(d.size) {
			next := l
			d.set(&next, &s)
			out = append(out, next)
		}
	}
	if l.Cluster != nil {
		next := l
		next.Cluster = nil
		out = append(out, next)
	}
	if l.Shared != nil {
		next := l
		if next.Shared = nil; *l.Shared > 1 {
			half := *l.Shared / 2
			out = append(out, next)
			next.Shared = &half
		}
		out = append(out, next)
	}
	for i := range l.Args {
		for _, a := range smallerArgs(l.Args[i]) {
			next := l
			next.Args = slices.Concat(l.Args[:i], a, l.Args[i+1:])
			out = append(out, next)
		}
	}
	if l.Saved != nil {
		next := l
		next.Saved = nil
		out = append(out, next)
	}
	for _, s := range smallerMemory(l.Saved) {
		next := l
		next.Saved = s
		out = append(out, next)
	}
	return out
}

// smallerMemory returns a saved launch with less in one of its buffers: nothing, no data, or half of
// the bytes from the first to the last that is not zero.
func smallerMemory(s *launch.Saved) []*launch.Saved {
	if s == nil {
		return nil
	}
	var out []*launch.Saved
	for i := range s.Buffers {
		b := &s.Buffers[i]
		with := func(data []byte, pointers []launch.SavedPointer) {
			next := *s
			next.Buffers = slices.Clone(s.Buffers)
			next.Buffers[i].Data, next.Buffers[i].Pointers = data, pointers
			out = append(out, &next)
		}
		data := bytes.TrimRight(b.Data, "\x00")
		first := len(data) - len(bytes.TrimLeft(data, "\x00"))
		middle := (first + len(data)) / 2
		if len(b.Pointers) > 0 {
			with(nil, nil)
			with(b.Data, nil)
		}
		if len(data) > 0 {
			with(nil, b.Pointers)
		}
		if middle > first { // at least two bytes
			with(data[:middle], b.Pointers)
			with(append(make([]byte, middle), data[middle:]...), b.Pointers)
		}
	}
	return out
}

// smallerDims returns one thread or block, then, for each dimension, 1, 2, a warp and half of it.
func smallerDims(d *event.Dim3) []event.Dim3 {
	if d == nil || d.Count() <= 1 {
		return nil
	}
	out := []event.Dim3{{X: 1, Y: 1, Z: 1}}
	for axis := range 3 {
		at := func(d *event.Dim3) *uint32 { return []*uint32{&d.X, &d.Y, &d.Z}[axis] }
		now := *at(d)
		for _, n := range []uint32{1, 2, 32, now / 2, now - 1} {
			next := *d
			*at(&next) = n
			if n > 0 && n < now && !slices.Contains(out, next) {
				out = append(out, next)
			}
		}
	}
	return out
}

// smallerArgs returns what may replace an argument: nothing, which leaves it to heddle's guess, or
// a smaller one.
func smallerArgs(a launch.ArgSpec) [][]launch.ArgSpec {
	out := [][]launch.ArgSpec{nil}
	switch a.Kind {
	case launch.ArgValue:
		n, err := strconv.ParseInt(a.Text, 0, 64)
		for _, v := range []int64{0, 1, n / 2, n - 1} {
			if err == nil && v >= 0 && v < n {
				b := a
				b.Text = strconv.FormatInt(v, 10)
				out = append(out, []launch.ArgSpec{b})
			}
		}
	case launch.ArgBuffer, launch.ArgFile:
		if zeros := (launch.ArgSpec{Param: a.Param, Offset: a.Offset, Kind: launch.ArgBuffer,
			Size: a.Size}); zeros.String() != a.String() {
			out = append(out, []launch.ArgSpec{zeros})
		}
		if a.Kind == launch.ArgBuffer && a.Size > 4 {
			b := a
			b.Size = a.Size / 2
			out = append(out, []launch.ArgSpec{b})
		}
	case launch.ArgBytes:
		zeros := launch.ArgSpec{Param: a.Param, Offset: a.Offset, Kind: launch.ArgBuffer}
		out = append(out, []launch.ArgSpec{zeros})
		if half := halfBytes(a.Text); half != "" {
			b := a
			b.Text = half
			out = append(out, []launch.ArgSpec{b})
		}
	}
	return out
}

// halfBytes returns the first half of the bytes of a hex: value, in its form: parts that commas
// separate, of two digits for each byte, or of one byte, x and a count. It is empty if the value
// has one part that cannot be divided.
func halfBytes(text string) string {
	digits, zeros := strings.CutSuffix(text, "...")
	if parts := strings.Split(digits, ","); len(parts) > 1 {
		digits = strings.Join(parts[:len(parts)/2], ",")
	} else if n := len(digits) / 4 * 2; n > 0 && !strings.Contains(digits, "x") {
		digits = digits[:n]
	} else {
		return ""
	}
	if zeros {
		digits += "..."
	}
	return digits
}

// key identifies the launch among candidates.
func (l *Launch) key() string {
	return strings.Join(append(l.Words(), fmt.Sprintf("%p", l.Saved)), "\x00")
}

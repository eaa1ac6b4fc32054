package emu

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"

	"heddle/internal/event"
)

// builtinPrintf is vprintf(format, args). The arguments are in a buffer, each aligned to its size,
// with the default promotions of C (CUDA C++ Programming Guide, "Formatted Output"). An argument
// whose value is unknown or that is outside its buffer prints as "?".
func builtinPrintf(x *exec, _ *inst, l int, args []uint64) (uint64, bool) {
	p := printer{x: x, lane: l, at: args[1]}
	text := p.format(x.cString(l, args[0]))
	if x.opt.Printf != nil {
		x.opt.Printf(event.ThreadOf(x.warp.id, l), text)
	}
	return uint64(p.used), true
}

// printer formats the output of one lane.
type printer struct {
	x    *exec
	lane int
	at   uint64 // address of the next argument
	used int
}

// next reads an argument of size bytes, 4 or 8, and advances to the one after it. The bool is false
// if the value is unknown or outside the buffer.
func (p *printer) next(size uint64) (uint64, bool) {
	p.at = (p.at + size - 1) &^ (size - 1)
	// The read is not an access of the kernel and sends no event.
	b, known := p.x.peek(p.lane, p.at, size)
	p.at += size
	p.used++
	if b == nil || !known {
		return 0, false
	}
	if size == 4 {
		return uint64(binary.LittleEndian.Uint32(b)), true
	}
	return binary.LittleEndian.Uint64(b), true
}

// format replaces the conversions of a format string. An incomplete conversion at its end, which C
// leaves undefined, is printed as it is.
func (p *printer) format(f string) string {
	var out strings.Builder
	for {
		i := strings.IndexByte(f, '%')
		if i < 0 {
			out.WriteString(f)
			return out.String()
		}
		out.WriteString(f[:i])
		// n is the position of the verb, after flags, width, precision and length.
		n := i + 1
		for n < len(f) && strings.IndexByte("-+ #0123456789.*hljztLv", f[n]) >= 0 {
			n++
		}
		if n == len(f) {
			out.WriteString(f[i:])
			return out.String()
		}
		out.WriteString(p.vector(f[i+1:n], f[n]))
		f = f[n+1:]
	}
}

// vector formats %vNf and similar conversions: the N elements of an OpenCL vector (OpenCL C 3.0,
// 6.15.13.2), separated by commas. Elements have their sizes in memory: nothing is promoted.
func (p *printer) vector(spec string, verb byte) string {
	flags, rest, ok := strings.Cut(spec, "v")
	if !ok {
		return p.conversion(spec, verb)
	}
	// The number of elements, then the length modifier of each.
	digits := strings.TrimRight(rest, "hl")
	n, err := strconv.Atoi(digits)
	size := map[string]uint64{"hh": 1, "h": 2, "hl": 4, "": 4, "l": 8}[rest[len(digits):]]
	if err != nil || n < 2 || n > 16 || size == 0 {
		return "%" + spec + string(verb)
	}
	// OpenCL vectors are aligned to their size.
	slots := uint64(n) // a vector of three is as large as one of four
	if n == 3 {
		slots = 4
	}
	p.at = (p.at + slots*size - 1) / (slots * size) * (slots * size)
	p.used++
	var parts []string
	for i := range uint64(n) {
		if b, known := p.x.peek(p.lane, p.at+i*size, size); b != nil && known {
			parts = append(parts, formatted(flags, verb, b))
		} else {
			parts = append(parts, "?")
		}
	}
	p.at += slots * size
	return strings.Join(parts, ",")
}

// formatted prints one element of a vector, in little-endian bytes: 1 to 8 of them.
func formatted(flags string, verb byte, b []byte) string {
	v := uint64(0)
	for i := len(b) - 1; i >= 0; i-- {
		v = v<<8 | uint64(b[i])
	}
	// Shifting to the top and back extends the sign.
	shift := 64 - 8*uint(len(b))
	switch verb {
	case 'd', 'i':
		return fmt.Sprintf("%"+flags+"d", int64(v<<shift)>>shift)
	case 'u':
		return fmt.Sprintf("%"+flags+"d", v)
	case 'x', 'X', 'o':
		return fmt.Sprintf("%"+flags+string(verb), v)
	}
	f := math.Float64frombits(v)
	if len(b) == 4 {
		f = float64(math.Float32frombits(uint32(v)))
	}
	switch verb {
	case 'f', 'F', 'e', 'E', 'g', 'G':
		return fmt.Sprintf("%"+flags+string(verb), f)
	case 'a', 'A':
		return fmt.Sprintf("%"+flags+string(verb+'x'-'a'), f)
	}
	return "?"
}

// conversion formats one argument. spec is the text between % and the verb: flags, width, precision
// and length, of which Go has all but the length. An unknown verb is printed as it is and reads
// nothing, as CUDA does.
func (p *printer) conversion(spec string, verb byte) string {
	if verb == '%' {
		return "%"
	}
	size := uint64(4)
	if strings.ContainsAny(spec, "ljztL") {
		size = 8 // long has 64 bits on every platform of nvcc except Windows
	}
	// h and hh narrow the promoted argument again.
	half := strings.Count(spec, "h")
	flags := strings.Trim(spec, "hljztL")
	// A width or precision that is an argument of its own.
	for strings.Contains(flags, "*") {
		w, ok := p.next(4)
		if !ok {
			return "?"
		}
		flags = strings.Replace(flags, "*", strconv.Itoa(int(int32(w))), 1)
	}
	switch verb {
	case 'd', 'i', 'u', 'x', 'X', 'o', 'c':
	case 'p', 's', 'f', 'F', 'e', 'E', 'g', 'G', 'a', 'A':
		size = 8
	default:
		return "%" + spec + string(verb)
	}
	v, ok := p.next(size)
	if !ok {
		return "?"
	}
	if half > 0 {
		v &= 1<<(16/uint(half)) - 1
	}
	switch verb {
	case 'd', 'i':
		bits := uint(8 * size)
		if half > 0 {
			bits = 16 / uint(half)
		}
		return fmt.Sprintf("%"+flags+"d", int64(v<<(64-bits))>>(64-bits))
	case 'u':
		return fmt.Sprintf("%"+flags+"d", v)
	case 'x', 'X', 'o':
		return fmt.Sprintf("%"+flags+string(verb), v)
	case 'c':
		return string([]byte{byte(v)})
	case 'p':
		return fmt.Sprintf("%#x", v)
	case 's':
		return fmt.Sprintf("%"+flags+"s", p.x.cString(p.lane, v))
	case 'a':
		verb = 'x'
	case 'A':
		verb = 'X'
	}
	return fmt.Sprintf("%"+flags+string(verb), math.Float64frombits(v))
}

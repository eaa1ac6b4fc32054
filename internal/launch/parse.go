package launch

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"heddle/internal/event"
)

// ParseDim reads a size in one to three dimensions: "256", "16,16", "4,4,2" or "16x16".
// Dimensions that are left out are 1.
func ParseDim(s string) (event.Dim3, error) {
	d, err := parseTriple(s, [3]uint32{1, 1, 1})
	if err == nil && d.Count() == 0 {
		return event.Dim3{}, fmt.Errorf("%q has a dimension of 0; every dimension is at least 1", s)
	}
	return d, err
}

// ParseIndex reads the index of a block or a thread: "X", "X,Y" or "X,Y,Z"; what is left out is 0.
func ParseIndex(s string) (event.Dim3, error) { return parseTriple(s, [3]uint32{}) }

func parseTriple(s string, dims [3]uint32) (event.Dim3, error) {
	sep := ","
	if !strings.Contains(s, ",") && !strings.HasPrefix(strings.TrimSpace(s), "0x") {
		sep = "x"
	}
	parts := strings.Split(s, sep)
	if len(parts) > 3 {
		return event.Dim3{}, fmt.Errorf("%q has %d dimensions, at most 3 are possible", s, len(parts))
	}
	for i, p := range parts {
		n, err := strconv.ParseUint(strings.TrimSpace(p), 0, 32)
		if err != nil {
			return event.Dim3{}, fmt.Errorf("%q is no size: %s; want X, X,Y or X,Y,Z", s, numberProblem(p, err))
		}
		dims[i] = uint32(n)
	}
	return event.Dim3{X: dims[0], Y: dims[1], Z: dims[2]}, nil
}

// sizeUnits are the suffixes of a number of bytes. They are all powers of 1024, as in CUDA's own documents.
var sizeUnits = []struct {
	suffix string
	factor uint64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30},
	{"KB", 1 << 10}, {"MB", 1 << 20}, {"GB", 1 << 30},
	{"K", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30}, {"B", 1},
}

// ParseSize reads a number of bytes: "1024", "0x400", "48K", "16MiB".
func ParseSize(s string) (uint64, error) {
	num, factor := strings.TrimSpace(s), uint64(1)
	if !strings.HasPrefix(num, "0x") { // B is a digit there
		for _, u := range sizeUnits {
			if len(num) > len(u.suffix) && strings.EqualFold(num[len(num)-len(u.suffix):], u.suffix) {
				num, factor = num[:len(num)-len(u.suffix)], u.factor
				break
			}
		}
	}
	n, err := strconv.ParseUint(num, 0, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is no number of bytes: %s; want one such as 1024, 48K or 16MiB", s, numberProblem(num, err))
	}
	if n > math.MaxUint64/factor {
		return 0, fmt.Errorf("%q does not fit in 64 bits", s)
	}
	return n * factor, nil
}

// ParseShared reads the size of dynamic shared memory. What the hardware allows is checked by Resolve.
func ParseShared(s string) (uint32, error) {
	n, err := ParseSize(s)
	if err != nil {
		return 0, err
	}
	if n > math.MaxUint32 {
		return 0, fmt.Errorf("%q is more shared memory than any GPU has", s)
	}
	return uint32(n), nil
}

func numberProblem(s string, err error) string {
	switch {
	case strings.TrimSpace(s) == "":
		return "a number is missing"
	case strings.HasPrefix(s, "-"):
		return fmt.Sprintf("%q is negative", s)
	case isRange(err):
		return fmt.Sprintf("%q is too large", s)
	}
	return fmt.Sprintf("%q is no number", s)
}

func isRange(err error) bool {
	ne, ok := err.(*strconv.NumError)
	return ok && ne.Err == strconv.ErrRange
}

// fillNames are the words for the contents of a buffer.
var fillNames = map[string]Fill{"zero": FillZero, "random": FillRandom, "iota": FillIota}

// ParseArg reads "PARAM=VALUE". PARAM is a name, or an index from 0; "PARAM+OFFSET" is a field of a struct
// that is passed by value. The forms of VALUE are
//
//	1024  -1  0x400  1.5  true        a number of the parameter's type
//	u32:7  f32:1.5  s16:-1 ...        a number of the type that is named, for a field of a struct
//	zero  random  iota                a buffer with these contents; :SIZE bounds it, random@SEED seeds it
//	value:N                           a buffer whose 32-bit words are N; :SIZE bounds it
//	unknown                           contents, or a number, that are not given
//	file:PATH                         the bytes of a file; :SIZE asks for at least so many
//	alias:PARAM                       the buffer of another parameter
//	local:SIZE                        shared memory of each block, for a __local pointer of OpenCL
//	hex:00ff10                        bytes in the order of memory
//	func:NAME                         the address of a device function, mangled or demangled
//	null                              a null pointer
func ParseArg(s string) (ArgSpec, error) {
	name, val, ok := strings.Cut(s, "=")
	name, val = strings.TrimSpace(name), strings.TrimSpace(val)
	switch {
	case !ok:
		return ArgSpec{}, fmt.Errorf("%q lacks '='; want NAME=VALUE, such as n=1024 or in=random", s)
	case name == "":
		return ArgSpec{}, fmt.Errorf("%q names no parameter; want NAME=VALUE", s)
	case val == "":
		return ArgSpec{}, fmt.Errorf("%q has no value; want a number, zero, random, iota, unknown, file:PATH or alias:PARAM", s)
	}
	a := ArgSpec{Param: name, Offset: -1}
	if base, off, ok := strings.Cut(name, "+"); ok {
		n, err := strconv.ParseUint(off, 0, 16)
		if err != nil || base == "" {
			return ArgSpec{}, fmt.Errorf("%q: want PARAM+OFFSET with an offset in bytes", name)
		}
		a.Param, a.Offset = base, int(n)
	}
	if err := a.parseValue(val); err != nil {
		return ArgSpec{}, fmt.Errorf("%s: %w", name, err)
	}
	return a, nil
}

func (a *ArgSpec) parseValue(val string) error {
	head, rest, hasRest := strings.Cut(val, ":")
	word, seed, hasSeed := strings.Cut(head, "@")
	if fill, ok := fillNames[word]; ok {
		a.Kind, a.Fill = ArgBuffer, fill
		if hasSeed {
			n, err := strconv.ParseUint(seed, 0, 64)
			if err != nil || fill != FillRandom {
				return fmt.Errorf("%q: only random takes a seed, as random@7", head)
			}
			a.Seed = n
		}
		return a.parseSize(rest, hasRest)
	}
	switch head {
	case "local":
		a.Kind = ArgLocal
		return a.parseSize(rest, hasRest)
	case "unknown":
		a.Kind = ArgUnknown
		return a.parseSize(rest, hasRest)
	case "value":
		num, size, hasSize := strings.Cut(rest, ":")
		n, err := strconv.ParseInt(num, 0, 64)
		if err != nil || n < math.MinInt32 || n > math.MaxUint32 {
			return fmt.Errorf("%q: want value:N with a number of 32 bits", val)
		}
		a.Kind, a.Fill, a.Value = ArgBuffer, FillValue, uint32(n)
		return a.parseSize(size, hasSize)
	case "file":
		return a.parseFile(rest)
	case "alias":
		if rest == "" {
			return fmt.Errorf("%q: want alias:PARAM", val)
		}
		a.Kind, a.Text = ArgAlias, rest
		return nil
	case "func":
		if rest == "" {
			return fmt.Errorf("%q: want func:NAME, a device function", val)
		}
		a.Kind, a.Text = ArgFunc, rest
		return nil
	case "hex":
		if _, err := parseHexBytes(strings.TrimSuffix(rest, andZeros)); err != nil {
			return fmt.Errorf("hex:%w; at the end %s for a buffer that goes on with zeros", err, andZeros)
		}
		a.Kind, a.Text = ArgBytes, rest
		return nil
	case "null", "false":
		val = "0"
	case "true":
		val = "1"
	}
	a.Kind, a.Text = ArgValue, val
	return checkLiteral(val)
}

func (a *ArgSpec) parseSize(s string, given bool) error {
	if !given {
		return nil
	}
	n, err := ParseSize(s)
	if err != nil {
		return err
	}
	if n == 0 {
		return fmt.Errorf("a buffer of 0 bytes; leave the size out for one without bound")
	}
	a.Size = n
	return nil
}

// parseFile reads PATH or PATH:SIZE. A last part after ':' that is no size belongs to the path.
func (a *ArgSpec) parseFile(s string) error {
	a.Kind, a.Text = ArgFile, s
	if i := strings.LastIndexByte(s, ':'); i > 0 {
		if n, err := ParseSize(s[i+1:]); err == nil && n > 0 {
			a.Text, a.Size = s[:i], n
		}
	}
	if a.Text == "" {
		return fmt.Errorf("file: without a path")
	}
	return nil
}

// checkLiteral reports a word that cannot be a value of any type, before the type is known.
func checkLiteral(val string) error {
	num := val
	if typ, rest, ok := strings.Cut(val, ":"); ok {
		if _, known := literalTypes[typ]; !known {
			return fmt.Errorf("%q is no value; want a number, zero, random, iota, value:N, unknown, file:PATH, alias:PARAM or hex:BYTES", val)
		}
		num = rest
	}
	if isInteger(num) {
		return nil
	}
	if _, err := strconv.ParseFloat(num, 64); err != nil && !isRange(err) {
		return fmt.Errorf("%q is no value; want a number, zero, random, iota, value:N, unknown, file:PATH, alias:PARAM or hex:BYTES", val)
	}
	return nil
}

func isInteger(s string) bool {
	_, err := strconv.ParseInt(s, 0, 64)
	if err == nil || isRange(err) {
		return true
	}
	_, err = strconv.ParseUint(s, 0, 64)
	return err == nil || isRange(err)
}

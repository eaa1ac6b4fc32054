package launch

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"heddle/internal/event"
)

// ParseDim parses a size in one to three dimensions: "256", "16,16", "4,4,2" or "16x16". Omitted
// dimensions are 1. It fails for a dimension of 0 or above 2^32-1.
func ParseDim(s string) (event.Dim3, error) {
	d, err := parseTriple(s, [3]uint32{1, 1, 1})
	if err == nil && d.Count() == 0 {
		return event.Dim3{}, fmt.Errorf("%q has a dimension of 0; every dimension is at least 1", s)
	}
	return d, err
}

// ParseIndex parses the index of a block or a thread: "X", "X,Y" or "X,Y,Z". Omitted dimensions are
// 0.
func ParseIndex(s string) (event.Dim3, error) { return parseTriple(s, [3]uint32{}) }

// parseTriple parses up to three numbers, separated by commas or by x; dims are the values of
// omitted ones. A single hexadecimal number contains an x that does not separate, so 0x10 is 16 and
// 0x10,2 has two dimensions.
func parseTriple(s string, dims [3]uint32) (event.Dim3, error) {
	sep := ","
	if !strings.Contains(s, ",") && !strings.HasPrefix(strings.TrimSpace(s), "0x") {
		sep = "x"
	}
	parts := strings.Split(s, sep)
	if len(parts) > 3 {
		return event.Dim3{}, fmt.Errorf("%q has %d dimensions; at most 3 are allowed", s, len(parts))
	}
	for i, p := range parts {
		n, err := strconv.ParseUint(strings.TrimSpace(p), 0, 32)
		if err != nil && strings.TrimSpace(p) == "*" {
			return event.Dim3{}, fmt.Errorf("%q is not a size; only heddle verify accepts * for any size, "+
				"as --grid '*'", s)
		}
		if err != nil {
			return event.Dim3{}, fmt.Errorf("%q is not a size: %s; expected X or X,Y or X,Y,Z", s,
				numberProblem(p, err))
		}
		dims[i] = uint32(n)
	}
	return event.Dim3{X: dims[0], Y: dims[1], Z: dims[2]}, nil
}

// sizeUnits are the suffixes of a number of bytes, longest first. All are powers of 1024, as in
// CUDA's documentation.
var sizeUnits = []struct {
	suffix string
	factor uint64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30},
	{"KB", 1 << 10}, {"MB", 1 << 20}, {"GB", 1 << 30},
	{"K", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30}, {"B", 1},
}

// ParseSize parses a number of bytes: "1024", "0x400", "48K", "16MiB". It fails if the number does
// not fit in 64 bits.
func ParseSize(s string) (uint64, error) {
	num, factor := strings.TrimSpace(s), uint64(1)
	if !strings.HasPrefix(num, "0x") { // B is a digit in hexadecimal
		for _, u := range sizeUnits {
			if len(num) > len(u.suffix) && strings.EqualFold(num[len(num)-len(u.suffix):], u.suffix) {
				num, factor = num[:len(num)-len(u.suffix)], u.factor
				break
			}
		}
	}
	n, err := strconv.ParseUint(num, 0, 64)
	if err != nil {
		return 0, fmt.Errorf(
			"%q is not a number of bytes: %s; expected a size such as 1024, 48K or 16MiB", s,
			numberProblem(num, err))
	}
	if n > math.MaxUint64/factor {
		return 0, fmt.Errorf("%q does not fit in 64 bits", s)
	}
	return n * factor, nil
}

// ParseShared parses the bytes of dynamic shared memory. Resolve checks the limit of the hardware.
func ParseShared(s string) (uint32, error) {
	n, err := ParseSize(s)
	if err != nil {
		return 0, err
	}
	if n > math.MaxUint32 {
		return 0, fmt.Errorf("%q is more shared memory than any GPU has; a block has at most 227 KiB", s)
	}
	return uint32(n), nil
}

// numberProblem explains why s, which strconv refused with err, is not a number.
func numberProblem(s string, err error) string {
	switch {
	case strings.TrimSpace(s) == "":
		return "a number is missing"
	case strings.HasPrefix(s, "-"):
		return fmt.Sprintf("%q is negative", s)
	case isRange(err):
		return fmt.Sprintf("%q is too large", s)
	}
	return fmt.Sprintf("%q is not a number", s)
}

// isRange reports whether err, of strconv, means that a number is out of range.
func isRange(err error) bool {
	ne, ok := err.(*strconv.NumError)
	return ok && ne.Err == strconv.ErrRange
}

// fillNames are the words for the contents of a buffer.
var fillNames = map[string]Fill{"zero": FillZero, "random": FillRandom, "iota": FillIota}

// ParseArg reads "PARAM=VALUE". PARAM is a name, or an index from 0; "PARAM+OFFSET" is a field of a
// struct that is passed by value. The forms of VALUE are
//
//	1024  -1  0x400  1.5  true   a number of the parameter's type
//	u32:7  f32:1.5  s16:-1 ...   a number of the named type, for a field of a struct
//	zero  random  iota           a buffer with these contents; :SIZE bounds it, random@SEED seeds it
//	value:N                      a buffer whose 32-bit words are all N; :SIZE bounds it
//	small:N  perm:N  csr:N,E     a buffer of random integers below N, of a permutation of 0 to N-1,
//	                             of the row pointers of N rows with E entries; ",SEED" seeds it
//	ints:0,3,5                   a buffer of these integers; "..." at the end adds zeros, unbounded
//	oneof:0,3,5                  a buffer of random integers, each one of these; oneof@SEED: seeds it
//	struct:STRIDE{OFF=FILL,...}  a buffer of structs, each member with a fill or a typed number
//	u64:iota  u8:small:10 ...    one of these with elements of that type
//	unknown                      an unknown number, or a buffer with unknown contents
//	file:PATH                    the bytes of a file; :SIZE requires at least SIZE bytes
//	alias:PARAM                  the buffer of another parameter, from where that one points
//	local:SIZE                   shared memory of each block, for a __local pointer of OpenCL
//	hex:00ff10                   bytes in memory order
//	func:NAME                    the address of a device function, mangled or demangled
//	null                         a null pointer
//
// "+BYTES" after a buffer or an alias moves the pointer by so many bytes into it: alias:a+4,
// zero:4K+64.
func ParseArg(s string) (ArgSpec, error) {
	name, val, ok := strings.Cut(s, "=")
	name, val = strings.TrimSpace(name), strings.TrimSpace(val)
	switch {
	case !ok:
		return ArgSpec{}, fmt.Errorf("%q lacks '='; expected NAME=VALUE, such as n=1024 or in=random", s)
	case name == "":
		return ArgSpec{}, fmt.Errorf("%q names no parameter; expected NAME=VALUE, such as n=1024", s)
	case val == "":
		return ArgSpec{}, fmt.Errorf("%q has no value; expected a number, zero, random, iota, unknown, "+
			"file:PATH or alias:PARAM", s)
	}
	a := ArgSpec{Param: name, Offset: -1}
	if base, off, ok := strings.Cut(name, "+"); ok {
		n, err := strconv.ParseUint(off, 0, 16)
		if err != nil || base == "" {
			return ArgSpec{}, fmt.Errorf("%q: expected PARAM+OFFSET with an offset in bytes, such as s+8",
				name)
		}
		a.Param, a.Offset = base, int(n)
	}
	if err := a.parseValue(val); err != nil {
		return ArgSpec{}, fmt.Errorf("%s: %w", name, err)
	}
	return a, nil
}

// parseValue parses the part after '='. A file takes "+BYTES" only after ":SIZE", since a path may
// contain a plus sign.
func (a *ArgSpec) parseValue(val string) error {
	if body, at, ok := cutPosition(val); ok {
		b := *a
		if err := b.parseForm(body); err == nil && b.pointsInto() {
			b.At = at
			*a = b
			return nil
		}
	}
	return a.parseForm(val)
}

// cutPosition splits "FORM+BYTES". BYTES is at most maxBuffer. A sign that follows a colon belongs
// to a number: value:+1.
func cutPosition(val string) (form string, at uint64, ok bool) {
	i := strings.LastIndexByte(val, '+')
	if i < 1 || val[i-1] == ':' || val[i-1] == '@' {
		return val, 0, false
	}
	at, err := ParseSize(val[i+1:])
	return val[:i], at, err == nil && at <= maxBuffer
}

// pointsInto reports whether a pointer of this form can point into its buffer.
func (a *ArgSpec) pointsInto() bool {
	switch a.Kind {
	case ArgBuffer, ArgAlias, ArgUnknown, ArgBytes:
		return true
	case ArgFile:
		return a.Size > 0
	}
	return false
}

// parseForm parses a value without "+BYTES".
func (a *ArgSpec) parseForm(val string) error {
	if ok, err := a.parseElements(val); ok {
		return err
	}
	head, rest, hasRest := strings.Cut(val, ":")
	word, seed, hasSeed := strings.Cut(head, "@")
	if fill, ok := fillNames[word]; ok {
		a.Kind, a.Fill = ArgBuffer, fill
		if hasSeed {
			n, err := strconv.ParseUint(seed, 0, 64)
			if err != nil || fill != FillRandom {
				return fmt.Errorf("%q: only random takes a seed, a number such as random@7", head)
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
		return a.parseWord(rest)
	case "file":
		return a.parseFile(rest)
	case "alias":
		rest = strings.TrimSpace(rest)
		if rest == "" || strings.Contains(rest, "+") {
			return fmt.Errorf("%q: expected alias:PARAM or alias:PARAM+BYTES with the name of another "+
				"parameter", val)
		}
		a.Kind, a.Text = ArgAlias, rest
		return nil
	case "func":
		rest = strings.TrimSpace(rest)
		if rest == "" {
			return fmt.Errorf("%q: expected func:NAME with the name of a device function", val)
		}
		a.Kind, a.Text = ArgFunc, rest
		return nil
	case "hex":
		if _, err := parseHexBytes(strings.TrimSuffix(rest, andZeros)); err != nil {
			return fmt.Errorf("hex:%w; %s at the end makes a buffer that continues with zeros", err,
				andZeros)
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

// parseSize parses the SIZE of a buffer if there is one.
func (a *ArgSpec) parseSize(s string, given bool) error {
	if !given {
		return nil
	}
	n, err := ParseSize(s)
	if err != nil {
		return err
	}
	if n == 0 {
		return fmt.Errorf("a buffer cannot have 0 bytes; omit the size for an unbounded buffer")
	}
	a.Size = n
	return nil
}

// parseWord parses N or N:SIZE of a buffer whose words are all N.
func (a *ArgSpec) parseWord(s string) error {
	num, size, hasSize := strings.Cut(s, ":")
	n, err := strconv.ParseInt(num, 0, 64)
	if err != nil || n < math.MinInt32 || n > math.MaxUint32 {
		return fmt.Errorf("%q: expected value:N with a number that fits in 32 bits", "value:"+s)
	}
	a.Kind, a.Fill, a.Value = ArgBuffer, FillValue, uint32(n)
	return a.parseSize(size, hasSize)
}

// parseFile parses PATH or PATH:SIZE. If the part after the last ':' is not a size, it belongs to
// the path.
func (a *ArgSpec) parseFile(s string) error {
	a.Kind, a.Text = ArgFile, s
	if i := strings.LastIndexByte(s, ':'); i > 0 {
		if n, err := ParseSize(s[i+1:]); err == nil && n > 0 {
			a.Text, a.Size = s[:i], n
		}
	}
	if a.Text == "" {
		return fmt.Errorf("file: has no path; expected file:PATH")
	}
	return nil
}

// checkLiteral reports a word that is not a value of any type, before the parameter's type is
// known. So a typing error such as rnadom is found while the command line is parsed.
func checkLiteral(val string) error {
	num := val
	if typ, rest, ok := strings.Cut(val, ":"); ok {
		if _, known := literalTypes[typ]; !known {
			return notValue(val)
		}
		num = rest
	}
	if isInteger(num) {
		return nil
	}
	if _, err := strconv.ParseFloat(num, 64); err != nil && !isRange(err) {
		return notValue(val)
	}
	return nil
}

// notValue is the error for a word that is no form of a value.
func notValue(val string) error {
	return fmt.Errorf("%q is not a value; expected a number, zero, random, iota, value:N, small:N, "+
		"perm:N, csr:N,E, ints:LIST, oneof:LIST, struct:STRIDE{...}, unknown, file:PATH, alias:PARAM or "+
		"hex:BYTES",
		val)
}

// isInteger reports whether s has the form of an integer, of any size.
func isInteger(s string) bool {
	_, err := strconv.ParseInt(s, 0, 64)
	if err == nil || isRange(err) {
		return true
	}
	_, err = strconv.ParseUint(s, 0, 64)
	return err == nil || isRange(err)
}

package launch

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// The text forms of fills that consist of elements, each optionally after the type of an element
// (u64:iota):
//
//	iota                    0, 1, 2, ...
//	small:N[,SEED]          seeded random integers from 0 to N-1
//	perm:N[,SEED]           a permutation of 0 to N-1
//	csr:N,E[,SEED]          row pointers: N+1 integers that never fall, from 0 to E
//	ints:0,3,5              these integers; "..." at the end adds zeros without bound
//	oneof[@SEED]:0,3,5      seeded random integers, each one of these
//	struct:STRIDE{OFF=FILL,...}
//
// A struct has one fill, or one typed number, for each member: struct:16{0=iota,8=f32:1.5}.

// elementTypes are the types that may precede a fill, by the size of an element in bytes.
var elementTypes = map[uint8]string{1: "u8", 2: "u16", 4: "u32", 8: "u64"}

// mostElements bounds N and E, so that their product fits in 64 bits.
const mostElements = math.MaxUint32

// elementType returns the bytes of a type that may precede a fill; 0 for any other word.
func elementType(word string) uint8 {
	if t, ok := literalTypes[word]; ok && !t.IsFloat() {
		return uint8(t.Size())
	}
	return 0
}

// parseElements parses a fill that consists of elements, with the type of an element and the size
// of the buffer. ok is false if s is none.
func (a *ArgSpec) parseElements(s string) (ok bool, err error) {
	head, rest, _ := strings.Cut(s, ":")
	if n := elementType(head); n != 0 {
		word, _, _ := strings.Cut(rest, ":")
		word, _, _ = strings.Cut(word, "@")
		if !slices.Contains([]string{"iota", "small", "perm", "csr", "ints", "oneof"}, word) {
			return false, nil
		}
		a.Elem = n
		head, rest, _ = strings.Cut(rest, ":")
		if head == "iota" {
			a.Kind, a.Fill = ArgBuffer, FillIota
			return true, a.parseSize(rest, strings.Count(s, ":") > 1)
		}
	}
	word, seed, hasSeed := strings.Cut(head, "@")
	if hasSeed && word != "oneof" {
		return false, nil
	}
	switch word {
	case "oneof":
		a.Fill = FillOneOf
		if a.Seed, err = strconv.ParseUint(seed, 0, 64); hasSeed && err != nil {
			return true, fmt.Errorf("%q: the seed %s", head, numberProblem(seed, err))
		}
		err = a.parseInts(rest)
	case "small":
		a.Fill = FillSmall
		err = a.parseCounts(head, rest, 1)
	case "perm":
		a.Fill = FillPerm
		err = a.parseCounts(head, rest, 1)
	case "csr":
		a.Fill = FillCSR
		err = a.parseCounts(head, rest, 2)
	case "ints":
		a.Fill = FillInts
		err = a.parseInts(rest)
	case "struct":
		a.Fill = FillStruct
		err = a.parseStruct(rest)
	default:
		return false, nil
	}
	a.Kind = ArgBuffer
	return true, err
}

// parseCounts parses N or, if want is 2, N,E; then an optional seed and an optional size.
func (a *ArgSpec) parseCounts(head, s string, want int) error {
	form := map[string]string{"small": "small:N", "perm": "perm:N", "csr": "csr:N,E"}[head]
	list, size, hasSize := strings.Cut(s, ":")
	parts := strings.Split(list, ",")
	if len(parts) < want || len(parts) > want+1 {
		return fmt.Errorf("%q: expected %s or %s,SEED", head+":"+s, form, form)
	}
	counts := []*uint64{&a.N, &a.E}[:want]
	for i, c := range counts {
		n, err := strconv.ParseUint(parts[i], 0, 64)
		if err != nil || n > mostElements || n == 0 && i == 0 {
			return fmt.Errorf("%q: expected %s with numbers from 1 to 2^32-1", head+":"+s, form)
		}
		*c = n
	}
	if len(parts) > want {
		seed, err := strconv.ParseUint(parts[want], 0, 64)
		if err != nil {
			return fmt.Errorf("%q: the seed %s", head+":"+s, numberProblem(parts[want], err))
		}
		a.Seed = seed
	}
	return a.parseSize(size, hasSize)
}

// parseInts parses a list of integers with an optional size, and normalizes its text.
func (a *ArgSpec) parseInts(s string) error {
	list, size, hasSize := strings.Cut(s, ":")
	digits, open := strings.CutSuffix(list, andZeros)
	if open && a.Fill != FillInts {
		return fmt.Errorf("%q: %s is for ints: only", list, andZeros)
	}
	if open && hasSize {
		return fmt.Errorf("%q: give either a size or %s", "ints:"+s, andZeros)
	}
	if _, err := encodeInts(digits, 8); err != nil {
		return err
	}
	a.Text = list
	return a.parseSize(size, hasSize)
}

// encodeInts returns the bytes of a list of integers, size bytes each. It fails for what is not an
// integer or does not fit, signed or unsigned.
func encodeInts(list string, size int) ([]byte, error) {
	var out []byte
	for word := range strings.SplitSeq(list, ",") {
		if !isInteger(word) {
			return nil, fmt.Errorf("%q: expected integers, such as ints:0,3,5", "ints:"+list)
		}
		v, err := parseInteger(word, 8*size)
		if err != nil {
			return nil, err
		}
		var b [8]byte
		put(b[:], v)
		out = append(out, b[:size]...)
	}
	return out, nil
}

// parseStruct parses STRIDE{OFF=FILL,...}. Its Text becomes the normalized list of members, N the
// stride.
func (a *ArgSpec) parseStruct(s string) error {
	stride, rest, ok := strings.Cut(s, "{")
	list, size, closed := strings.Cut(rest, "}")
	n, err := ParseSize(stride)
	if !ok || !closed || err != nil || n == 0 || n > math.MaxUint16 {
		return fmt.Errorf("%q: expected struct:STRIDE{OFFSET=FILL,...} with sizes in bytes, such as "+
			"struct:8{0=iota,4=small:10}", "struct:"+s)
	}
	size, hasSize := strings.CutPrefix(size, ":")
	if !hasSize && size != "" {
		return fmt.Errorf("%q: unexpected %q after the members", "struct:"+s, size)
	}
	members, err := parseMembers(list, n)
	if err != nil {
		return err
	}
	words := make([]string, len(members))
	for i, m := range members {
		words[i] = fmt.Sprintf("%d=%s", m.Offset, m.form())
	}
	a.N, a.Text = n, strings.Join(words, ",")
	return a.parseSize(size, hasSize)
}

// parseMembers parses the members of a struct of stride bytes. A comma separates members only if
// OFFSET= follows it, since fills contain commas.
func parseMembers(list string, stride uint64) ([]ArgSpec, error) {
	var words []string
	for word := range strings.SplitSeq(list, ",") {
		if !strings.Contains(word, "=") && len(words) > 0 {
			words[len(words)-1] += "," + word
			continue
		}
		words = append(words, word)
	}
	members := make([]ArgSpec, len(words))
	for i, word := range words {
		off, fill, ok := strings.Cut(word, "=")
		n, err := strconv.ParseUint(off, 0, 16)
		if !ok || err != nil || n >= stride {
			return nil, fmt.Errorf("%q: expected OFFSET=FILL with an offset below the %d bytes of the "+
				"struct", word, stride)
		}
		m := &members[i]
		m.Offset = int(n)
		if err := m.parseMember(fill); err != nil {
			return nil, err
		}
		if n+m.memberSize() > stride {
			return nil, fmt.Errorf("%q: a member of %d bytes at offset %d runs past the end of the "+
				"struct, which has %d bytes", word, m.memberSize(), n, stride)
		}
	}
	return members, nil
}

// parseMember parses the contents of a member: a fill without size, or a number, of 4 bytes unless
// a type precedes it.
func (a *ArgSpec) parseMember(s string) error {
	if err := a.parseForm(s); err != nil {
		return err
	}
	switch {
	case a.Kind == ArgValue:
		_, err := a.memberBytes()
		return err
	case a.Kind != ArgBuffer || a.Fill == FillStruct || a.Size > 0 ||
		strings.HasSuffix(a.Text, andZeros):
		return fmt.Errorf("%q: a member is a number, zero, random, iota, small:N, perm:N, csr:N,E, "+
			"value:N, ints:LIST or oneof:LIST, without a size", s)
	}
	return a.fits(a.memberSize())
}

// memberBytes returns the bytes of a member that is a number.
func (a *ArgSpec) memberBytes() ([]byte, error) {
	typ := literalTypes["b32"]
	if name, _, ok := strings.Cut(a.Text, ":"); ok {
		typ = literalTypes[name]
	}
	return encodeLiteral(a.Text, typ, false)
}

// memberSize returns the bytes of a member.
func (a *ArgSpec) memberSize() uint64 {
	if a.Kind == ArgValue {
		b, _ := a.memberBytes()
		return uint64(len(b))
	}
	if a.Elem != 0 {
		return uint64(a.Elem)
	}
	return defaultElem
}

// fits returns an error if a number of the fill does not fit in an element of size bytes.
func (a *ArgSpec) fits(size uint64) error {
	var most uint64
	switch a.Fill {
	case FillSmall, FillPerm:
		most = a.N - 1
	case FillCSR:
		most = a.E
	case FillInts, FillOneOf:
		_, err := encodeInts(strings.TrimSuffix(a.Text, andZeros), int(size))
		return err
	}
	if size < 8 && most>>(8*size) != 0 {
		return fmt.Errorf("%s has numbers up to %d, which do not fit in elements of %d bytes; give the "+
			"type of an element, such as u32:%s", a.form(), most, size, a.form())
	}
	return nil
}

// fillText returns the words for the contents of a buffer, without its size.
func (a ArgSpec) fillText() string {
	typ, seed := "", ""
	if a.Elem != 0 {
		typ = elementTypes[a.Elem] + ":"
	}
	if a.Seed != 0 {
		seed = fmt.Sprintf(",%d", a.Seed)
	}
	switch a.Fill {
	case FillRandom:
		if a.Seed != 0 {
			return fmt.Sprintf("random@%d", a.Seed)
		}
		return "random"
	case FillIota:
		return typ + "iota"
	case FillValue:
		return fmt.Sprintf("value:%d", a.Value)
	case FillSmall:
		return fmt.Sprintf("%ssmall:%d%s", typ, a.N, seed)
	case FillPerm:
		return fmt.Sprintf("%sperm:%d%s", typ, a.N, seed)
	case FillCSR:
		return fmt.Sprintf("%scsr:%d,%d%s", typ, a.N, a.E, seed)
	case FillInts:
		return typ + "ints:" + a.Text
	case FillOneOf:
		if a.Seed != 0 {
			return fmt.Sprintf("%soneof@%d:%s", typ, a.Seed, a.Text)
		}
		return typ + "oneof:" + a.Text
	case FillStruct:
		return fmt.Sprintf("struct:%d{%s}", a.N, a.Text)
	}
	return "zero"
}

// setElements completes a buffer whose contents consist of elements. loads are the bytes of an
// element as the kernel accesses the buffer; 0 if that is not known. A list of integers, a
// permutation and row pointers have a last element, which bounds the buffer unless its size is
// given.
func (b *Buffer) setElements(a ArgSpec, loads uint8) error {
	b.Elem = a.Elem
	if b.Elem == 0 && loads != 0 {
		b.Elem = loads
	}
	if err := a.fits(b.elem()); err != nil {
		return err
	}
	b.N, b.E = a.N, a.E
	natural := uint64(0)
	switch a.Fill {
	case FillPerm:
		natural = a.N * b.elem()
	case FillCSR:
		natural = (a.N + 1) * b.elem()
	case FillInts, FillOneOf:
		list, open := strings.CutSuffix(a.Text, andZeros)
		b.Data, _ = encodeInts(list, int(b.elem())) // fits has checked it
		if !open && a.Fill == FillInts {
			natural = uint64(len(b.Data))
		}
	case FillStruct:
		return b.setMembers(a)
	}
	if b.Size == 0 {
		b.Size = natural
	}
	return nil
}

// setMembers sets the members of a buffer of structs.
func (b *Buffer) setMembers(a ArgSpec) error {
	members, err := parseMembers(a.Text, a.N)
	b.Stride, b.N = a.N, 0
	for _, m := range members {
		c := &Buffer{Name: fmt.Sprintf("%s.%d", b.Name, m.Offset), Fill: m.Fill, Seed: m.Seed,
			Value: m.Value}
		if m.Kind == ArgValue {
			bits, err := m.memberBytes()
			if err != nil {
				return err
			}
			c.Fill, c.Elem, c.Data = FillConst, uint8(len(bits)), bits
		} else if err := c.setElements(m, 0); err != nil {
			return err
		}
		b.Members = append(b.Members, Member{uint64(m.Offset), c})
	}
	return err
}

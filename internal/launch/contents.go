package launch

import (
	"maps"
	"math/bits"
	"slices"
)

// Contents of buffers that are made of integers, or of structs of them: element i is a function of
// i, so that the emulator can create any page of a buffer of any size without the others.

// defaultElem is the size in bytes of an element whose size neither the specification nor the
// kernel decides.
const defaultElem = 4

// elem returns the bytes of an element.
func (b *Buffer) elem() uint64 {
	if b.Elem == 0 {
		return defaultElem
	}
	return uint64(b.Elem)
}

// element returns element i, before it is cut to the size of an element; 0 for fills that do not
// consist of elements.
func (b *Buffer) element(i uint64) uint64 {
	switch b.Fill {
	case FillIota:
		return i
	case FillSmall:
		return scramble(b.seed()+i) % b.N
	case FillPerm:
		if i < b.N {
			return permuted(i, b.N, b.seed())
		}
	case FillCSR:
		return b.rowPointer(i)
	case FillValue:
		return uint64(b.Value)
	case FillRandom:
		return scramble(b.seed() + i)
	}
	return 0
}

// seed differs between buffers of one seed, so that two of them do not hold the same numbers.
func (b *Buffer) seed() uint64 {
	h := uint64(14695981039346656037) // FNV-1a
	for i := range len(b.Name) {
		h = (h ^ uint64(b.Name[i])) * 1099511628211
	}
	return scramble(b.Seed ^ h)
}

// scramble is the finaliser of SplitMix64 (Steele, Lea, Flood 2014), a bijection of 64-bit numbers
// in which every bit of the argument affects every bit of the result.
func scramble(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// rowPointer returns entry i of the row pointers of a matrix in CSR form with N rows and E entries:
// it is 0 for i = 0 and E from i = N on, and never falls. The rows have between 0 and about 2E/N
// entries.
func (b *Buffer) rowPointer(i uint64) uint64 {
	switch {
	case i == 0 || b.E == 0:
		return 0
	case i >= b.N:
		return b.E
	}
	// i*E/N moved up by less than one row's share: i*E + j < (i+1)*E. N and E are below 2^32.
	return (i*b.E + scramble(b.seed()+i)%b.E) / b.N
}

// permuted returns the number to which a permutation of 0..n-1 maps i: a Feistel network of four
// rounds over the next even number of bits, applied until the result is below n (Black and Rogaway,
// "Ciphers with Arbitrary Finite Domains", 2002). On average less than four applications are
// needed.
func permuted(i, n, seed uint64) uint64 {
	half := (bits.Len64(n-1) + 1) / 2
	mask := uint64(1)<<half - 1
	for {
		l, r := i>>half, i&mask
		for round := range uint64(4) {
			l, r = r, l^scramble(seed+round<<32+r)&mask
		}
		if i = l<<half | r; i < n {
			return i
		}
	}
}

// Init writes the initial contents of the bytes from start on into p, which is zero, for fills that
// consist of elements (HasElements).
func (b *Buffer) Init(p []byte, start uint64) {
	if b.Fill != FillStruct {
		b.spread(p, start, 0, b.elem())
		return
	}
	for _, m := range b.Members {
		m.Buffer.spread(p, start, m.Offset, b.Stride)
	}
}

// spread writes the elements of b into p as far as they overlap the bytes from start on, which p
// holds. Element i is at offset at + i*stride.
func (b *Buffer) spread(p []byte, start, at, stride uint64) {
	size, end := b.elem(), start+uint64(len(p))
	i := uint64(0)
	if first := at + size; start >= first {
		i = (start-first)/stride + 1 // the first element that ends behind start
	}
	var v [8]byte
	for ; at+i*stride < end; i++ {
		b.put(v[:size], i)
		for j := range size {
			if q := at + i*stride + j; q >= start && q < end {
				p[q-start] = v[j]
			}
		}
	}
}

// put writes element i to v, which has the size of an element.
func (b *Buffer) put(v []byte, i uint64) {
	switch size := uint64(len(v)); {
	case b.Fill == FillConst:
		copy(v, b.Data)
	case b.Fill == FillOneOf:
		n := scramble(b.seed()+i) % (uint64(len(b.Data)) / size)
		copy(v, b.Data[n*size:])
	case b.Fill != FillInts:
		put(v, b.element(i))
	case i < uint64(len(b.Data))/size:
		copy(v, b.Data[i*size:])
	default:
		clear(v)
	}
}

// Holds reports whether the buffer initially holds all nonzero bytes of data at offset at: with
// zeros in place of what is not known of data, whether data may be what was loaded from there. It
// is false for random bytes, and true for unknown contents.
func (b *Buffer) Holds(data []byte, at uint64) bool {
	have := make([]byte, len(data))
	switch {
	case b.Fill == FillUnknown:
		return true
	case b.HasElements():
		b.Init(have, at)
	case b.Fill == FillFile && at < uint64(len(b.Data)):
		copy(have, b.Data[at:])
	case b.Fill == FillValue:
		for i := range have {
			have[i] = byte(b.Value >> (8 * ((at + uint64(i)) % 4)))
		}
	}
	for i, x := range data {
		if x != 0 && x != have[i] {
			return false
		}
	}
	return true
}

// Zeros reports whether the buffer may initially hold zeros only: false if it is known to hold
// something else.
func (b *Buffer) Zeros() bool {
	switch b.Fill {
	case FillZero, FillFile, FillInts:
		return len(b.Pointers) == 0 && !slices.ContainsFunc(b.Data, func(x byte) bool { return x != 0 })
	case FillValue:
		return b.Value == 0
	case FillUnknown, FillMemory, FillStruct:
		return true
	}
	return false
}

// GuessedContents lists the pointers whose buffers have contents that heddle chose.
func (c *Config) GuessedContents() []Place {
	var out []Place
	for i := range c.Args {
		a := &c.Args[i]
		if a.Buffer != nil && a.Buffer.Name == a.Name && !c.gives(a.Name, -1) {
			out = append(out, Place{Param: i})
		}
		for _, f := range a.Fields {
			if f.Buffer.Name == fieldName(a.Name, f.Offset) && !c.gives(a.Name, f.Offset) {
				out = append(out, Place{i, f.Offset})
			}
		}
	}
	return out
}

// gives reports whether somebody specified an argument or, if off is not negative, the field at off
// of a struct.
func (c *Config) gives(name string, off int) bool {
	return slices.ContainsFunc(c.given, func(a ArgSpec) bool {
		return a.Param == name && (a.Offset < 0 || a.Offset == off)
	})
}

// WithNumber returns the launch with a value of argument i, which is an integer of at most 8 bytes.
// It stays a value that nobody specified, for the given reason, but Flags has it.
func (c *Config) WithNumber(i int, n uint64, reason string) *Config {
	out := *c
	out.Args = slices.Clone(c.Args)
	out.Origins, out.Reasons = maps.Clone(c.Origins), maps.Clone(c.Reasons)
	a := &out.Args[i]
	a.Unknown, a.Bits = false, make([]byte, len(a.Bits))
	for j := range min(len(a.Bits), 8) {
		a.Bits[j] = byte(n >> (8 * j))
	}
	if out.Reasons == nil {
		out.Reasons = make(map[string]string)
	}
	out.Origins["arg "+a.Name], out.Reasons["arg "+a.Name] = FromRelation, reason
	out.given = slices.DeleteFunc(slices.Clone(c.given), func(g ArgSpec) bool {
		return g.Param == a.Name
	})
	at := 0
	for k := range i { // Flags has arguments in the order of the parameters
		for at < len(out.given) && out.given[at].Param == c.Args[k].Name {
			at++
		}
	}
	spec := ArgSpec{Param: a.Name, Offset: -1, Kind: ArgValue, Text: a.Value()}
	out.given = slices.Insert(out.given, at, spec)
	return &out
}

// WithContents returns the launch with other contents of the buffers of some places, which must be
// among GuessedContents. Of a specification, only the fill counts; it remains a guess. Elements
// have the size with which the kernel accesses the buffer. Arguments that share a buffer share the
// new one. It fails if the numbers of a fill do not fit in its elements.
func (c *Config) WithContents(fills map[Place]ArgSpec, uses map[Place]Use) (*Config, error) {
	out := *c
	out.Args, out.given = slices.Clone(c.Args), slices.Clone(c.given)
	now := make(map[*Buffer]*Buffer)
	for i := range out.Args {
		a := &out.Args[i]
		a.Fields = slices.Clone(a.Fields)
		refill := func(off int, b *Buffer) error {
			place := Place{i, max(off, 0)}
			spec, ok := fills[place]
			if !ok || now[b] != nil {
				return nil
			}
			spec.Param, spec.Offset = a.Name, off
			fresh, err := newBuffer(b.Name, spec, func() uint8 { return uses[place].Elem })
			now[b] = fresh
			out.given = append(out.given, spec)
			return err
		}
		if a.Buffer != nil {
			if err := refill(-1, a.Buffer); err != nil {
				return nil, err
			}
		}
		for _, f := range a.Fields {
			if err := refill(f.Offset, f.Buffer); err != nil {
				return nil, err
			}
		}
	}
	for i := range out.Args {
		a := &out.Args[i]
		if b := now[a.Buffer]; b != nil {
			a.Buffer = b
		}
		for k := range a.Fields {
			if b := now[a.Fields[k].Buffer]; b != nil {
				a.Fields[k].Buffer = b
			}
		}
	}
	return &out, nil
}

package ptx

import (
	"math/bits"
	"strings"
)

// opcode is an opcode with its modifiers. A module uses few distinct ones, so instructions with the
// same spelling share it.
type opcode struct {
	text string   // as written, with dots
	name string   // the part before the first dot
	mods []string // the other parts
	hash uint32
}

// opcodes is the set of opcodes seen so far, by spelling: a hash table with open addressing and
// linear probing. A map with string keys would hash and compare each spelling again for the fast
// path (plaininst.go), which already knows the hash.
type opcodes struct {
	slots []uint32 // an index in words plus 1, or 0; their number is a power of two
	words []opcode
}

// firstOpcodes is the initial number of slots, enough for most modules.
const firstOpcodes = 128

// find returns the index of the opcode with that spelling, whose hash is h.
func (t *opcodes) find(text string, h uint32) (uint32, bool) {
	mask := uint32(len(t.slots) - 1)
	for i := h; len(t.slots) > 0; i++ {
		s := t.slots[i&mask]
		if s == 0 {
			break
		}
		if t.words[s-1].text == text {
			return s - 1, true
		}
	}
	return 0, false
}

// get is find that adds a missing opcode.
func (t *opcodes) get(text string) uint32 {
	h := hash(text+padding, 0, len(text))
	if i, ok := t.find(text, h); ok {
		return i
	}
	t.words = append(t.words, split(text, h))
	if 2*len(t.words) > len(t.slots) {
		t.slots = make([]uint32, max(2*len(t.slots), firstOpcodes))
		for i := range t.words {
			t.enter(uint32(i))
		}
	} else {
		t.enter(uint32(len(t.words) - 1))
	}
	return uint32(len(t.words) - 1)
}

// enter puts a word into a free slot.
func (t *opcodes) enter(word uint32) {
	mask := uint32(len(t.slots) - 1)
	i := t.words[word].hash & mask
	for t.slots[i] != 0 {
		i = (i + 1) & mask
	}
	t.slots[i] = word + 1
}

// split splits "ld.shared::cta.u32" into "ld" and {"shared::cta", "u32"}.
func split(text string, h uint32) opcode {
	name, rest, ok := strings.Cut(text, ".")
	o := opcode{text: text, name: name, hash: h}
	if ok {
		o.mods = strings.Split(rest, ".")
		o.mods = o.mods[:len(o.mods):len(o.mods)]
	}
	return o
}

// hash hashes src[start:end] in words of 8 bytes; at least 8 bytes must follow end.
func hash(src string, start, end int) uint32 {
	const k = 0x9e3779b97f4a7c15
	h := uint64(end - start)
	for end-start >= 8 {
		h = mix(h^word(src, start), k)
		start += 8
	}
	h = mix(h^word(src, start)&(1<<(8*uint(end-start))-1), k)
	return uint32(h ^ h>>32)
}

// mix multiplies to 128 bits and folds the two halves into one.
func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

// word returns 8 bytes of src as a little-endian number.
func word(src string, i int) uint64 {
	s := src[i : i+8]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// opcodeEnd returns the end of the opcode with its modifiers that starts at i. Modifiers follow
// without white space: ".shared::cta", ".128x256b", ".const[2]" (ISA 5.1.3.1).
func opcodeEnd(src string, i int) int {
	for {
		switch c := src[i]; {
		case class[c]&cWord != 0:
			i++
		case c == '.' && class[src[i+1]]&cWord != 0:
			i++
		case c == ':' && src[i+1] == ':' && class[src[i+2]]&cWord != 0:
			i += 2
		case c == '[':
			n := bankLen(src[i:])
			if n == 0 {
				return i
			}
			i += n
		default:
			return i
		}
	}
}

// bankLen returns the length of the "[2]" at the start of text, as in ".const[2].u32"; 0 if there
// is none.
func bankLen(text string) int {
	n := 1
	for class[text[n]]&cDigit != 0 {
		n++
	}
	if n == 1 || text[n] != ']' || text[n+1] != '.' {
		return 0
	}
	return n + 1
}

package ptx

import "strings"

// opcode is a written opcode, cut into its parts. A module uses few different ones, so the instructions
// of one spelling share it.
type opcode struct {
	text string // as written, with dots; empty in a free slot
	name string
	mods []string
}

// opcodes is a hash table of the spellings seen, with open addressing.
type opcodes struct {
	slots []opcode // a power of two
	used  int
}

const firstOpcodes = 256

// get returns the opcode of that spelling, whose hash is h.
func (t *opcodes) get(text string, h uint32) *opcode {
	if t.used*2 >= len(t.slots) {
		t.grow()
	}
	mask := uint32(len(t.slots) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		switch s := &t.slots[i]; s.text {
		case text:
			return s
		case "":
			*s = split(text)
			t.used++
			return s
		}
	}
}

func (t *opcodes) grow() {
	old := t.slots
	t.slots = make([]opcode, max(2*len(old), firstOpcodes))
	mask := uint32(len(t.slots) - 1)
	for _, s := range old {
		if s.text == "" {
			continue
		}
		i := hash(s.text) & mask
		for t.slots[i].text != "" {
			i = (i + 1) & mask
		}
		t.slots[i] = s
	}
}

// split cuts "ld.shared::cta.u32" into "ld" and {"shared::cta", "u32"}.
func split(text string) opcode {
	name, rest, ok := strings.Cut(text, ".")
	o := opcode{text: text, name: name}
	if ok {
		o.mods = strings.Split(rest, ".")
		o.mods = o.mods[:len(o.mods):len(o.mods)]
	}
	return o
}

// hash is FNV-1a, as opcodeEnd computes it.
func hash(text string) uint32 {
	h := uint32(hashSeed)
	for i := range len(text) {
		h = (h ^ uint32(text[i])) * hashPrime
	}
	return h
}

const (
	hashSeed  = 2166136261
	hashPrime = 16777619
)

// opcodeEnd returns the end of the opcode with its modifiers that begins at i, and the hash of its text.
// Modifiers follow without blanks: ".shared::cta", ".128x256b", ".const[2]" (ISA 5.1.3.1).
func opcodeEnd(src string, i int) (int, uint32) {
	h := uint32(hashSeed)
	for {
		c := src[i]
		n := 1
		switch {
		case class[c]&cWord != 0:
		case c == '.':
			if class[src[i+1]]&cWord == 0 {
				return i, h
			}
		case c == ':':
			if src[i+1] != ':' || class[src[i+2]]&cWord == 0 {
				return i, h
			}
			n = 2
		case c == '[':
			if n = bankLen(src[i:]); n == 0 {
				return i, h
			}
		default:
			return i, h
		}
		for ; n > 0; n-- {
			h = (h ^ uint32(src[i])) * hashPrime
			i++
		}
	}
}

// bankLen returns the length of the "[2]" in ".const[2].u32" with which text begins; 0 if it is none.
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

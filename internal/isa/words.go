package isa

import "heddle/internal/event"

// kind says which field of a decoder a word sets.
type kind uint8

// The kinds of words: one for each field of a form.
const (
	noKind kind = iota
	kType
	kFn
	kCmp
	kRound
	kVec
	kSpace
	kOrder
	kScope
	kFlag
	kMark
)

// word is one meaning of a modifier. A modifier may have several: .lo is a comparison in setp and
// half of a product in mul. The opcode's forms decide.
type word struct {
	kind kind
	val  uint8 // of the enumeration; for kOrder the order + 1
	flag Flag
	mark mark
}

// words maps every modifier that an executable opcode knows to its meanings.
var words = makeWords()

// makeWords collects the words: the names of all enumerations, and those that have a spelling of
// their own. Names that two enumerations share, such as "and" or "lo", get several meanings.
func makeWords() map[string][]word {
	m := make(map[string][]word, 300)
	add := func(name string, w word) { m[name] = append(m[name], w) }
	for t := NoType + 1; t < OtherType; t++ {
		add(t.String(), word{kind: kType, val: uint8(t)})
	}
	for _, n := range narrowTypes {
		add(n, word{kind: kType, val: uint8(OtherType)})
	}
	for f := NoFn + 1; f < numFn; f++ {
		add(f.String(), word{kind: kFn, val: uint8(f)})
	}
	for c := NoCmp + 1; c < numCmp; c++ {
		add(c.String(), word{kind: kCmp, val: uint8(c)})
	}
	for r := NoRounding + 1; r < numRounding; r++ {
		add(r.String(), word{kind: kRound, val: uint8(r)})
	}
	for i, n := range flagNames {
		if n != "" {
			add(n, word{kind: kFlag, flag: 1 << i})
		}
	}
	for s := event.Global; s <= event.Param; s++ {
		add(s.String(), word{kind: kSpace, val: uint8(s)})
	}
	for s := event.CTA; s <= event.Sys; s++ {
		add(s.String(), word{kind: kScope, val: uint8(s)})
	}
	for o := event.Relaxed; o <= event.SeqCst; o++ {
		add(o.String(), word{kind: kOrder, val: uint8(o) + 1})
	}
	for _, n := range plainWords {
		add(n.name, n.word)
	}
	for mk, names := range hintWords {
		for _, n := range names {
			add(n, word{kind: kMark, mark: mk})
		}
	}
	return m
}

// plainWords are the words that are not spelled like a value of an enumeration. Where one word has
// several meanings, the forms of the opcode choose among them, and earlier entries come first.
var plainWords = [...]struct {
	name string
	word word
}{
	{"v2", word{kind: kVec, val: 2}}, {"v4", word{kind: kVec, val: 4}},
	{"v8", word{kind: kVec, val: 8}},
	{"shared::cta", word{kind: kSpace, val: uint8(event.Shared)}},
	{"shared::cluster", word{kind: kSpace, val: uint8(event.Shared)}},
	{"param::entry", word{kind: kSpace, val: uint8(event.Param)}},
	{"param::func", word{kind: kSpace, val: uint8(event.Param)}},
	{"gl", word{kind: kMark, mark: markGL}},
	{"weak", word{kind: kMark, mark: markWeak}},
	{"clamp", word{kind: kMark, mark: markClamp}},
	{"red", word{kind: kMark, mark: markRed}},
	{"cta", word{kind: kMark, mark: markCTA}},
	{"abs", word{kind: kMark, mark: markAbs}},
	{"tensormap", word{kind: kMark, mark: markTensormap}},
	{"mask", word{kind: kMark, mark: markMask}},
	{"global", word{kind: kMark, mark: markFromGlobal}},
	{"launch_dependents", word{kind: kMark, mark: markDependents}},
	{"L1", word{kind: kMark, mark: level}}, {"L2", word{kind: kMark, mark: level}},
	{"L2", word{kind: kMark, mark: levelL2}},
	{"L2::cache_hint", word{kind: kMark, mark: cacheHint}},
	{"expect_tx", word{kind: kMark, mark: markExpect}},
	{"noComplete", word{kind: kMark, mark: markNoComplete}},
	{"parity", word{kind: kMark, mark: markParity}},
	{"noinc", word{kind: kMark, mark: markNoInc}},
	{"read", word{kind: kMark, mark: markRead}},
	{"shared::cta", word{kind: kMark, mark: markFromShared}},
	{"mbarrier::complete_tx::bytes", word{kind: kMark, mark: markBytes}},
	{"bulk_group", word{kind: kMark, mark: markBulkGroup}},
	{"multicast::cluster", word{kind: kMark, mark: markMulticast}},
	{"cp_mask", word{kind: kMark, mark: markCopyMask}},
	{"async", word{kind: kMark, mark: markAsync}},
	{"multicast::cluster::all", word{kind: kMark, mark: markAllBlocks}},
	{"is_canceled", word{kind: kMark, mark: markCanceled}},
	{"get_first_ctaid", word{kind: kMark, mark: markFirst}},
	{"get_first_ctaid::x", word{kind: kMark, mark: markFirstAt}},
	{"get_first_ctaid::y", word{kind: kMark, mark: markFirstAt}},
	{"get_first_ctaid::z", word{kind: kMark, mark: markFirstAt}},
	{"acc::f32", word{kind: kMark, mark: markExactSum}},
	{"acc::f16", word{kind: kMark, mark: markExactSum}},
	{"sync_restrict::shared::cta", word{kind: kMark, mark: markOwn}},
	{"sync_restrict::shared::cluster", word{kind: kMark, mark: markInCluster}},
}

// hintWords are the spellings of hints, all of which mean the same to an engine: nothing.
var hintWords = map[mark][]string{
	cacheOp: {"ca", "cg", "cs", "lu", "cv", "wb", "wt"},
	evict: {"L1::evict_normal", "L1::evict_unchanged", "L1::evict_first", "L1::evict_last",
		"L1::no_allocate",
		"L2::evict_normal", "L2::evict_first", "L2::evict_last", "L2::evict_unchanged"},
	prefetchSize: {"L2::64B", "L2::128B", "L2::256B"},
}

// narrowTypes are formats that no register has (PTX ISA 5.2.3): elements of matrices and fields.
var narrowTypes = [...]string{
	"u2", "s2", "u4", "s4", "b4", "e2m1", "e2m3", "e3m2", "ue8m0", "ue4m3", "b1",
	"b6x16_p32", "b4x16_p64", "b8x16", "b1024",
}

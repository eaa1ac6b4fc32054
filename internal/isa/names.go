package isa

// The names below are the spellings of PTX, without the dot.

var roundingNames = [...]string{
	NoRounding: "", RN: "rn", RZ: "rz", RM: "rm", RP: "rp", RNA: "rna", RS: "rs",
	RNI: "rni", RZI: "rzi", RMI: "rmi", RPI: "rpi",
}

const numRounding = Rounding(len(roundingNames))

// String returns the modifier without its dot; empty for NoRounding.
func (r Rounding) String() string { return name(roundingNames[:], uint8(r)) }

// Integral reports whether r rounds to an integral value: .rni, .rzi, .rmi, .rpi.
func (r Rounding) Integral() bool { return r >= RNI }

var cmpNames = [...]string{
	NoCmp: "", EQ: "eq", NE: "ne", LT: "lt", LE: "le", GT: "gt", GE: "ge",
	LO: "lo", LS: "ls", HI: "hi", HS: "hs",
	EQU: "equ", NEU: "neu", LTU: "ltu", LEU: "leu", GTU: "gtu", GEU: "geu", NUM: "num", NAN: "nan",
}

const numCmp = Cmp(len(cmpNames))

// String returns the modifier without its dot; empty for NoCmp.
func (c Cmp) String() string { return name(cmpNames[:], uint8(c)) }

var fnNames = [...]string{
	NoFn: "", FnAnd: "and", FnOr: "or", FnXor: "xor", FnPopc: "popc", FnAdd: "add",
	FnMin: "min", FnMax: "max",
	FnInc: "inc", FnDec: "dec", FnCAS: "cas", FnExch: "exch",
	FnUp: "up", FnDown: "down", FnBfly: "bfly", FnIdx: "idx",
	FnAll: "all", FnAny: "any", FnUni: "uni", FnBallot: "ballot",
	FnLo: "lo", FnHi: "hi", FnWide: "wide",
	FnSync: "sync", FnArrive: "arrive", FnRed: "red", FnWait: "wait",
	FnLeft: "l", FnRight: "r",
	FnF4E: "f4e", FnB4E: "b4e", FnRC8: "rc8", FnECL: "ecl", FnECR: "ecr", FnRC16: "rc16",
	FnFinite: "finite", FnInfinite: "infinite", FnNumber: "number", FnNotANumber: "notanumber",
	FnNormal: "normal", FnSubnormal: "subnormal",
}

const numFn = Fn(len(fnNames))

// String returns the modifier without its dot; empty for NoFn.
func (f Fn) String() string { return name(fnNames[:], uint8(f)) }

// flagNames has the name of each flag by bit number.
var flagNames = [...]string{
	"ftz", "sat", "approx", "full", "cc", "aligned", "sync", "uni", "to", "wrap", "shiftamt",
	"NaN", "xorsign", "relu",
	"nc", "noftz", "volatile", "satfinite", "warp", "", "oob", "scaled::n2::ue8m0", "mmio",
}

// String lists the names of the flags in f, separated by dots.
func (f Flag) String() string {
	s := ""
	for i, n := range flagNames {
		if f>>i&1 == 0 {
			continue
		}
		if s != "" {
			s += "."
		}
		if 1<<i == Abs {
			n = "abs"
		}
		s += n
	}
	return s
}

var categoryNames = [...]string{
	Arith: "arithmetic", Memory: "memory", Address: "address", Control: "control", Barrier: "barrier",
	FenceCat: "fence",
	WarpOp:   "warp", Async: "asynchronous", Texture: "texture", Matrix: "matrix", Video: "video",
	Stack: "stack",
	Misc:  "miscellaneous",
}

// String names the category in messages.
func (c Category) String() string { return name(categoryNames[:], uint8(c)) }

var roleNames = [...]string{
	Dst: "destination", DstPred: "predicate destination", Src: "source", SrcOpt: "optional source",
	PredSrc: "predicate source", Addr: "address", Label: "label", Callee: "function",
	SrcAddr: "source or address", Args: "argument list",
	ListOpnd: "list",
}

// String names the role in messages.
func (r Role) String() string { return name(roleNames[:], uint8(r)) }

var effectNames = [...]string{
	NoEffect: "none", Reads: "reads", Writes: "writes", ReadsWrites: "reads and writes",
	Copies: "copies",
	Orders: "orders",
}

// String names the effect in messages.
func (e Effect) String() string { return name(effectNames[:], uint8(e)) }

// name is names[i], or "?" for a value that is not of the enumeration: messages must not panic.
func name(names []string, i uint8) string {
	if int(i) < len(names) {
		return names[i]
	}
	return "?"
}

var typeByName = func() map[string]Type {
	m := make(map[string]Type, len(typeTable))
	for t := NoType + 1; t < OtherType; t++ {
		m[t.String()] = t
	}
	return m
}()

// TypeOf returns the type of that PTX name, without the dot: "u32", "pred", "bf16x2", "texref".
func TypeOf(name string) (Type, bool) {
	t, ok := typeByName[name]
	return t, ok
}

package isa

import (
	"fmt"

	"heddle/internal/event"
)

// DecodeError says which modifier of an instruction is wrong.
type DecodeError struct {
	Opcode string
	// Mod is the offending modifier; empty if the opcode itself is unknown or something is missing.
	Mod string
	Msg string
}

// Error returns the message with the opcode and the modifier in front, without a position.
func (e *DecodeError) Error() string {
	if e.Mod == "" {
		return fmt.Sprintf("%s: %s", e.Opcode, e.Msg)
	}
	return fmt.Sprintf("%s: modifier .%s: %s", e.Opcode, e.Mod, e.Msg)
}

// Decode decodes an instruction's first word and its dotted modifiers. The Desc keeps mods.
//
// The error is a *DecodeError: the opcode is not in the table, or it is executable and the
// modifiers are none of its forms in the ISA text. The modifiers of an opcode that is not
// executable are kept as they are: only what is plain (types, space, order, scope) is decoded.
func Decode(opcode string, mods []string) (Desc, error) {
	row, n := lookup(opcode, mods)
	if row == nil {
		return Desc{}, unknownOpcode(opcode, mods)
	}
	blank := decoder{Desc: Desc{Row: row, Vec: 1, Section: row.Section, Mods: mods}}
	if row.forms != nil {
		d := blank
		err := d.strict(mods[n:])
		if err == nil || row.Executable {
			return d.Desc, err
		}
	}
	blank.loose(mods[n:])
	return blank.Desc, nil
}

// unknownOpcode tells an unknown opcode from a known first word with an unknown continuation
// (cp.foo), so that the error points to the word that is wrong.
func unknownOpcode(opcode string, mods []string) error {
	if table[opcode] != nil && len(mods) > 0 { // the first word of longer opcodes: cp, mbarrier
		return &DecodeError{Opcode: opcode, Mod: mods[0], Msg: "unknown instruction"}
	}
	return &DecodeError{Opcode: opcode, Msg: "unknown opcode"}
}

// decoder is a Desc in the making.
type decoder struct {
	Desc
	third Type
	vec   uint8
	order uint8 // event.Order + 1; 0: not written
	marks mark
}

// strict decodes mods as one of the forms of the opcode. On an error the Desc is left empty.
func (d *decoder) strict(mods []string) (err error) {
	defer func() {
		if err != nil {
			d.Desc = Desc{}
		}
	}()
	for _, m := range mods {
		if err := d.word(m); err != nil {
			return err
		}
	}
	for i := range d.Row.forms {
		if f := &d.Row.forms[i]; d.matches(f) {
			d.finish(f)
			return nil
		}
	}
	return d.explain(mods)
}

// errorf is an error about modifier mod, or about the whole instruction if mod is empty.
func (d *decoder) errorf(mod, format string, args ...any) error {
	return &DecodeError{Opcode: d.Row.Opcode, Mod: mod, Msg: fmt.Sprintf(format, args...)}
}

// word takes one modifier, in the first of its meanings that some form of the opcode has and whose
// place is free: the second space of a bulk copy is a mark.
func (d *decoder) word(m string) error {
	meanings, known := words[m]
	if !known {
		return d.errorf(m, "unknown")
	}
	v := &d.Row.vocab
	taken := false
	for i := range meanings {
		w := &meanings[i]
		if !v.knows(w) {
			continue
		}
		if d.set(w) {
			return nil
		}
		taken = true
	}
	if taken {
		return d.errorf(m, "written twice, or beside one that it excludes")
	}
	if m == "const" && d.Row.Category == Memory {
		return d.errorf(m,
			"constant memory can only be read by a kernel (PTX ISA 5.1.3); what a kernel writes is global, shared or local memory")
	}
	return d.errorf(m, "not a modifier of %s", d.Row.Opcode)
}

// knows reports whether some form has w.
func (f *form) knows(w *word) bool {
	switch w.kind {
	case kType:
		return (f.types | f.stypes | f.third).has(w.val)
	case kFn:
		return f.fns.has(w.val)
	case kCmp:
		return f.cmps.has(w.val)
	case kRound:
		return f.rounds.has(w.val)
	case kVec:
		return f.vecs.has(w.val)
	case kSpace:
		return f.spaces.has(w.val)
	case kOrder:
		return f.orders.has(w.val)
	case kScope:
		return f.scopes.has(w.val)
	case kFlag:
		return f.flags&w.flag != 0
	case kMark:
		return f.marks&w.mark != 0
	}
	return false
}

// set stores w and reports whether its place was free. Hints may come several times.
func (d *decoder) set(w *word) bool {
	switch w.kind {
	case kType:
		return d.setType(Type(w.val))
	case kFn:
		return put(&d.Fn, Fn(w.val))
	case kCmp:
		return put(&d.Cmp, Cmp(w.val))
	case kRound:
		return put(&d.Round, Rounding(w.val))
	case kVec:
		return put(&d.vec, w.val)
	case kSpace:
		return put(&d.Space, event.Space(w.val))
	case kOrder:
		return put(&d.order, w.val)
	case kScope:
		return put(&d.Scope, event.Scope(w.val))
	case kFlag:
		old := d.Flags
		d.Flags |= w.flag
		return d.Flags != old
	}
	d.marks |= w.mark
	return true
}

// put sets *p unless it is set already.
func put[T ~uint8](p *T, v T) bool {
	if *p != 0 {
		return false
	}
	*p = v
	return true
}

// setType stores a type in the first free place: the destination's, the source's, and the third of
// cvt.pack. The order of types in the text is therefore significant, unlike that of other
// modifiers.
func (d *decoder) setType(t Type) bool {
	return put(&d.Type, t) || put(&d.SType, t) || put(&d.third, t)
}

// matches reports whether what was written is form f.
func (d *decoder) matches(f *form) bool {
	return f.types.has(uint8(d.Type)) && f.stypes.has(uint8(d.SType)) && f.third.has(uint8(d.third)) &&
		f.fns.has(uint8(d.Fn)) && f.cmps.has(uint8(d.Cmp)) && f.rounds.has(uint8(d.Round)) &&
		f.vecs.has(d.vec) && f.spaces.has(uint8(d.Space)) && f.orders.has(d.order) &&
		f.scopes.has(uint8(d.Scope)) &&
		d.Flags&^(f.flags|f.must) == 0 && d.Flags&f.must == f.must &&
		d.marks&^(f.marks|f.mustMarks) == 0 && d.marks&f.mustMarks == f.mustMarks
}

// finish fills in the defaults of the form that matched.
func (d *decoder) finish(f *form) {
	if f.section != "" {
		d.Section = f.section
	}
	d.Flags |= f.implied
	if d.Round == NoRounding {
		d.Round = f.defRound
	}
	if d.vec != 0 {
		d.Vec = d.vec
	}
	if d.order != 0 {
		d.Order = event.Order(d.order - 1)
	} else {
		d.Order = f.defOrder
	}
	if d.Scope == event.NoScope {
		d.Scope = f.defScope
	}
	if d.Space == event.NoSpace {
		d.Space = f.defSpace
	}
}

// loose decodes what is plain in the modifiers of an opcode that is not executable, and leaves the
// rest.
func (d *decoder) loose(mods []string) {
	for _, m := range mods {
		for i := range words[m] {
			switch w := &words[m][i]; w.kind {
			case kType, kSpace, kScope, kVec, kOrder:
				d.set(w) // the first one counts
			}
		}
	}
	d.finish(&form{})
}

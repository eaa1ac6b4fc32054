package lower

import (
	"fmt"
	"slices"
	"strings"

	"heddle/internal/lazyregexp"
)

// OpenCL C for devices whose pointers and size_t have 32 bits (CL_DEVICE_ADDRESS_BITS). clang
// compiles for its target with 32 bits, nvptx, and the module then becomes one for nvptx64, since
// PTX with 64-bit addresses is what the rest of heddle analyses. What the two have in common:
//
//   - Types, and all arithmetic with size_t and ptrdiff_t, are those of 32 bits.
//   - LLVM extends an index of 32 bits by its sign, so that an address is the one of 32-bit
//     arithmetic wherever the access is within its object: objects are smaller than 2 GiB.
//   - The difference of two pointers, and an integer made of a pointer, are the low 32 bits.
//
// Kernels for which they may differ are left out: those that make a pointer of an integer, by a
// conversion or in a union, and those that count the bytes of a structure or an array with pointers,
// which are more in the new module.

// narrowBits is the value of Options.AddressBits for 32-bit devices.
const narrowBits = 32

// Lines of clang's module that name the target, make a pointer of an integer that is not a constant,
// and have sizes or alignments of variables and pointers.
var (
	targetRE   = lazyregexp.New(`^target (datalayout|triple) = `)
	makesPtrRE = lazyregexp.New(`\binttoptr i\d+ %`)
	lifetimeRE = lazyregexp.New(`(@llvm\.lifetime\.(?:start|end)\.p\d+\(i64 (?:immarg )?)-?\d+`)
	alignRE    = lazyregexp.New(`^(\s+(?:%\S+ = load|store) (?:volatile )?ptr\b.*, align 4\b|` +
		`\s+%\S+ = alloca .*, align 4\b)`)
	// a variable that is a pointer, and a store of something else
	pointerVarRE = lazyregexp.New(`^\s+(%\S+) = alloca ptr\b`)
	storedRE     = lazyregexp.New(`^\s+store (?:volatile )?(?:i\d+|half|float|double|<[^>]*>) ` +
		`.*, ptr (%[^\s,]+)`)
	sharedPtrRE = lazyregexp.New(`(?:= load|^\s+store) (?:volatile )?ptr\b.*, ptr addrspace\(1\)`)
	// instructions in which clang has counted the bytes of something
	inBytesRE = lazyregexp.New(`@llvm\.mem|\bgetelementptr (?:inbounds )?i8, |\b(?:byval|sret)\(`)
	// a structure or array with pointers, without those of named types, and names of types
	pointersRE  = lazyregexp.New(`\{[^{}]*\bptr\b|\[\d+ x (?:\[\d+ x )*ptr\b`)
	typeNamesRE = lazyregexp.New(`%(?:"[^"]*"|[-\w.$]+)`)
)

// wideTarget is that of modules for 64-bit addresses.
const wideTarget = `target triple = "nvptx64-nvidia-cuda"`

// omitAddresses removes the kernels from a module for 32-bit addresses to which 64 bits make a
// difference, and makes it one for 64 bits. If none is left, it fails with an *InputError.
func (b *build) omitAddresses(m *irModule) ([]Omitted, error) {
	if b.cl == nil || b.opt.AddressBits != narrowBits {
		return nil, nil
	}
	reasons := m.addressReasons()
	g := newCallGraph(m)
	var out []Omitted
	var kept []*irFunc
	for _, k := range m.funcs {
		reason := ""
		if k.kernel {
			g.reach(k.name, func(name string) bool {
				reason = reasons[name]
				return reason == ""
			})
		}
		if reason == "" {
			kept = append(kept, k)
			continue
		}
		out = append(out, Omitted{named([]string{k.name})[0],
			"with --address-bits 32, heddle does not support " + reason})
	}
	if len(out) > 0 {
		if !slices.ContainsFunc(kept, func(f *irFunc) bool { return f.kernel }) {
			return nil, &InputError{File: b.name, Reason: out[0].Reason}
		}
		m.keepOnly(kept)
	}
	m.widen()
	return out, nil
}

// aggregates are the named types of a module that have pointers or unions as members, also of
// members.
type aggregates struct{ pointers, unions map[string]bool }

// newAggregates returns those of the types that the lines of a module's head define.
func newAggregates(head []string) *aggregates {
	a := &aggregates{make(map[string]bool), make(map[string]bool)}
	for changed := true; changed; {
		changed = false
		for _, line := range head {
			name, def, ok := strings.Cut(line, " = type ")
			if ok && !a.pointers[name] && a.pointersIn(def) {
				a.pointers[name], changed = true, true
			}
			if ok && !a.unions[name] && (strings.Contains(name, "union.") || a.unionsIn(def)) {
				a.unions[name], changed = true, true
			}
		}
	}
	return a
}

// pointersIn reports whether a text names a structure or an array with pointers.
func (a *aggregates) pointersIn(text string) bool {
	return pointersRE.MatchString(text) || anyNamed(text, a.pointers)
}

// unionsIn reports whether a text names a union or a type that has one.
func (a *aggregates) unionsIn(text string) bool { return anyNamed(text, a.unions) }

// anyNamed reports whether a text has one of the names.
func anyNamed(text string, names map[string]bool) bool {
	if len(names) == 0 {
		return false
	}
	for _, n := range typeNamesRE.FindAllString(text, -1) {
		if names[n] {
			return true
		}
	}
	return false
}

// addressReasons returns why functions and variables are not what they are with 64-bit addresses.
func (m *irModule) addressReasons() map[string]string {
	const (
		layout  = "copies, parameters and sizes of structures or arrays with pointers"
		integer = "the conversion of an integer to a pointer"
		union   = "unions, which may have pointers"
	)
	types := newAggregates(m.head)
	out := make(map[string]string)
	for _, line := range m.head {
		if !strings.HasPrefix(line, "@") || strings.HasPrefix(line, "@llvm.") {
			continue
		}
		switch {
		case types.unionsIn(line):
			out[symbolIn(line)] = union
		case types.pointersIn(line):
			out[symbolIn(line)] = layout
		}
	}
	for _, f := range m.funcs {
		parameter := types.pointersIn(f.define)
		mentions, bytes := parameter, parameter
		pointers := make(map[string]bool) // variables that are pointers
		if types.unionsIn(f.define) {
			out[f.name] = union
		}
		for _, line := range f.body {
			if s := pointerVarRE.FindStringSubmatch(line); s != nil {
				pointers[s[1]] = true
			}
			s := storedRE.FindStringSubmatch(line)
			switch {
			case makesPtrRE.MatchString(line), s != nil && pointers[s[1]]:
				out[f.name] = integer
			case sharedPtrRE.MatchString(line):
				out[f.name] = "pointers in global memory"
			case types.unionsIn(line):
				out[f.name] = union
			}
			mentions = mentions || types.pointersIn(line)
			bytes = bytes || inBytesRE.MatchString(line)
		}
		if mentions && bytes {
			out[f.name] = layout
		}
	}
	return out
}

// widen makes a module for 32-bit addresses one for 64-bit addresses.
func (m *irModule) widen() {
	var head []string
	for _, line := range m.head {
		if !targetRE.MatchString(line) {
			head = append(head, line)
		}
	}
	m.head = append([]string{wideTarget}, head...)
	for _, f := range m.funcs {
		for i, line := range f.body {
			line = lifetimeRE.ReplaceAllString(line, "${1}-1")
			if at := alignRE.FindStringIndex(line); at != nil {
				line = line[:at[1]-1] + "8" + line[at[1]:]
			}
			f.body[i] = line
		}
	}
}

// addressBits checks the value of Options.AddressBits.
func (o *Options) addressBits() error {
	if o.AddressBits != 0 && o.AddressBits != narrowBits && o.AddressBits != 64 {
		return fmt.Errorf("--address-bits %d: expected 32 or 64", o.AddressBits)
	}
	return nil
}

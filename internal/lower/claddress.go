package lower

import (
	"fmt"
	"slices"
	"strings"

	"heddle/internal/lazyregexp"
)

// OpenCL C for devices whose pointers and size_t have 32 bits (CL_DEVICE_ADDRESS_BITS). clang and opt
// compile for the target with 32 bits, nvptx. Then the module becomes one for nvptx64, since PTX with
// 64-bit addresses is what the rest of heddle analyses. What the two have in common:
//
//   - Arithmetic with size_t and ptrdiff_t is that of 32 bits, and so are the sizes and offsets of
//     types, of which opt has made constants.
//   - LLVM extends an index of 32 bits by its sign, so that an address is the one of 32-bit
//     arithmetic wherever the access is within its object: objects are smaller than 2 GiB.
//   - The difference of two pointers, and an integer made of a pointer, are the low 32 bits.
//
// A pointer in memory has 4 bytes in one and 8 in the other, and an integer is no address in the
// other. So kernels are left out in which opt has left pointers in memory, in structures or in
// arrays, or that make a pointer of an integer.

// narrowBits is the value of Options.AddressBits for 32-bit devices, and narrowLayout the beginning
// of the line with the layout of data for their target.
const (
	narrowBits   = 32
	narrowLayout = `target datalayout = "e-p:32:32`
)

// The targets with 32-bit and with 64-bit addresses.
const (
	narrowTriple = "nvptx-nvidia-cuda"
	wideTriple   = "nvptx64-nvidia-cuda"
)

// What the text of a module says of pointers.
var (
	targetRE = lazyregexp.New(`^target (datalayout|triple) = `)
	// a pointer of an integer that is not a literal
	makesPtrRE = lazyregexp.New(`\binttoptr \(?i\d+ [^-0-9]`)
	// an integer of more than 32 bits of a pointer: an instruction, and a constant
	wideIntRE   = lazyregexp.New(`^(\s+%\S+) = ptrtoint (ptr.*) to i64(,.*)?$`)
	wideConstRE = lazyregexp.New(`\bptrtoint \([^()]*(?:\([^()]*\))?[^()]* to i64\)`)
	// a pointer in memory: a load, a store, an exchange, the address of one, a variable
	storedPtrRE = lazyregexp.New(`^\s+(?:%\S+ = load|store) (?:volatile |atomic )*ptr\b|` +
		`^\s+%\S+ = (?:atomicrmw|cmpxchg) .*, ptr\b|\bgetelementptr (?:inbounds )?ptr\b|` +
		`^\s+%\S+ = alloca (?:inalloca )?ptr\b`)
	// a structure, array or vector with pointers, without those of named types; names of types
	pointersRE  = lazyregexp.New(`\{[^{}]*\bptr\b|[[<]\d+ x (?:\[\d+ x )*ptr\b`)
	typeNamesRE = lazyregexp.New(`%(?:"[^"]*"|[-\w.$]+)`)
	// a variable of the module that is a pointer
	pointerVarRE = lazyregexp.New(`^@.* (?:global|constant) ptr\b`)
)

// omitAddresses makes a module for 32-bit addresses one for 64 bits, without the kernels to which
// that would make a difference, which it returns. If none is left, it fails with an *InputError.
func (b *build) omitAddresses(m *irModule) ([]Omitted, error) {
	if b.cl == nil || b.opt.AddressBits != narrowBits {
		return nil, nil
	}
	if b.tc.Major < 15 { // typed pointers
		return nil, &InputError{File: b.name, Reason: "--address-bits 32 needs clang 15 or newer"}
	}
	reasons := m.addressReasons()
	g := newCallGraph(m)
	out, kept := splitKernels(m, func(kernel string) string {
		reason := ""
		g.reach(kernel, func(name string) bool {
			reason = reasons[name]
			return reason == ""
		})
		if reason != "" {
			reason = "with --address-bits 32, heddle does not support " + reason
		}
		return reason
	})
	if len(out) > 0 && !slices.ContainsFunc(kept, func(f *irFunc) bool { return f.kernel }) {
		return nil, &InputError{File: b.name, Reason: out[0].Name + ": " + out[0].Reason}
	}
	// No kernel that is left needs the other functions for which there is a reason.
	kept = slices.DeleteFunc(kept, func(f *irFunc) bool { return reasons[f.name] != "" })
	m.keepOnly(kept)
	m.widen()
	return out, nil
}

// addressReasons returns the functions and variables of a module for 32-bit addresses that are not
// the same with 64 bits, and why.
func (m *irModule) addressReasons() map[string]string {
	const (
		memory  = "pointers in memory, as in an array or a structure that is not in registers"
		integer = "the conversion of an integer to a pointer"
		align   = "__builtin_align_up and __builtin_align_down of a pointer"
		address = "addresses of variables as 64-bit constants"
	)
	named := make(map[string]bool) // types with pointers
	pointers := func(text string) bool {
		if pointersRE.MatchString(text) {
			return true
		}
		if len(named) == 0 {
			return false
		}
		return slices.ContainsFunc(typeNamesRE.FindAllString(text, -1),
			func(n string) bool { return named[n] })
	}
	for changed := true; changed; {
		changed = false
		for _, line := range m.head {
			name, def, ok := strings.Cut(line, " = type ")
			if ok && !named[name] && pointers(def) {
				named[name], changed = true, true
			}
		}
	}
	out := make(map[string]string)
	for _, line := range m.head {
		switch {
		case !strings.HasPrefix(line, "@") || strings.HasPrefix(line, "@llvm."):
		case makesPtrRE.MatchString(line):
			out[symbolIn(line)] = integer
		case pointerVarRE.MatchString(line), pointers(line):
			out[symbolIn(line)] = memory
		case wideConstRE.MatchString(line):
			out[symbolIn(line)] = address
		}
	}
	for _, f := range m.funcs {
		if pointers(f.define) {
			out[f.name] = memory
		}
		for _, line := range f.body {
			switch {
			case makesPtrRE.MatchString(line):
				out[f.name] = integer
			case storedPtrRE.MatchString(line), pointers(line):
				out[f.name] = memory
			case strings.Contains(line, "@llvm.ptrmask"):
				out[f.name] = align
			case wideConstRE.MatchString(line):
				out[f.name] = address
			}
		}
	}
	return out
}

// widen makes a module for 32-bit addresses one for 64-bit addresses. An integer of 64 bits that is
// made of a pointer has 32 of them.
func (m *irModule) widen() {
	head := []string{fmt.Sprintf("target triple = %q", wideTriple)}
	for _, line := range m.head {
		if !targetRE.MatchString(line) {
			head = append(head, line)
		}
	}
	m.head = head
	for _, f := range m.funcs {
		var body []string
		for _, line := range f.body {
			if s := wideIntRE.FindStringSubmatch(line); s != nil {
				low := fmt.Sprintf(`%%"%s.low"`, strings.Trim(strings.TrimSpace(s[1])[1:], `"`))
				body = append(body, fmt.Sprintf("  %s = ptrtoint %s to i32%s", low, s[2], s[3]))
				line = fmt.Sprintf("%s = zext i32 %s to i64%s", s[1], low, s[3])
			}
			body = append(body, line)
		}
		f.body = body
	}
}

// addressBits checks the value of Options.AddressBits.
func (o *Options) addressBits() error {
	if o.AddressBits != 0 && o.AddressBits != narrowBits && o.AddressBits != 64 {
		return fmt.Errorf("--address-bits %d: expected 32 or 64", o.AddressBits)
	}
	return nil
}

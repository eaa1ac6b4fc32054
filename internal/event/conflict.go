package event

// Op is one side of a possible race, as far as the definition of a race needs it.
type Op struct {
	Thread Thread
	Kind   Kind
	Order  Order
	Scope  Scope
	Proxy  Proxy
	Addr   uint64
	Size   uint8
}

// Overlap reports whether the byte ranges of a and b have a byte in common.
func Overlap(a, b Op) bool {
	return a.Addr < b.Addr+uint64(b.Size) && b.Addr < a.Addr+uint64(a.Size)
}

// MorallyStrong reports whether a and b are morally strong relative to each other (PTX ISA 8.7): both
// strong, scopes that include each other, the same proxy, and complete overlap. Atomics of different sizes
// that overlap are a mixed-size data race (8.7.2), although the hardware does not tear them.
func MorallyStrong(g Geometry, a, b Op) bool {
	if !a.Order.Strong() || !b.Order.Strong() || a.Proxy != b.Proxy {
		return false
	}
	if !g.Includes(a.Scope, a.Thread, b.Thread) || !g.Includes(b.Scope, b.Thread, a.Thread) {
		return false
	}
	return a.Addr == b.Addr && a.Size == b.Size
}

// Conflict is the definition of a race up to happens-before (PTX ISA 8.7.1): a and b, of one memory
// space, are by different threads, overlap, at least one writes, and they are not morally strong. Two
// conflicting operations that happens-before does not order are a data race. Tolerance for writes of the
// same value is the detector's business.
func Conflict(g Geometry, a, b Op) bool {
	return a.Thread != b.Thread && (a.Kind.Writes() || b.Kind.Writes()) && Overlap(a, b) && !MorallyStrong(g, a, b)
}

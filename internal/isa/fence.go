package isa

import (
	"slices"
	"strings"

	"heddle/internal/event"
)

// FenceKind says what a fence orders.
type FenceKind uint8

// The kinds of fences. Only FullFence orders all that a synchronization may rely on.
const (
	FullFence   FenceKind = iota // all memory accesses of the thread: fence, membar
	InitFence                    // the mbarrier.init before it only: fence.mbarrier_init
	SharedFence                  // accesses to shared memory only: .sync_restrict
	ProxyFence                   // accesses through two proxies; it is no fence of one of them
)

// FencedProxy is the proxy that a ProxyFence joins to the generic one (PTX ISA 8.6).
type FencedProxy uint8

// The proxies (PTX ISA 8.6) that a proxy fence can name.
const (
	NoProxy        FencedProxy = iota
	AliasProxy                 // virtual addresses of one physical location
	AsyncProxy                 // bulk copies, wgmma, tcgen05
	TensorMapProxy             // tensor maps
)

// FenceUse is what a fence orders.
type FenceUse struct {
	Kind  FenceKind
	Order event.Order // Weak of a bidirectional proxy fence, which has none
	Scope event.Scope
	Proxy FencedProxy
	// Space is that of the accesses that a ProxyFence or a SharedFence orders; NoSpace: of all.
	Space event.Space
	// Own says of a fence of shared memory that it orders that of the thread's own block only.
	Own bool
	// Release and Acquire say which halves of a unidirectional proxy fence it is; a bidirectional one
	// is both.
	Release, Acquire bool
	// Address is the source that names what a fence of TensorMapProxy orders; -1 for others.
	Address int
}

// Fence returns what the instruction orders as a fence, and whether it is one. Whoever knows
// FullFence only must call the others unsupported, or take them to order nothing.
func (d *Desc) Fence() (FenceUse, bool) {
	u := FenceUse{
		Order: d.Order, Scope: d.Scope,
		Release: d.Order.Releases(), Acquire: d.Order.Acquires(), Address: -1,
	}
	switch d.Action() {
	case ActFence:
	case ActPartialFence:
		u.Kind, u.Space = SharedFence, event.Shared
		u.Own = slices.Contains(d.Mods, "sync_restrict::shared::cta")
		if slices.Contains(d.Mods, "mbarrier_init") {
			u.Kind, u.Space = InitFence, event.NoSpace
		}
	case ActProxyFence:
		u.Kind, u.Space, u.Proxy = ProxyFence, d.Space, d.fencedProxy()
		if d.restricted() {
			u.Space = event.Shared
		}
		u.Own = u.Space == event.Shared && !slices.ContainsFunc(d.Mods, func(m string) bool {
			return strings.HasSuffix(m, inCluster[0])
		})
		if u.Proxy == TensorMapProxy && d.Order.Acquires() {
			u.Address = 0
		}
		if !u.Release && !u.Acquire {
			u.Release, u.Acquire = true, true
		}
	default:
		return FenceUse{Address: -1}, false
	}
	return u, true
}

// fencedProxy reads the proxy from the modifiers: proxy::alias, async, async::global,
// tensormap::generic and the like. NoProxy means that the text names one that the table does not
// know.
func (d *Desc) fencedProxy() FencedProxy {
	for _, m := range d.Mods {
		switch name, _, _ := strings.Cut(m, "::"); name {
		case "alias":
			return AliasProxy
		case "async":
			return AsyncProxy
		case "tensormap":
			return TensorMapProxy
		}
	}
	return NoProxy
}

// restricted reports whether the fence names the shared memory that it orders.
func (d *Desc) restricted() bool {
	return slices.ContainsFunc(d.Mods,
		func(m string) bool { return strings.HasPrefix(m, "sync_restrict::") })
}

package launch

import (
	"fmt"
	"path/filepath"
	"slices"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/source"
)

// Metadata is what a compiler has written beside a PTX file about the launches of its kernel.
type Metadata struct {
	Path    string  // of the file, for messages
	Foreign string  // what the file is for, if that is no kernel in PTX; the other fields are empty
	Kernel  string  // its name in the PTX; empty: not said
	Request Request // block, cluster and dynamic shared memory
	// Spans are the places of "block", "cluster" and "shared" in the file.
	Spans       map[string]source.Span
	Cooperative bool     // all blocks run at the same time
	Hidden      []string // names of the last parameters, which the user's function does not have
	// Boxes are the bytes of the boxes of tensor maps, in the order of the parameters that are maps; 0
	// if not known.
	Boxes   []uint64
	Notes   []string // what the launch has that is not checked, as sentences without a period
	Unknown []string // keys that may change the launch and whose meaning is not known
	Errs    []*Error // values that no launch can have
}

// Key is equal for metadata that says the same about a launch.
func (m *Metadata) Key() string {
	r := &m.Request
	dims := func(d *event.Dim3) string {
		if d == nil {
			return "-"
		}
		return Dims(*d)
	}
	shared := "-"
	if r.Shared != nil {
		shared = fmt.Sprint(*r.Shared)
	}
	return fmt.Sprintf("%q %s %s %s %v %v %v %q %q %d", m.Kernel, dims(r.Block), dims(r.Cluster),
		shared, m.Cooperative, m.Hidden, m.Boxes, m.Notes, m.Unknown, len(m.Errs))
}

// tensorMapBytes is the size of a tensor map, CUtensorMap, which is a parameter by value (CUDA
// Driver API, "Tensor Map Object Management").
const tensorMapBytes = 128

// Box returns the bytes of the boxes of the tensor map that parameter v of k is; 0 if the metadata
// does not say it. Nothing is concluded if the maps of the metadata and those of the kernel differ
// in number.
func (m *Metadata) Box(k *ir.Func, v *ir.Var) uint64 {
	if m == nil || m.Kernel != k.Name {
		return 0
	}
	var maps []*ir.Var
	for _, p := range k.Params {
		if p.Size == tensorMapBytes && p.Align >= 64 {
			maps = append(maps, p)
		}
	}
	i := slices.Index(maps, v)
	if i < 0 || len(maps) != len(m.Boxes) {
		return 0
	}
	return m.Boxes[i]
}

// layer returns the facts about kernel k as the lowest layer of a resolver; false if there are
// none.
func (m *Metadata) layer(k *ir.Func) (layer, bool) {
	if m == nil || m.Kernel != k.Name {
		return layer{}, false
	}
	return layer{origin: FromMetadata, req: m.Request, spans: m.Spans}, true
}

// metadata adds what a compiler says about the launch.
func (r *resolver) metadata(m *Metadata) {
	l, ok := m.layer(r.k)
	if !ok {
		return
	}
	r.layers = append(r.layers, l)
	r.errs = append(r.errs, m.Errs...)
	r.cfg.Cooperative = m.Cooperative
	for _, n := range m.Notes {
		r.note("%s", n)
	}
	for _, key := range m.Unknown {
		r.cfg.Unread = append(r.cfg.Unread, key+" of "+filepath.Base(m.Path))
	}
}

// Package triton reads the metadata that Triton writes beside the PTX of a kernel, NAME.json beside
// NAME.ptx, as facts about the launch of the kernel.
//
// The keys, and what Triton's launcher does with them, are those of the NVIDIA backend
// (third_party/nvidia/backend of Triton 3.0 to 3.5): it launches blocks of 32*num_warps threads
// with "shared" bytes of dynamic shared memory, in clusters of cluster_dims blocks if num_ctas is
// not 1. The grid is chosen by the caller of the kernel and is not in the metadata. From 3.3 on, a
// kernel has a last parameter for global scratch memory, and later another one for profiling.
//
// The file comes from a cache that anything may have written to. A value that no launch can have is
// an error with its position. A file of the same name that is something else is ignored.
package triton

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"heddle/internal/event"
	"heddle/internal/launch"
	"heddle/internal/source"
)

// MaxSize bounds the bytes of a file of metadata, which has about 2,000.
const MaxSize = 1 << 20

// The limits of a block and a cluster (CUDA C++ Programming Guide, "Technical Specifications per
// Compute Capability").
const (
	warpSize   = 32
	maxWarps   = 32
	maxCluster = 16
	maxShared  = 1<<32 - 1 // the resolver knows the limits of GPUs
)

// value is one value of the file.
type value struct {
	raw  json.RawMessage
	span source.Span
}

// reader holds the state of one call of Read.
type reader struct {
	file *source.File
	keys map[string]value // a later one of the same name counts, as in Python
	out  *launch.Metadata
}

// Read returns the facts of a file; nil if the file is no metadata of Triton: an array, an object
// without the keys that all versions write. It fails for a file that is not JSON, with the
// position. Values that are wrong are in Metadata.Errs.
func Read(f *source.File) (*launch.Metadata, *launch.Error) {
	r := &reader{file: f, keys: make(map[string]value)}
	if object, err := r.split(); err != nil || !object || !r.isMetadata() {
		return nil, err
	}
	r.out = &launch.Metadata{Path: f.Name, Spans: make(map[string]source.Span)}
	if other := r.otherTarget(); other != "" {
		r.out.Foreign = other
		return r.out, nil
	}
	r.name()
	r.block()
	r.cluster()
	r.shared()
	r.out.Cooperative = r.flag("launch_cooperative_grid")
	r.scratch()
	r.boxes()
	r.notModelled()
	return r.out, nil
}

// split reads the keys of the object in the file. It returns false for another JSON value.
func (r *reader) split() (object bool, bad *launch.Error) {
	text := r.file.Content
	dec := json.NewDecoder(bytes.NewReader(text))
	fail := func(err error) *launch.Error {
		at, why := min(int(dec.InputOffset()), len(text)), err.Error()
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			why = "it ends too early"
		}
		return &launch.Error{Span: r.span(at, at),
			Msg: fmt.Sprintf("%s is not JSON: %s", r.file.Name, why)}
	}
	open, err := dec.Token()
	if err != nil {
		return false, fail(err)
	}
	if open != json.Delim('{') {
		return false, nil
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return false, fail(err)
		}
		var v value
		if err := dec.Decode(&v.raw); err != nil { // at the key's end; the message has the character
			return false, fail(err)
		}
		end := int(dec.InputOffset())
		v.span = r.span(end-len(v.raw), end)
		r.keys[key.(string)] = v // the decoder accepts no other key
	}
	if _, err := dec.Token(); err != nil {
		return false, fail(err)
	}
	return true, nil
}

// span is the range of the file between two offsets.
func (r *reader) span(start, end int) source.Span {
	return source.Span{Start: r.file.PosAt(start), End: r.file.PosAt(end)}
}

// isMetadata reports whether the object has what every version of Triton writes.
func (r *reader) isMetadata() bool {
	has := func(key string) bool { _, ok := r.keys[key]; return ok }
	return has("num_warps") && (has("target") || has("num_ctas") || has("shared"))
}

// otherTarget names the backend or the size of a warp if the kernel is not one for an NVIDIA GPU.
func (r *reader) otherTarget() string {
	var target struct {
		Backend  string
		WarpSize json.Number `json:"warp_size"`
	}
	// A target of another form is that of an old version, for CUDA alone.
	if v, ok := r.keys["target"]; !ok || json.Unmarshal(v.raw, &target) != nil {
		return ""
	}
	size := target.WarpSize.String()
	switch {
	case target.Backend != "" && target.Backend != "cuda":
		return fmt.Sprintf("the backend %s", shown([]byte(target.Backend)))
	case size != "" && size != strconv.Itoa(warpSize):
		return fmt.Sprintf("warps of %s threads", shown([]byte(size)))
	}
	return ""
}

// name reads the name of the kernel in the PTX.
func (r *reader) name() {
	v, ok := r.given("name")
	if !ok {
		return
	}
	if json.Unmarshal(v.raw, &r.out.Kernel) != nil {
		r.wrong("name", v, "the name of the kernel in the PTX, a string")
	}
}

// block reads the number of warps of a block.
func (r *reader) block() {
	if n, v, ok := r.number("num_warps", 1, maxWarps, "a number of warps"); ok {
		r.out.Request.Block = &event.Dim3{X: warpSize * n, Y: 1, Z: 1}
		r.out.Spans["block"] = v.span
	}
}

// cluster reads the blocks of a cluster. The launcher uses cluster_dims only if num_ctas is not 1;
// versions that do not write it have clusters of num_ctas blocks in x. A fork has ctas_per_cga
// instead, which counts always.
func (r *reader) cluster() {
	n, v, many := r.number("num_ctas", 1, maxCluster, "a number of blocks of a cluster")
	key := "cluster_dims"
	if _, ok := r.given("ctas_per_cga"); ok {
		key, many = "ctas_per_cga", true
	} else if !many || n == 1 {
		return
	}
	d := event.Dim3{X: n, Y: 1, Z: 1}
	if dims, ok := r.given(key); ok {
		v = dims
		var list []json.Number
		if json.Unmarshal(dims.raw, &list) != nil || len(list) == 0 || len(list) > 3 {
			r.wrong(key, dims, "up to three numbers, the blocks of a cluster")
			return
		}
		of := [3]uint32{1, 1, 1}
		for i, text := range list {
			n, err := strconv.ParseUint(text.String(), 10, 32)
			if err != nil || n < 1 || n > maxCluster {
				r.wrong(key, dims, fmt.Sprintf("numbers from 1 to %d, the blocks of a cluster", maxCluster))
				return
			}
			of[i] = uint32(n)
		}
		d = event.Dim3{X: of[0], Y: of[1], Z: of[2]}
	}
	if d.Count() > 1 {
		r.out.Request.Cluster = &d
		r.out.Spans["cluster"] = v.span
	}
}

// shared reads the bytes of dynamic shared memory.
func (r *reader) shared() {
	if n, v, ok := r.number("shared", 0, maxShared, "bytes of shared memory"); ok {
		r.out.Request.Shared = &n
		r.out.Spans["shared"] = v.span
	}
}

// scratch notes which of the last parameters are the launcher's own, by the keys that came with
// them.
func (r *reader) scratch() {
	for _, name := range []string{"global_scratch", "profile_scratch"} {
		if _, ok := r.keys[name+"_size"]; ok {
			r.out.Hidden = append(r.out.Hidden, name)
		}
	}
}

// tensor is an element of tensordesc_meta: how the launcher encodes the tensor map of an argument.
type tensor struct {
	block []uint64
	elem  uint64
}

// boxes reads the sizes of the boxes of tensor maps. An element that heddle does not understand
// leaves its size open, as a flag or the phases of the kernel may say it.
func (r *reader) boxes() {
	v, ok := r.given("tensordesc_meta")
	if !ok {
		return
	}
	var list []map[string]json.RawMessage
	if json.Unmarshal(v.raw, &list) != nil {
		if json.Unmarshal(v.raw, new(map[string]json.RawMessage)) != nil {
			r.wrong("tensordesc_meta", v, "a list of descriptions of tensor maps")
		}
		return // an empty object is written for none
	}
	for _, one := range list {
		bytes := uint64(0)
		if t, ok := readTensor(one); ok {
			bytes = launch.BoxBytes(t.block, t.elem)
		}
		r.out.Boxes = append(r.out.Boxes, bytes)
	}
}

// plainTensorKeys are the keys of a description that do not change the bytes of a box.
var plainTensorKeys = []string{"swizzle", "elem_size", "elem_type", "block_size", "padding"}

// readTensor reads one description. ok is false if it has something else that is set: padded
// elements (fp4_padded), or what a later version may add.
func readTensor(keys map[string]json.RawMessage) (t tensor, ok bool) {
	for key, raw := range keys {
		if !slices.Contains(plainTensorKeys, key) && !unset(raw) {
			return t, false
		}
	}
	return t, json.Unmarshal(keys["block_size"], &t.block) == nil &&
		json.Unmarshal(keys["elem_size"], &t.elem) == nil
}

// plainKeys are the keys that say nothing about a launch: options of the compiler, and others that
// are read above.
var plainKeys = strings.Fields(`num_warps num_ctas warp_size cluster_dims ctas_per_cga shared
	launch_cooperative_grid launch_pdl global_scratch_size global_scratch_align profile_scratch_size
	profile_scratch_align num_buffers_warp_spec enable_warp_specialization num_consumer_groups`)

// launchWords are parts of the names of keys that may change a launch.
var launchWords = strings.Fields(
	"launch cluster cga cta grid block thread warp shared smem scratch")

// notModelled notes what the launch has that heddle does not model, so that verdicts name it: keys
// whose names are about launches and which no known version writes.
func (r *reader) notModelled() {
	if r.flag("launch_pdl") {
		r.out.Notes = append(r.out.Notes, "launch_pdl: the kernel may begin before the launch in front "+
			"of it has ended; only accesses that no griddepcontrol.wait precedes are looked for")
	}
	for key, v := range r.keys {
		about := slices.ContainsFunc(launchWords, func(w string) bool {
			return strings.Contains(strings.ToLower(key), w)
		})
		if about && !slices.Contains(plainKeys, key) && !unset(v.raw) {
			r.out.Unknown = append(r.out.Unknown, shown([]byte(key)))
		}
	}
	slices.Sort(r.out.Unknown)
}

// unset reports whether a value is one that stands for none.
func unset(raw json.RawMessage) bool {
	return slices.Contains([]string{"null", "false", "0", "\"\"", "[]", "{}"}, string(raw))
}

// given returns the value of a key; ok is false if the key is absent or null.
func (r *reader) given(key string) (v value, ok bool) {
	v, ok = r.keys[key]
	return v, ok && string(v.raw) != "null"
}

// flag reads a key that is true or false; absent means false.
func (r *reader) flag(key string) bool {
	v, ok := r.given(key)
	if !ok {
		return false
	}
	switch string(v.raw) {
	case "true", "1":
		return true
	case "false", "0":
		return false
	}
	r.wrong(key, v, "true or false")
	return false
}

// number reads a number between two limits; ok is false if the key is absent or wrong.
func (r *reader) number(key string, least, most uint64, what string) (n uint32, v value, ok bool) {
	if v, ok = r.given(key); !ok {
		return 0, v, false
	}
	u, err := strconv.ParseUint(string(v.raw), 10, 32)
	if err != nil || u < least || u > most {
		r.wrong(key, v, fmt.Sprintf("%s from %d to %d", what, least, most))
		return 0, v, false
	}
	return uint32(u), v, true
}

// wrong reports a value that no launch can have.
func (r *reader) wrong(key string, v value, expected string) {
	r.out.Errs = append(r.out.Errs, &launch.Error{Span: v.span,
		Msg:  fmt.Sprintf("%s is %s, expected %s", key, shown(v.raw), expected),
		Help: "correct the file, or remove it and give the launch by flags"})
}

// shownBytes bounds the part of a value that a message shows.
const shownBytes = 40

// shown is a value for a message: its beginning, on one line.
func shown(raw []byte) string {
	s := strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f || c == 0xfffd {
			return ' '
		}
		return c
	}, string(raw[:min(len(raw), shownBytes)]))
	if len(raw) > shownBytes {
		s += "..."
	}
	return s
}

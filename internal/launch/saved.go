package launch

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"heddle/internal/event"
	"heddle/internal/ir"
)

// Saved launches. heddle exec --save writes each launch of a program to a file, and --launch of
// other commands reads it: grid, block, arguments, and the memory that the kernel can reach, with
// which pointers point where. A file has three parts: the line savedMagic, a line of JSON
// (savedHead), and the contents of the buffers one after the other, compressed by gzip.

// Saved is a launch that a program made, with what was in memory before it.
type Saved struct {
	Path        string // of the file; empty for one that was not read
	Kernel      string // the name in the PTX
	Demangled   string
	Grid, Block event.Dim3
	Cluster     event.Dim3 // blocks of a cluster; 1 in each dimension without clusters
	Shared      uint32     // bytes of dynamic shared memory
	Cooperative bool
	Params      []byte         // the parameters at their offsets in ir.Func.Params
	Pointers    []SavedPointer // those in Params
	Buffers     []SavedBuffer  // what the pointers lead to, and variables of the module
	FirstFunc   int            // Config.FirstFunc
}

// SavedBuffer is one allocation or variable.
type SavedBuffer struct {
	Name     string
	Variable string // the name of a module variable in the PTX; empty for an allocation
	Heap     bool   // allocated by the device's malloc, so that a kernel may free it
	Size     uint64
	Data     []byte // the first bytes; zeros follow up to Size
	Pointers []SavedPointer
}

// SavedPointer is a pointer of 8 bytes, at Offset of the parameters or of a buffer, to byte At of a
// buffer. What the memory holds there has no meaning.
type SavedPointer struct {
	Offset uint64
	Buffer int // index in Saved.Buffers
	At     uint64
}

// PathExec is the Path of a launch that heddle check --exec has seen, and the flag that reproduces
// it.
const PathExec = "--exec"

// savedMagic is the first line of a file; the number is the version of the format.
const savedMagic = "heddle launch 1\n"

// maxSaved bounds the contents of a saved launch, and maxHead its line of JSON, in bytes.
const (
	maxSaved = 1 << 30
	maxHead  = 64 << 20
)

// savedHead is the second line of a file.
type savedHead struct {
	Kernel      string       `json:"kernel"`
	Demangled   string       `json:"demangled"`
	Grid        [3]uint32    `json:"grid"`
	Block       [3]uint32    `json:"block"`
	Cluster     [3]uint32    `json:"cluster"`
	Shared      uint32       `json:"shared"`
	Cooperative bool         `json:"cooperative"`
	Params      string       `json:"params"` // hexadecimal
	Pointers    [][3]uint64  `json:"pointers"`
	FirstFunc   int          `json:"firstFunc"`
	Buffers     []headBuffer `json:"buffers"`
}

// headBuffer is a SavedBuffer without its contents, of which the file has Stored bytes.
type headBuffer struct {
	Name     string      `json:"name"`
	Variable string      `json:"variable,omitempty"`
	Heap     bool        `json:"heap,omitempty"`
	Size     uint64      `json:"size"`
	Stored   uint64      `json:"stored"`
	Pointers [][3]uint64 `json:"pointers,omitempty"` // offset, buffer, at
}

// Write writes the launch. It fails if the contents exceed what Load accepts, or if w does.
func (s *Saved) Write(w io.Writer) error {
	h := savedHead{Kernel: s.Kernel, Demangled: s.Demangled, Grid: triple(s.Grid),
		Block: triple(s.Block), Cluster: triple(s.Cluster), Shared: s.Shared,
		Cooperative: s.Cooperative, Params: hex.EncodeToString(s.Params), FirstFunc: s.FirstFunc,
		Pointers: pointerRows(s.Pointers)}
	total := uint64(0)
	for i := range s.Buffers {
		b := &s.Buffers[i]
		stored := uint64(len(bytes.TrimRight(b.Data, "\x00")))
		total += stored
		h.Buffers = append(h.Buffers, headBuffer{b.Name, b.Variable, b.Heap, b.Size, stored,
			pointerRows(b.Pointers)})
	}
	if total > maxSaved {
		return fmt.Errorf("the memory that the launch can reach has %d bytes that are not zero at the "+
			"end; at most %d can be saved", total, maxSaved)
	}
	head, err := json.Marshal(h)
	if err != nil {
		return err
	}
	if len(head) >= maxHead {
		return fmt.Errorf("the launch has too many pointers: their list takes %d bytes of at most %d",
			len(head), maxHead)
	}
	out := bufio.NewWriter(w)
	out.WriteString(savedMagic)
	out.Write(append(head, '\n'))
	z, err := gzip.NewWriterLevel(out, gzip.BestSpeed)
	if err != nil {
		return err
	}
	for i := range s.Buffers {
		if _, err := z.Write(s.Buffers[i].Data[:h.Buffers[i].Stored]); err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	return out.Flush()
}

// Load reads the launch in a file. An error says what is wrong with it.
func Load(path string) (*Saved, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	s, err := ReadSaved(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	s.Path = path
	return s, nil
}

// ReadSaved reads what Write has written. It fails if that is incomplete or contradicts itself, or
// if the contents are too large.
func ReadSaved(r io.Reader) (*Saved, error) {
	in := bufio.NewReader(r)
	magic := make([]byte, len(savedMagic))
	if _, err := io.ReadFull(in, magic); err != nil || string(magic) != savedMagic {
		want := strings.TrimSpace(savedMagic)
		if strings.HasPrefix(string(magic), strings.TrimRight(want, "0123456789")) {
			return nil, fmt.Errorf("the format is %q; this version of heddle reads %q: save the launch "+
				"again", strings.TrimSpace(string(magic)), want)
		}
		return nil, fmt.Errorf("not a saved launch: its first line is not %q; heddle exec --save "+
			"writes saved launches", want)
	}
	var head []byte
	for !bytes.HasSuffix(head, []byte("\n")) {
		part, err := in.ReadSlice('\n')
		head = append(head, part...)
		switch {
		case len(head) > maxHead:
			return nil, fmt.Errorf("the description of the launch has more than %d bytes", maxHead)
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return nil, fmt.Errorf("the description of the launch is incomplete: %w", unexpected(err))
		}
	}
	var h savedHead
	d := json.NewDecoder(bytes.NewReader(head))
	d.DisallowUnknownFields()
	if err := d.Decode(&h); err != nil {
		return nil, fmt.Errorf("the description of the launch: %w", err)
	}
	s, err := h.launch()
	if err != nil {
		return nil, fmt.Errorf("the description of the launch: %w", err)
	}
	if err := s.readContents(in, &h); err != nil {
		return nil, fmt.Errorf("the contents of the buffers: %w", err)
	}
	return s, nil
}

// unexpected is err, for the end of a file within a part of it.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// launch checks the description and returns the launch without contents.
func (h *savedHead) launch() (*Saved, error) {
	s := &Saved{Kernel: h.Kernel, Demangled: h.Demangled, Grid: dim3(h.Grid), Block: dim3(h.Block),
		Cluster: dim3(h.Cluster), Shared: h.Shared, Cooperative: h.Cooperative, FirstFunc: h.FirstFunc}
	if h.Kernel == "" {
		return nil, errors.New("it names no kernel")
	}
	if h.FirstFunc < 0 || h.FirstFunc > 1<<24 {
		return nil, fmt.Errorf("the first function has number %d", h.FirstFunc)
	}
	var err error
	if s.Params, err = hex.DecodeString(h.Params); err != nil {
		return nil, fmt.Errorf("the parameters: %w", err)
	}
	if s.Pointers, err = h.pointers(h.Pointers, uint64(len(s.Params)), "the parameters"); err != nil {
		return nil, err
	}
	total := uint64(0)
	for _, b := range h.Buffers {
		total += b.Stored
		switch {
		case b.Stored > b.Size:
			return nil, fmt.Errorf("buffer %s has %d bytes, of which %d are stored", b.Name, b.Size,
				b.Stored)
		case b.Size > maxBuffer:
			return nil, fmt.Errorf("buffer %s has %d bytes; the limit is %d bytes", b.Name, b.Size,
				uint64(maxBuffer))
		case b.Stored > maxSaved || total > maxSaved:
			return nil, fmt.Errorf("the buffers have more than %d bytes of contents", maxSaved)
		}
		list, err := h.pointers(b.Pointers, b.Size, "buffer "+b.Name)
		if err != nil {
			return nil, err
		}
		s.Buffers = append(s.Buffers, SavedBuffer{Name: b.Name, Variable: b.Variable, Heap: b.Heap,
			Size: b.Size, Pointers: list})
	}
	return s, nil
}

// pointers checks and returns the pointers in size bytes of what.
func (h *savedHead) pointers(rows [][3]uint64, size uint64, what string) ([]SavedPointer, error) {
	var out []SavedPointer
	for _, p := range rows {
		if p[0] > size || size-p[0] < 8 || p[1] >= uint64(len(h.Buffers)) ||
			p[2] > h.Buffers[p[1]].Size {
			return nil, fmt.Errorf("%s: a pointer at byte %d of %d to byte %d of buffer %d, of %d "+
				"buffers", what, p[0], size, p[2], p[1], len(h.Buffers))
		}
		out = append(out, SavedPointer{p[0], int(p[1]), p[2]})
	}
	return out, nil
}

// readContents reads the contents of the buffers, which end the file.
func (s *Saved) readContents(r io.Reader, h *savedHead) error {
	z, err := gzip.NewReader(r)
	if err != nil {
		return unexpected(err)
	}
	for i, b := range h.Buffers {
		// The buffer grows as its bytes arrive: what a file claims to have costs nothing.
		var data bytes.Buffer
		n, err := io.CopyN(&data, z, int64(b.Stored))
		if err != nil {
			return fmt.Errorf("%s has %d bytes of %d: %w", b.Name, n, b.Stored, unexpected(err))
		}
		s.Buffers[i].Data = data.Bytes()
	}
	// The end has the checksum.
	if n, err := io.Copy(io.Discard, io.LimitReader(z, 1)); err != nil {
		return unexpected(err)
	} else if n != 0 {
		return errors.New("more bytes follow the last buffer")
	}
	return z.Close()
}

func triple(d event.Dim3) [3]uint32 { return [3]uint32{d.X, d.Y, d.Z} }
func dim3(t [3]uint32) event.Dim3   { return event.Dim3{X: t[0], Y: t[1], Z: t[2]} }

// pointerRows returns pointers as offset, buffer and at.
func pointerRows(list []SavedPointer) [][3]uint64 {
	out := make([][3]uint64, len(list))
	for i, p := range list {
		out[i] = [3]uint64{p.Offset, uint64(p.Buffer), p.At}
	}
	return out
}

// buffers returns the buffers of the launch, with pointers among them.
func (s *Saved) buffers() []*Buffer {
	out := make([]*Buffer, len(s.Buffers))
	for i := range s.Buffers {
		b := &s.Buffers[i]
		out[i] = &Buffer{Name: b.Name, Size: b.Size, Fill: FillFile, Data: b.Data, Heap: b.Heap}
	}
	for i := range s.Buffers {
		out[i].Pointers = fields(s.Buffers[i].Pointers, out, 0)
	}
	return out
}

// fields returns pointers with their buffers, at offsets less from.
func fields(list []SavedPointer, buffers []*Buffer, from uint64) []PointerField {
	var out []PointerField
	for _, p := range list {
		out = append(out, PointerField{
			Offset: int(p.Offset - from), Buffer: buffers[p.Buffer], At: p.At,
		})
	}
	return out
}

// layer returns the facts of the launch for kernel k. It fails if the launch is one of another
// kernel, or of one with other parameters.
func (s *Saved) layer(k *ir.Func) (Request, []*Buffer, error) {
	if k.Name != s.Kernel {
		return Request{}, nil, fmt.Errorf("the saved launch is one of kernel %s, not of %s",
			s.Demangled, k.Demangled)
	}
	need := 0
	for _, v := range k.Params {
		need = max(need, v.Offset+v.Size)
	}
	if need != len(s.Params) {
		return Request{}, nil, fmt.Errorf("the saved launch has %d bytes of parameters; kernel %s has "+
			"%d: save the launch again", len(s.Params), k.Demangled, need)
	}
	buffers := s.buffers()
	named := make(map[*Buffer]bool) // by the first parameter that points to them, as reports do
	name := func(b *Buffer, to string) {
		if !named[b] {
			b.Name, named[b] = to, true
		}
	}
	req := Request{Grid: &s.Grid, Block: &s.Block, Cluster: &s.Cluster, Shared: &s.Shared}
	for i, v := range k.Params {
		from, to := uint64(v.Offset), uint64(v.Offset+v.Size)
		a := ArgSpec{Param: fmt.Sprint(i), Offset: -1, Kind: ArgSaved,
			Saved: &Arg{Bits: slices.Clone(s.Params[from:to])}}
		var list []SavedPointer
		for _, p := range s.Pointers {
			if p.Offset >= from && p.Offset+8 <= to {
				list = append(list, p)
			}
		}
		a.Saved.Fields = fields(list, buffers, from)
		if f := a.Saved.Fields; len(f) == 1 && v.Size == 8 {
			a.Saved.Buffer, a.Saved.Offset, a.Saved.Fields = f[0].Buffer, f[0].At, nil
			name(f[0].Buffer, paramName(v))
		}
		for _, f := range a.Saved.Fields {
			name(f.Buffer, fieldName(paramName(v), f.Offset))
		}
		req.Args = append(req.Args, a)
	}
	return req, buffers, nil
}

// unless returns the facts that count beside a saved launch, which knows what the host code did:
// the comments, and all facts if there is no saved launch.
func (f *SourceFacts) unless(s *Saved) *SourceFacts {
	if s == nil || f == nil {
		return f
	}
	return &SourceFacts{Pragmas: f.Pragmas, Errs: f.Errs}
}

// variables returns the buffers of module variables, by their names in the PTX.
func (s *Saved) variables(buffers []*Buffer) map[string]*Buffer {
	out := make(map[string]*Buffer)
	for i := range s.Buffers {
		if name := s.Buffers[i].Variable; name != "" {
			out[name] = buffers[i]
		}
	}
	return out
}

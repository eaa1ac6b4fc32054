package host

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"heddle/internal/event"
)

// Socket is the environment variable with the path of the socket to which programs connect.
const Socket = "HEDDLE_EXEC_SOCKET"

// protocolVersion and the operations are those of protocol.h, against which a test compares them.
const protocolVersion = 9

// op is an operation that a program requests.
type op uint32

const (
	opModule      op = 1
	opVariable    op = 2
	opLaunch      op = 3
	opRecord      op = 4
	opUnsupported op = 5
	opExit        op = 6
	opOrder       op = 7
	opBadFree     op = 8
	opWork        op = 9
	opObject      op = 20
	opObjectGone  op = 21

	opReplies op = 64 // this one and those above it have a reply
	opHello   op = 64
	opSync    op = 65
	opKernel  op = 66
	opSymbol  op = 67
	opAlloc   op = 68
	opFree    op = 69
	opMemory  op = 70
	opTime    op = 71
	opReset   op = 72
	opReserve op = 73
	opMap     op = 74
	opResult  op = 75 // of work
	opQuery   op = 76
	opLoaded  op = 90

	opCompile  op = 91
	opCompiled op = 92
)

// maxMessage bounds the bytes of a message: images of modules are the largest.
const maxMessage = 1 << 30

// messageHead is the bytes before the body of a message: its operation, and the length of the body.
const messageHead = 8

// message is what a program sent.
type message struct {
	op   op
	body []byte
}

// readMessage reads the next message into buf, which it returns enlarged. It fails with io.EOF at
// the end of the connection.
func readMessage(r *bufio.Reader, buf []byte) (message, []byte, error) {
	var head [messageHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return message{}, buf, err
	}
	n := binary.LittleEndian.Uint32(head[4:])
	if n > maxMessage {
		return message{}, buf, fmt.Errorf("a message of %d bytes; at most %d are expected", n, maxMessage)
	}
	if int(n) > cap(buf) {
		buf = make([]byte, n)
	}
	buf = buf[:n]
	if _, err := io.ReadFull(r, buf); err != nil {
		return message{}, buf, io.ErrUnexpectedEOF
	}
	return message{op(binary.LittleEndian.Uint32(head[:])), buf}, buf, nil
}

// readHello reads the first message of a program: which process it is. ok says that the message is
// hello, in this version of the protocol. buf and err are those of readMessage.
func readHello(r *bufio.Reader, hello op, version uint32) (Hello, bool, []byte, error) {
	var h Hello
	m, buf, err := readMessage(r, nil)
	if err != nil {
		return h, false, buf, err
	}
	b := body{rest: m.body}
	theirs := b.u32()
	h = Hello{Process: int(b.u32()), Load: b.u64()}
	h.Path = b.text()
	return h, m.op == hello && !b.bad && theirs == version, buf, nil
}

// body reads the fields of a message. A message that is too short sets bad, and what follows is
// zero.
type body struct {
	rest []byte
	bad  bool
}

// take returns the next n bytes.
func (b *body) take(n int) []byte {
	if n > len(b.rest) {
		b.bad = true
		return make([]byte, n)
	}
	out := b.rest[:n]
	b.rest = b.rest[n:]
	return out
}

func (b *body) u32() uint32 { return binary.LittleEndian.Uint32(b.take(4)) }
func (b *body) u64() uint64 { return binary.LittleEndian.Uint64(b.take(8)) }

// text returns what is left, as a string.
func (b *body) text() string {
	s := string(b.rest)
	b.rest = nil
	return s
}

// dim reads three sizes.
func (b *body) dim() event.Dim3 { return event.Dim3{X: b.u32(), Y: b.u32(), Z: b.u32()} }

// readLaunch decodes the body of opLaunch into l.
func readLaunch(b *body, l *Launch) {
	l.Kernel = b.u32()
	flags := b.u32()
	l.Cooperative, l.Dependent = flags&1 != 0, flags&2 != 0
	l.Grid, l.Block, l.Cluster = b.dim(), b.dim(), b.dim()
	callers := b.u32()
	l.Shared, l.Stream, l.Caller = b.u64(), b.u64(), b.u64()
	l.Callers = l.Callers[:0]
	for ; callers > 0 && !b.bad; callers-- {
		l.Callers = append(l.Callers, b.u64())
	}
	l.Params = b.rest
}

// readWork decodes the body of opWork.
func readWork(b *body) (w Work) {
	w.Function, w.Device = b.u32(), b.u32() != 0
	args := b.u32()
	b.u32()
	w.Stream, w.Caller = b.u64(), b.u64()
	for ; args > 0 && !b.bad; args-- {
		w.Args = append(w.Args, b.u64())
	}
	w.Name = b.text()
	return w
}

// maxLevels bounds the levels of a mipmapped array.
const maxLevels = 18

// readObject decodes struct heddle_object of protocol.h.
func readObject(b *body) (o Object) {
	o.Addr, o.Pitch, o.Slice = b.u64(), b.u64(), b.u64()
	for i := range o.Size {
		o.Size[i] = b.u32()
	}
	o.Layers, o.Channels, o.Bits, o.Kind = b.u32(), b.u32(), b.u32(), b.u32()
	for i := range o.Address {
		o.Address[i] = b.u32()
	}
	for i := range o.Color {
		o.Color[i] = math.Float32frombits(b.u32())
	}
	for _, f := range []*bool{&o.Surface, &o.Cube, &o.Layered, &o.Linear, &o.Filter, &o.Unit,
		&o.Fraction, &o.SRGB, &o.Blend} {
		*f = b.u32() != 0
	}
	levels := b.u32()
	b.bad = b.bad || levels >= maxLevels
	for _, f := range []*float32{&o.Bias, &o.MinLevel, &o.MaxLevel} {
		*f = math.Float32frombits(b.u32())
	}
	b.u32()
	for ; levels > 0 && !b.bad; levels-- {
		l := Level{Addr: b.u64(), Pitch: b.u64(), Slice: b.u64()}
		for i := range l.Size {
			l.Size[i] = b.u32()
		}
		b.u32()
		o.Levels = append(o.Levels, l)
	}
	return o
}

// orderBytes is the size of struct heddle_order.
const orderBytes = 80

// readOrder decodes one struct heddle_order.
func readOrder(b *body) Order {
	return Order{Call: Call(b.u32()), Flags: OrderFlags(b.u32()), Stream: b.u64(), Event: b.u64(),
		Caller: b.u64(), To: b.u64(), ToPitch: b.u64(), From: b.u64(), FromPitch: b.u64(),
		Width: b.u64(), Rows: b.u64()}
}

// encodeKernel returns a kernel as struct heddle_kernel of protocol.h and its parameters.
func encodeKernel(k *Kernel) []byte {
	var out []byte
	for _, n := range []uint32{k.ID, uint32(len(k.Parameters)), k.Bytes, k.Shared, k.Const, k.Local,
		k.MaxThreads, k.Registers, k.PTX, k.Cluster} {
		out = binary.LittleEndian.AppendUint32(out, n)
	}
	for _, p := range k.Parameters {
		out = binary.LittleEndian.AppendUint32(out, p.Offset)
		out = binary.LittleEndian.AppendUint32(out, p.Size)
	}
	return out
}

// u64s returns numbers as a program reads them.
func u64s(ns ...uint64) []byte {
	var out []byte
	for _, n := range ns {
		out = binary.LittleEndian.AppendUint64(out, n)
	}
	return out
}

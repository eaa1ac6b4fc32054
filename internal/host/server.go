package host

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"
)

// Server answers programs that were linked with heddle's runtime. A program that runs on when its
// connection is closed ends at its next call.
type Server struct {
	listener
	gpu   *GPU
	every bool
	open  func(Hello, *Arena) (Device, error)
}

// Listen returns a server; Socket is the variable of the environment for its path. open returns the
// device of a program that connects; programs that run at the same time have one each. every says
// that programs report each copy and memset to Device.Order, also if they have no streams.
func Listen(gpu *GPU, every bool, open func(Hello, *Arena) (Device, error)) (*Server, error) {
	s := &Server{gpu: gpu, every: every, open: open}
	return s, s.listen(s.program)
}

// session is a connected program.
type session struct {
	conn    *net.UnixConn
	read    *bufio.Reader // of conn
	held    heldMessages
	device  Device
	arena   *Arena
	managed map[uint32][]string  // names of managed variables, by module
	times   map[uint64]time.Time // of events
	context Error                // the error that every call returns
	regular bool                 // the program has said that it ends
	launch  Launch               // reused

	compiled []byte // PTX and messages of the last compilation
}

// start is the time from which events count.
var start = time.Now()

// program answers one program until it ends.
func (s *Server) program(c *net.UnixConn) error {
	r := bufio.NewReaderSize(c, 64<<10)
	hello, ok, buf, err := readHello(r, opHello, protocolVersion)
	if err != nil {
		return nil // it has not said anything
	}
	if !ok {
		reply(c, InvalidKernelImage, 0, nil, nil, false)
		return fmt.Errorf("%s was built by another version of heddle; build it again", hello.Path)
	}
	arena, err := newArena()
	if err != nil {
		return err
	}
	defer arena.close()
	arena.Memory.Limit = s.gpu.Memory
	dev, err := s.open(hello, arena)
	if err != nil {
		return err
	}
	p := &session{conn: c, read: r, device: dev, arena: arena,
		managed: make(map[uint32][]string), times: make(map[uint64]time.Time)}
	arena.answer = p.answer
	defer func() { dev.Ended(p.regular) }()
	every := uint64(0)
	if s.every {
		every = 1
	}
	welcome := append(u64s(ArenaBase, ArenaSize, every), s.gpu.encode()...)
	head := replyHead(Success, Success, 0, len(welcome), false)
	if err := arena.sendWithFile(c, append(head, welcome...)); err != nil {
		return fmt.Errorf("%s: %w", hello.Path, err)
	}
	for {
		m, ok := p.held.next()
		if !ok {
			if m, buf, err = readMessage(r, buf); err != nil {
				return nil // the program has ended, in whatever manner: Device.Ended is told
			}
		}
		if err := p.do(m); err != nil {
			return fmt.Errorf("%s: %w", hello.Path, err)
		}
	}
}

// replyHead returns the head of a reply. running says that a launch is still being executed.
func replyHead(result, context Error, printed, size int, running bool) []byte {
	still := uint32(0)
	if running {
		still = 1
	}
	var out []byte
	for _, n := range []uint32{uint32(result), uint32(context), uint32(printed), uint32(size), still} {
		out = binary.LittleEndian.AppendUint32(out, n)
	}
	return out
}

// reply sends a reply. A failure shows at the next read.
func reply(c *net.UnixConn, result, context Error, printed, data []byte, running bool) {
	out := replyHead(result, context, len(printed), len(data), running)
	out = append(out, printed...)
	_, _ = c.Write(append(out, data...))
}

// do handles one message. It fails if the message is malformed.
func (p *session) do(m message) error {
	b := body{rest: m.body}
	if m.op < opReplies {
		p.post(m.op, &b)
	} else {
		data, result := p.ask(m.op, &b)
		printed := p.device.Printed()
		p.device.Resume()
		reply(p.conn, result, p.context, printed, data, false)
	}
	if b.bad {
		return fmt.Errorf("a message of operation %d is too short: %d bytes", m.op, len(m.body))
	}
	return nil
}

// post handles a message without a reply.
func (p *session) post(o op, b *body) {
	switch o {
	case opModule:
		module := b.u32()
		p.device.Load(module, append([]byte(nil), b.rest...), p.managed[module])
	case opVariable:
		module, managed := b.u32(), b.u32() != 0
		if name := b.text(); managed {
			p.managed[module] = append(p.managed[module], name)
		}
	case opLaunch:
		readLaunch(b, &p.launch)
		// After an error of the context nothing is executed.
		if p.context == Success && !b.bad {
			p.context = p.device.Launch(&p.launch)
		}
	case opWork:
		p.work(b)
	case opRecord:
		event := b.u64()
		p.times[event] = time.Now()
		p.device.Order(&Order{Call: RecordEvent, Event: event, Stream: b.u64()})
	case opOrder:
		for len(b.rest) >= orderBytes {
			o := readOrder(b)
			p.device.Order(&o)
		}
	case opBadFree:
		p.device.BadFree(b.u64(), b.u64())
	case opObject:
		handle := b.u64()
		if o := readObject(b); !b.bad {
			p.device.Object(handle, &o)
		}
	case opObjectGone:
		p.device.ObjectGone(b.u64())
	case opUnsupported:
		p.device.Unsupported(b.text())
	case opExit:
		p.regular = true
	}
}

// ask handles a message with a reply, and returns the body of the reply.
func (p *session) ask(o op, b *body) ([]byte, Error) {
	switch o {
	case opSync:
		p.device.Waited()
		return nil, Success
	case opQuery: // all earlier operations have ended
		return nil, Success
	case opKernel:
		module := b.u32()
		b.u32()
		k, err := p.device.Kernel(module, b.text())
		if err != Success {
			return nil, err
		}
		return encodeKernel(k), Success
	case opCompile:
		return p.compile(b), Success
	case opCompiled:
		out := p.compiled
		p.compiled = nil
		return out, Success
	case opLoaded:
		return nil, p.device.Loaded(b.u32())
	case opResult:
		return p.work(b)
	case opSymbol:
		module := b.u32()
		b.u32()
		addr, size, err := p.device.Symbol(module, b.text())
		return u64s(addr, size), err
	case opMemory:
		free, total := p.arena.Memory.Room()
		return u64s(free, total), Success
	case opTime:
		t, ok := p.times[b.u64()]
		if !ok {
			return u64s(0), InvalidResourceHandle
		}
		return u64s(uint64(t.Sub(start))), Success
	}
	return p.askMemory(o, b)
}

// work has a function of a library computed, unless the context has failed.
func (p *session) work(b *body) ([]byte, Error) {
	w := readWork(b)
	if p.context != Success || b.bad {
		return nil, p.context
	}
	var out []byte
	out, p.context = p.device.Work(&w)
	return out, p.context
}

// compile compiles a source text, and keeps the result for the next message.
func (p *session) compile(b *body) []byte {
	parts := strings.Split(strings.TrimSuffix(b.text(), "\x00"), "\x00")
	if len(parts) < 2 {
		b.bad = true
		return nil
	}
	result, ptx, log := p.device.Compile(parts[0], parts[1], parts[2:])
	p.compiled = slices.Concat(ptx, log)
	var out []byte
	for _, n := range []uint32{uint32(result), uint32(len(ptx)), uint32(len(log))} {
		out = binary.LittleEndian.AppendUint32(out, n)
	}
	return out
}

// askMemory handles the messages that change the memory.
func (p *session) askMemory(o op, b *body) ([]byte, Error) {
	switch o {
	case opAlloc:
		size, kind := b.u64(), Kind(b.u32())
		ordered := b.u32() != 0
		a, err := p.arena.Memory.Alloc(size, min(kind, PinnedMemory), b.u64())
		if err == Success {
			p.device.Allocated(a, ordered)
		}
		return u64s(a.Addr), err
	case opReserve:
		addr, err := p.arena.Memory.Reserve(b.u64())
		return u64s(addr), err
	case opMap:
		addr, size, caller := b.u64(), b.u64(), b.u64()
		a, err := p.arena.Memory.Map(addr, size, caller)
		if ordered := b.u64() != 0; err == Success {
			p.device.Allocated(a, ordered)
		}
		return nil, err
	case opFree:
		addr, caller, ordered := b.u64(), b.u64(), b.u64() != 0
		a, err := p.arena.Memory.Free(addr)
		if err == Success {
			p.device.Freed(a, caller, ordered)
			p.arena.discard(a)
		}
		return nil, err
	case opReset:
		for _, a := range p.arena.Memory.Reset() {
			p.device.Freed(a, 0, false)
			p.arena.discard(a)
		}
		p.context = Success
		p.device.Reset()
		return nil, Success
	}
	return nil, NotSupported
}

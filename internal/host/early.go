package host

import (
	"encoding/binary"
	"time"
)

// Messages are handled in their order, and a launch takes until its kernel has ended. A kernel that
// waits for the program would wait for ever if the program first asks something: whether an event is
// ready, or for memory, as CUB's caching allocator does. So while a launch waits for the program,
// what does not depend on its end is answered (Arena.Answer). Messages without a reply that come
// before are kept, in their order.

// mostHeld bounds the messages that are kept.
const mostHeld = 1 << 12

// peekTime is how long a message may take that the program is sending.
const peekTime = time.Millisecond

// heldMessages are messages that wait for the end of a launch.
type heldMessages struct {
	list    []message
	events  map[uint64]bool // that they record
	streams map[uint64]bool // in which they have work
	modules bool            // they load a module
}

// add keeps a message. Its body is copied.
func (h *heldMessages) add(m message) {
	m.body = append([]byte(nil), m.body...)
	h.list = append(h.list, m)
	if h.events == nil {
		h.events, h.streams = make(map[uint64]bool), make(map[uint64]bool)
	}
	b := body{rest: m.body}
	switch m.op {
	case opRecord:
		h.events[b.u64()] = true
	case opLaunch:
		var l Launch
		readLaunch(&b, &l)
		h.streams[l.Stream] = true
	case opWork:
		w := readWork(&b)
		h.streams[w.Stream] = true
	case opModule, opVariable:
		h.modules = true
	}
}

// next returns the first message and removes it; ok is false if there is none.
func (h *heldMessages) next() (m message, ok bool) {
	if len(h.list) == 0 {
		*h = heldMessages{}
		return m, false
	}
	m, h.list = h.list[0], h.list[1:]
	return m, true
}

// answer handles messages of the program while a launch is being executed, until it has answered
// one, which it reports. One that has to wait for the end of the launch stays for the next read.
func (p *session) answer() bool {
	for len(p.held.list) < mostHeld {
		m, ok := p.peek()
		if !ok {
			return false
		}
		b := body{rest: m.body}
		if m.op < opReplies {
			p.held.add(m)
			p.discard(m)
			continue
		}
		data, result, ok := p.askEarly(m.op, &b)
		if !ok || b.bad {
			return false
		}
		p.device.Resume()
		p.discard(m)
		reply(p.conn, result, p.context, nil, data, true)
		return true
	}
	return false
}

// peek returns the next message without reading it, if all of it arrives in time.
func (p *session) peek() (message, bool) {
	if p.conn.SetReadDeadline(time.Now().Add(peekTime)) != nil {
		return message{}, false
	}
	defer func() { _ = p.conn.SetReadDeadline(time.Time{}) }()
	h, err := p.read.Peek(messageHead)
	if err != nil {
		return message{}, false // also at the end of the connection, which the next read tells
	}
	n := binary.LittleEndian.Uint32(h[4:])
	if n > uint32(p.read.Size()-messageHead) {
		return message{}, false
	}
	all, err := p.read.Peek(messageHead + int(n))
	if err != nil {
		return message{}, false
	}
	return message{op(binary.LittleEndian.Uint32(all)), all[messageHead:]}, true
}

// discard reads a message that peek has returned.
func (p *session) discard(m message) { _, _ = p.read.Discard(messageHead + len(m.body)) }

// askEarly is ask for what does not depend on the end of the launch that is being executed; ok is
// false for the rest.
func (p *session) askEarly(o op, b *body) (data []byte, result Error, ok bool) {
	switch o {
	case opQuery:
		event, stream := b.u64(), b.u64()
		if event == 0 && p.ready(stream) || event != 0 && !p.held.events[event] {
			return nil, Success, true
		}
		return nil, NotReady, true
	case opAlloc, opMemory:
	case opKernel, opSymbol, opLoaded:
		if p.held.modules {
			return nil, Success, false
		}
	default:
		return nil, Success, false
	}
	data, result = p.ask(o, b)
	return data, result, true
}

// ready reports whether a stream has no work, while the last launch is being executed. The default
// stream (0) waits for the others.
func (p *session) ready(stream uint64) bool {
	return stream != 0 && stream != p.launch.Stream && !p.held.streams[stream]
}

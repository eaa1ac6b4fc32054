package host

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"reflect"
	"strings"
	"testing"
	"time"

	"heddle/internal/event"
)

// TestWatchProtocol compares the constants with those of gpu/protocol.h.
func TestWatchProtocol(t *testing.T) {
	text := header(t, "gpu/protocol.h")
	want := map[string]uint32{"VERSION": watchVersion, "EXIT": uint32(watchExit),
		"ALLOC": uint32(watchAlloc), "FREE": uint32(watchFree), "VARIABLE": uint32(watchVariable),
		"UNWATCHED": uint32(watchUnwatched), "REPLIES": uint32(opReplies), "HELLO": uint32(watchHello),
		"QUEUES": uint32(watchQueues), "IMAGE": uint32(watchImage), "KERNEL": uint32(watchKernel),
		"LAUNCH": uint32(watchLaunch), "ENDED": uint32(watchEnded),
		"KIND_DEVICE": uint32(DeviceMemory), "KIND_MANAGED": uint32(ManagedMemory),
		"KIND_PINNED": uint32(PinnedMemory), "WHY_UNKNOWN": uint32(UnknownKernel),
		"WHY_GRAPH": uint32(GraphLaunch), "WHY_CAPTURE": uint32(WhileCapturing),
		"WHY_DEVICE": uint32(OtherDevice), "WHY_SETUP": uint32(NoQueues),
		"WHY_VARIABLE": uint32(NoVariables), "WHY_MORE": uint32(MoreGraphs),
		"DO_NOTHING": uint32(DoNothing), "DO_LOG": uint32(DoLog),
		"DO_TIME": uint32(DoTime), "DO_LESS": uint32(DoLess)}
	sameDefines(t, text, `#define HEDDLE_WATCH_(\w+) (\d+)\s`, want, nil)
	if !strings.Contains(text, fmt.Sprintf("HEDDLE_WATCH_SOCKET %q", WatchSocket)) {
		t.Errorf("gpu/protocol.h names another socket than %s", WatchSocket)
	}
}

// noted is a watcher that notes what it is told.
type noted struct {
	calls []string
	do    Do
}

func (n *noted) note(format string, args ...any) {
	n.calls = append(n.calls, fmt.Sprintf(format, args...))
}

func (n *noted) GraphLaunches() uint64 { return 4 }

func (n *noted) Image(image []byte) (uint32, []string, []byte) {
	n.note("image %q", image)
	return 7, []string{"a", "table"}, []byte("instead")
}

func (n *noted) Kernel(module uint32, name string) *WatchedKernel {
	n.note("kernel %d %s", module, name)
	if name == "unknown" {
		return nil
	}
	return &WatchedKernel{ID: 3, Module: 7, Parameters: []Parameter{{0, 8}, {8, 4}}}
}

func (n *noted) Variable(module uint32, name string, addr, size uint64) {
	n.note("variable %d %s %#x %d", module, name, addr, size)
}
func (n *noted) Queues(addr uint64) error {
	n.note("queues %#x", addr)
	if addr == 0 {
		return errors.New("no memory there")
	}
	return nil
}
func (n *noted) Launch(l *Launch) Do {
	n.note("launch %d of %v by %v, %d shared in %d, from %#x %#x: %x", l.Kernel, l.Grid, l.Block, l.Shared,
		l.Stream, l.Caller, l.Callers, l.Params)
	return n.do
}
func (n *noted) Ended(result uint32, refused bool, took time.Duration, device []byte) {
	n.note("ended %d, refused %v, after %v: %x", result, refused, took, device)
}
func (n *noted) Allocated(a Allocation) { n.note("allocated %+v", a) }
func (n *noted) Freed(addr, caller uint64) {
	n.note("freed %#x from %#x", addr, caller)
}
func (n *noted) Unwatched(why Why, text string) { n.note("unwatched %d %s", why, text) }
func (n *noted) Exited(regular bool)            { n.note("exited %v", regular) }

// client is a program as the library in it talks.
type client struct {
	t *testing.T
	net.Conn
}

// send writes a message of numbers, which are uint32 or uint64, and strings.
func (c client) send(o op, parts ...any) {
	c.t.Helper()
	var body []byte
	for _, p := range parts {
		switch p := p.(type) {
		case uint32:
			body = binary.LittleEndian.AppendUint32(body, p)
		case uint64:
			body = binary.LittleEndian.AppendUint64(body, p)
		case string:
			body = append(body, p...)
		}
	}
	head := binary.LittleEndian.AppendUint32(nil, uint32(o))
	head = binary.LittleEndian.AppendUint32(head, uint32(len(body)))
	if _, err := c.Write(append(head, body...)); err != nil {
		c.t.Fatal(err)
	}
}

// reply reads a reply.
func (c client) reply() []byte {
	c.t.Helper()
	var n [4]byte
	if _, err := io.ReadFull(c, n[:]); err != nil {
		c.t.Fatal(err)
	}
	b := make([]byte, binary.LittleEndian.Uint32(n[:]))
	if _, err := io.ReadFull(c, b); err != nil {
		c.t.Fatal(err)
	}
	return b
}

// watchWith starts a server for one watcher, and connects to it.
func watchWith(t *testing.T, w Watcher) (*WatchServer, client) {
	t.Helper()
	s, err := Watch(func(h Hello) (Watcher, QueueMemory, error) {
		if h != (Hello{Process: 12, Path: "/bin/p", Load: 0x1000}) {
			t.Errorf("%+v", h)
		}
		return w, QueueMemory{HostBytes: 640, DeviceBytes: 96}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("unix", s.Path)
	if err != nil {
		t.Fatal(err)
	}
	return s, client{t, c}
}

// TestWatch: each message reaches the watcher as gpu/protocol.h describes it, and each reply has its
// form.
func TestWatch(t *testing.T) {
	n := &noted{do: DoLog}
	s, c := watchWith(t, n)
	u32s := func(v ...uint32) (b []byte) {
		for _, x := range v {
			b = binary.LittleEndian.AppendUint32(b, x)
		}
		return b
	}
	c.send(watchHello, uint32(watchVersion), uint32(12), uint64(0x1000), "/bin/p")
	expect := func(want []byte) {
		t.Helper()
		if got := c.reply(); !bytes.Equal(got, want) {
			t.Errorf("reply %q, want %q", got, want)
		}
	}
	expect(u64s(640, 96, 4))
	c.send(watchQueues, uint64(0x5000))
	expect(nil)
	c.send(watchImage, ".version\x00")
	expect(append(u32s(7, 2), "a\x00table\x00instead"...))
	c.send(watchKernel, uint32(7), uint32(0), "k")
	expect(u32s(3, 7, 2, 0, 0, 8, 8, 4))
	c.send(watchKernel, uint32(0), uint32(0), "unknown")
	expect(u32s(0, 0, 0, 0))
	c.send(watchVariable, uint32(7), uint32(0), uint64(0x9000), uint64(16), "table")
	c.send(watchAlloc, uint64(0x8000), uint64(64), uint32(1), uint32(0), uint64(0x44))
	c.send(watchFree, uint64(0x8000), uint64(0x55))
	c.send(watchUnwatched, uint32(2), uint32(0), "g")
	one := []any{uint32(3), uint32(0), uint32(4), uint32(1), uint32(1), uint32(32), uint32(2), uint32(1),
		uint32(1), uint32(1), uint32(1), uint32(2), uint64(256), uint64(9), uint64(0x77), uint64(0x78),
		uint64(0x79), "\x01\x02"}
	c.send(watchLaunch, one...)
	expect(u64s(uint64(DoLog)))
	c.send(watchEnded, uint32(5), uint32(1), uint64(1500), "\x0a\x0b")
	expect(nil)
	c.send(watchExit, uint32(1))
	_ = c.Close()
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
	dim := func(x, y uint32) event.Dim3 { return event.Dim3{X: x, Y: y, Z: 1} }
	want := []string{"queues 0x5000", `image ".version\x00"`, "kernel 7 k", "kernel 0 unknown",
		"variable 7 table 0x9000 16", fmt.Sprintf("allocated %+v", Allocation{Addr: 0x8000, Size: 64,
			Kind: ManagedMemory, Caller: 0x44}),
		"freed 0x8000 from 0x55", "unwatched 2 g",
		fmt.Sprintf("launch 3 of %v by %v, 256 shared in 9, from 0x77 [0x78 0x79]: 0102", dim(4, 1),
			dim(32, 2)), "ended 5, refused true, after 1.5µs: 0a0b", "exited true"}
	if !reflect.DeepEqual(n.calls, want) {
		t.Errorf("the watcher was told\n%s\nwant\n%s", strings.Join(n.calls, "\n"),
			strings.Join(want, "\n"))
	}
}

// TestWatchBroken: a program of another version, messages that are too short, and programs that end
// without a word are errors or ends, and nothing else.
func TestWatchBroken(t *testing.T) {
	for _, test := range []struct {
		name string
		send func(c client)
		err  string
	}{
		{"version", func(c client) {
			c.send(watchHello, uint32(watchVersion+1), uint32(12), uint64(0x1000), "/bin/p")
			if b := c.reply(); len(b) != 0 {
				c.t.Errorf("reply %q", b)
			}
		}, "another version of heddle"},
		{"nothing", func(client) {}, ""},
		{"short", func(c client) {
			c.send(watchHello, uint32(watchVersion), uint32(12), uint64(0x1000), "/bin/p")
			c.reply()
			c.send(watchLaunch, uint32(1))
		}, "operation 68 is too short"},
		{"unknown", func(c client) {
			c.send(watchHello, uint32(watchVersion), uint32(12), uint64(0x1000), "/bin/p")
			c.reply()
			c.send(99)
		}, "unknown operation 99"},
		{"memory", func(c client) {
			c.send(watchHello, uint32(watchVersion), uint32(12), uint64(0x1000), "/bin/p")
			c.reply()
			c.send(watchQueues, uint64(0))
		}, "no memory there"},
		{"killed", func(c client) {
			c.send(watchHello, uint32(watchVersion), uint32(12), uint64(0x1000), "/bin/p")
			c.reply()
		}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, c := watchWith(t, new(noted))
			test.send(client{t, c.Conn})
			if test.err != "" { // the server ends the connection
				_, _ = io.Copy(io.Discard, c)
			}
			_ = c.Close()
			err := s.Close(context.Background())
			if test.err == "" && err != nil || test.err != "" && (err == nil ||
				!strings.Contains(err.Error(), test.err)) {
				t.Errorf("%v, want %q", err, test.err)
			}
		})
	}
}

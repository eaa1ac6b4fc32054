package host

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"net"
	"time"
)

// Programs that run on a GPU. heddle loads a library into them (internal/lower/headers/gpu), which
// asks for instrumented images of modules and tells of launches. The kernels write into queues that
// heddle reads meanwhile (gpu/queue).

// WatchSocket is the environment variable with the path of the socket to which such programs
// connect.
const WatchSocket = "HEDDLE_GPU_SOCKET"

// watchVersion and the operations are those of gpu/protocol.h, against which a test compares them.
const (
	watchVersion = 2

	watchExit      op = 1
	watchAlloc     op = 2
	watchFree      op = 3
	watchVariable  op = 4
	watchUnwatched op = 5

	watchHello  op = 64
	watchQueues op = 65
	watchImage  op = 66
	watchKernel op = 67
	watchLaunch op = 68
	watchEnded  op = 69
)

// Do says what the program does for a launch.
type Do uint32

// What to do for a launch, as in gpu/protocol.h.
const (
	DoNothing Do = 0
	DoLog     Do = 1 // let the kernel log, and wait for its end
	DoTime    Do = 2 // wait for its end, without a log
	DoLess    Do = 3 // as DoLog, without what is proved
)

// Why says why something is not watched.
type Why uint32

// The reasons, as in gpu/protocol.h.
const (
	UnknownKernel  Why = 1
	GraphLaunch    Why = 2
	WhileCapturing Why = 3
	OtherDevice    Why = 4
	NoQueues       Why = 5
	NoVariables    Why = 6
	MoreGraphs     Why = 7
)

// Watcher follows one program on a GPU. One goroutine calls it.
type Watcher interface {
	// GraphLaunches returns how many launches of each executable graph the program makes node by
	// node, so that the kernels in it are watched.
	GraphLaunches() uint64
	// Image receives the image of a module. It returns the module's number (0: nothing in it is
	// watched), the variables whose places are wanted, and what to load instead (nil: the image
	// itself).
	Image(image []byte) (module uint32, variables []string, instead []byte)
	// Kernel finds a kernel by its mangled name, in any module if that is 0; nil: none has it.
	Kernel(module uint32, name string) *WatchedKernel
	// Variable says where a variable of a module is.
	Variable(module uint32, name string, addr, size uint64)
	// Queues receives the address of the memory of the queues, if QueueMemory has none; 0: it was
	// freed.
	Queues(addr uint64) error
	// Launch announces a launch, and prepares the queues if its kernel is to log. The launch is valid
	// until Launch returns.
	Launch(*Launch) Do
	// Ended says how a launch went for which the reply was not DoNothing. result is that of the
	// driver, 0 if the kernel has reached its end; refused says that the kernel was not launched.
	// device is the device's memory of the queues, nil if it cannot be read.
	Ended(result uint32, refused bool, took time.Duration, device []byte)
	// Allocated and Freed report changes of the memory; caller is the return address of the call.
	Allocated(a Allocation)
	Freed(addr, caller uint64)
	// Unwatched reports what is not watched. The text names it, or says why. For a graph it continues
	// "a graph that"; it is empty for one of the driver API.
	Unwatched(why Why, text string)
	// Exited reports the end of the program. It is regular if it has called exit or returned from
	// main. A launch whose end was not reported has not ended.
	Exited(regular bool)
}

// WatchedKernel is a kernel of an instrumented module. One that does not log has no ID.
type WatchedKernel struct {
	ID, Module uint32 // from 1
	Parameters []Parameter
}

// QueueMemory is the memory of the queues. Without Host, the program allocates it.
type QueueMemory struct {
	Host                   *SharedMemory
	HostBytes, DeviceBytes int
}

// WatchServer answers programs on a GPU. They run on when their connections are closed.
type WatchServer struct {
	listener
	open func(Hello) (Watcher, QueueMemory, error)
}

// Watch returns a server; WatchSocket is the variable of the environment for its path. open returns
// the watcher of a program that connects.
func Watch(open func(Hello) (Watcher, QueueMemory, error)) (*WatchServer, error) {
	s := &WatchServer{open: open}
	return s, s.listen(s.program)
}

// program answers one program until it ends.
func (s *WatchServer) program(c *net.UnixConn) error {
	r := bufio.NewReaderSize(c, 64<<10)
	hello, ok, buf, err := readHello(r, watchHello, watchVersion)
	if err != nil {
		return nil // it has not said anything
	}
	if !ok {
		_, _ = c.Write(make([]byte, 4))
		return fmt.Errorf("%s has loaded a library of another version of heddle", hello.Path)
	}
	w, mem, err := s.open(hello)
	if err != nil {
		return err
	}
	regular := false
	defer func() { w.Exited(regular) }()
	welcome := answer(u64s(uint64(mem.HostBytes), uint64(mem.DeviceBytes), w.GraphLaunches()))
	if mem.Host == nil {
		_, err = c.Write(welcome)
	} else {
		err = sendFile(c, welcome, mem.Host.file)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", hello.Path, err)
	}
	var m message
	var launch Launch
	for {
		if m, buf, err = readMessage(r, buf); err != nil {
			return nil // the program has ended, in whatever manner: Watcher.Exited is told
		}
		b := body{rest: m.body}
		var reply []byte
		switch m.op {
		case watchExit:
			regular = b.u32() == 1
		case watchAlloc:
			a := Allocation{Addr: b.u64(), Size: b.u64(), Kind: Kind(b.u32())}
			b.u32()
			a.Caller = b.u64()
			w.Allocated(a)
		case watchFree:
			w.Freed(b.u64(), b.u64())
		case watchVariable:
			module := b.u32()
			b.u32()
			addr, size := b.u64(), b.u64()
			w.Variable(module, b.text(), addr, size)
		case watchUnwatched:
			why := Why(b.u32())
			b.u32()
			w.Unwatched(why, b.text())
		case watchQueues:
			err = w.Queues(b.u64())
		case watchImage:
			reply = encodeImage(w.Image(m.body))
		case watchKernel:
			module := b.u32()
			b.u32()
			reply = encodeWatched(w.Kernel(module, b.text()))
		case watchLaunch:
			readLaunch(&b, &launch)
			do := DoNothing
			if !b.bad {
				do = w.Launch(&launch)
			}
			reply = u64s(uint64(do))
		case watchEnded:
			result, refused := b.u32(), b.u32() != 0
			took := time.Duration(b.u64())
			w.Ended(result, refused, took, b.rest)
		default:
			err = fmt.Errorf("unknown operation %d", m.op)
		}
		if b.bad {
			err = fmt.Errorf("a message of operation %d is too short: %d bytes", m.op, len(m.body))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", hello.Path, err)
		}
		if m.op >= opReplies {
			_, _ = c.Write(answer(reply)) // a failure shows at the next read
		}
	}
}

// answer returns a reply with its length.
func answer(b []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(b))), b...)
}

// encodeImage returns the reply to an image.
func encodeImage(module uint32, variables []string, instead []byte) []byte {
	out := binary.LittleEndian.AppendUint32(nil, module)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(variables)))
	for _, v := range variables {
		out = append(append(out, v...), 0)
	}
	return append(out, instead...)
}

// encodeWatched returns the reply to a question about a kernel.
func encodeWatched(k *WatchedKernel) []byte {
	if k == nil {
		k = new(WatchedKernel)
	}
	var out []byte
	for _, n := range []uint32{k.ID, k.Module, uint32(len(k.Parameters)), 0} {
		out = binary.LittleEndian.AppendUint32(out, n)
	}
	for _, p := range k.Parameters {
		out = binary.LittleEndian.AppendUint32(out, p.Offset)
		out = binary.LittleEndian.AppendUint32(out, p.Size)
	}
	return out
}

package queue

import (
	"fmt"
	"sync/atomic"
	"unsafe"
)

// Memory is the memory that the device and the host share, from instrument.HostPtr on. Offsets of
// Load32 and the like are multiples of the size. Loads acquire, and stores release, as the atomic
// operations of Go.
type Memory interface {
	Load32(at int) uint32
	Load64(at int) uint64
	Store32(at int, v uint32)
	Store64(at int, v uint64)
	// Read copies bytes that nobody writes meanwhile.
	Read(at int, b []byte)
}

// Bytes is Memory in the address space of this process, such as pinned memory. The machine must be
// little endian, as the device is.
type Bytes struct{ mem []byte }

// NewBytes returns Memory in mem, which must be aligned to 8 bytes.
func NewBytes(mem []byte) (Bytes, error) {
	if len(mem) == 0 || uintptr(unsafe.Pointer(&mem[0]))%8 != 0 {
		return Bytes{}, fmt.Errorf("the memory of the queues is empty or not aligned to 8 bytes")
	}
	return Bytes{mem}, nil
}

func (m Bytes) word32(at int) *uint32 { return (*uint32)(unsafe.Pointer(&m.mem[at : at+4][0])) }
func (m Bytes) word64(at int) *uint64 { return (*uint64)(unsafe.Pointer(&m.mem[at : at+8][0])) }

// Load32 implements Memory.
func (m Bytes) Load32(at int) uint32 { return atomic.LoadUint32(m.word32(at)) }

// Load64 implements Memory.
func (m Bytes) Load64(at int) uint64 { return atomic.LoadUint64(m.word64(at)) }

// Store32 implements Memory.
func (m Bytes) Store32(at int, v uint32) { atomic.StoreUint32(m.word32(at), v) }

// Store64 implements Memory.
func (m Bytes) Store64(at int, v uint64) { atomic.StoreUint64(m.word64(at), v) }

// Read implements Memory.
func (m Bytes) Read(at int, b []byte) { copy(b, m.mem[at:at+len(b)]) }

// Clear sets the first n bytes to zero, before a launch.
func (m Bytes) Clear(n int) { clear(m.mem[:n]) }

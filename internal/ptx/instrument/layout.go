package instrument

// The memory that the instrumented code and the host share, and the records in it. All numbers are
// little endian. docs/theory/queues.md has the protocol and why the order that it gives is right.
//
// Two pointers lead there. The host sets them before it launches a kernel, and nothing is logged
// while heddle_device is 0.
//
//	heddle_device  memory of the device:
//	    asked u32, served u32: of the lock        at LockAt, ServedAt
//	    ticket u64, dropped u64                   at TicketAt, DroppedAt
//	    for each queue: head u64, limit u64       at DeviceHeader + q*DeviceQueue
//	heddle_host    memory that both access (pinned memory of the host):
//	    queues u32, slots u32, closed u32         at QueuesAt, SlotsAt, ClosedAt
//	    for each queue: tail u64                  at HostHeader + q*HostQueue
//	    for each queue: slots of SlotSize bytes   behind all tails
//
// head and tail count slots from the beginning; a slot is at its number modulo slots, a power of 2.
// limit is a number of slots up to which the device knows that it may write: tail + slots, as it was
// when a warp last read the tail. closed is set once nobody reads any more; records that find no
// space are then dropped and counted.
//
// A record is one or more consecutive slots and stands for one instruction of one warp (Barracuda,
// section 4.2). The first slot, 32 bytes, is the complete record where the addresses of the lanes
// are base + (lane - first)*stride:
//
//	 0  ready   u32  ReadyBit | number of the slot; 0 until the record is complete
//	 4  site    u32  index into Result.Sites; flags in the upper 8 bits
//	 8  warp    u32  event.Warp
//	12  mask    u32  the lanes that execute the instruction
//	16  active  u32  the lanes that are converged with them
//	20  stride  s32  of an affine record
//	24  base    u64  of an affine record: the address of the first lane of mask
//
// Other slots follow, each kind only with its flag and in this order:
//
//	FlagTicket   ticket u64, stored u32      one slot: a strong access
//	!FlagAffine  one u64 for each lane       of mask in ascending order, 4 in a slot; 8 slots with
//	                                         Options.Fixed
//	FlagData     words of 8 bytes            what the lanes store: for each word as the addresses;
//	                                         with FlagSame one slot, the words of every lane
//
// The address of a lane in shared memory, accessed through a generic address, has SharedBit set. In
// place of an address, a numbered barrier has its number | count<<32, and bar.warp.sync its mask.

// Sizes and places in the shared memory.
const (
	SlotSize = 32
	perSlot  = SlotSize / 8

	LockAt       = 0
	ServedAt     = 4
	TicketAt     = 8
	DroppedAt    = 16
	DeviceHeader = 64
	DeviceQueue  = 32

	QueuesAt   = 0
	SlotsAt    = 4
	ClosedAt   = 8
	HostHeader = 64
	HostQueue  = 64
)

// Bits and flags of records.
const (
	ReadyBit  = 1 << 31
	SharedBit = 1 << 63
	SiteBits  = 24

	FlagAffine = 1 << 24
	FlagTicket = 1 << 25
	FlagData   = 1 << 26
	FlagSame   = 1 << 27 // all lanes of mask store the same value
)

// Names of the variables and functions that the rewriter adds to a module begin with Prefix. DevicePtr
// and HostPtr are the variables with the two pointers; DeviceVar and HostVar exist with
// Options.Queues only, and are the memory itself.
const (
	Prefix    = "heddle_log_"
	DevicePtr = Prefix + "device"
	HostPtr   = Prefix + "host"
	DeviceVar = Prefix + "device_memory"
	HostVar   = Prefix + "host_memory"
)

// DeviceBytes returns the size of the device's memory for some queues.
func DeviceBytes(queues int) int { return DeviceHeader + queues*DeviceQueue }

// HostBytes returns the size of the shared memory for some queues of slots slots each.
func HostBytes(queues, slots int) int { return HostHeader + queues*(HostQueue+slots*SlotSize) }

// TailAt returns the place of the tail of a queue in the shared memory.
func TailAt(queue int) int { return HostHeader + queue*HostQueue }

// RingAt returns the place of the first slot of a queue in the shared memory.
func RingAt(queue, queues, slots int) int {
	return HostHeader + queues*HostQueue + queue*slots*SlotSize
}

// MaxSlots is the number of slots of the longest record: its header, a ticket, 32 addresses, and 4
// words for each lane. A queue must have at least twice as many.
const MaxSlots = 2 + 8 + 4*8

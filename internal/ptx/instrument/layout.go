package instrument

// The memory that the instrumented code and the host share, and the records in it. All numbers are
// little endian. docs/theory/queues.md has the protocol and why the order that it gives is right.
//
// Two pointers lead there. The host sets them before it launches a kernel, and nothing is logged
// while heddle_log_device is 0.
//
//	heddle_log_device  memory of the device:
//	    asked u32, served u32: of the lock        at LockAt, ServedAt
//	    ticket u64, dropped u64                   at TicketAt, DroppedAt
//	    for each queue: head u64, limit u64       at DeviceHeader + q*DeviceQueue
//	heddle_log_host    memory that both access (pinned memory of the host):
//	    queues u32, slots u32, closed u32         at QueuesAt, SlotsAt, ClosedAt
//	    for each queue: tail u64                  at HostHeader + q*HostQueue
//	    for each queue: slots of SlotSize bytes   behind all tails
//
// head and tail count slots from the beginning; a slot is at its number modulo slots, a power of
// 2. limit is a number of slots up to which the device knows that it may write: tail + slots, as
// it was when a warp last read the tail. closed is set once nobody reads any more; records that
// find no space are then dropped and counted.
//
// A record is one or more consecutive slots and stands for one instruction of one warp (Barracuda,
// section 4.2). Its first slot of 32 bytes is all of it where the addresses of the lanes are
//
//	base + (i mod row)*stride + (i div row)*step, i = lane - first lane of mask
//
// or, if row is 0, base + i*stride. That is so for nearly all accesses: blocks are boxes, and so
// are most arrays.
//
//	 0  ready   u32  ReadyBit | number of the slot; 0 until the record is complete
//	 4  site    u32  index into Result.Sites, and in the upper bits form, flags and row
//	 8  warp    u32  event.Warp
//	12  mask    u32  the lanes that execute the instruction
//	16  active  u32  the lanes that are converged with them; if row is not 0 the step, s32: then all
//	                 lanes that are converged execute the instruction
//	20  stride  s32
//	24  base    u64  the address of the first lane of mask
//
// Other addresses are differences to base of 2 or 4 bytes, or of 1 byte if they are multiples of
// 4, or are complete. They are those of the lanes of mask in ascending order, from the second slot
// on; of a strong access, which has a ticket, they begin behind it:
//
//	 0  ticket  u32  of a record with FlagTicket: its lower half
//	 4  stored  u32  lanes that have stored
//	 8  differences; complete addresses begin in the third slot
//
// Behind these are slots with the values that the lanes store, if FlagData is set: for each word
// of 8 bytes one of each lane, from the beginning of a slot; with FlagSame one slot with the words
// of all lanes. With Options.Fixed each record has 8 slots for complete addresses.
//
// The address of a lane in shared memory, accessed through a generic address, has SharedBit set. In
// place of an address, a numbered barrier has its number | count<<32, and bar.warp.sync its mask.

// Sizes and places in the shared memory.
const (
	SlotSize = 32

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

// Bits of records. The forms of addresses are in the word of the site.
const (
	ReadyBit  = 1 << 31
	SharedBit = 1 << 63

	SiteBits  = 21
	FormShift = SiteBits
	FormMask  = 7
	RowShift  = 27 // 5 bits

	FlagTicket = 1 << 24
	FlagData   = 1 << 25
	FlagSame   = 1 << 26 // all lanes of mask store the same value
)

// The forms of addresses.
const (
	FormWide   = iota // 8 bytes
	FormByte          // differences of 1 byte, in units of 4
	FormShort         // differences of 2 bytes
	FormWord          // of 4 bytes
	FormAffine        // none
)

// LogAll is a variable of the module (u32), which exists with Options.Free or Options.Proved. The
// host sets it to 0 before a launch for which everything holds that Free and Proved assume; then
// what they name is not logged. It is 1 at first: everything is.
const LogAll = Prefix + "all"

// Names of the variables and functions that the rewriter adds to a module begin with Prefix.
// DevicePtr and HostPtr are the variables with the two pointers; DeviceVar and HostVar exist with
// Options.Queues only, and are the memory itself.
const (
	Prefix    = "heddle_log_"
	DevicePtr = Prefix + "device"
	HostPtr   = Prefix + "host"
	NumberVar = Prefix + "module" // Options.Number, u32
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

// MaxSlots is the number of slots of the longest record: its first one, a ticket, 32 addresses,
// and 4 words of each lane. A queue must have at least twice as many.
const MaxSlots = 2 + 8 + 4*8

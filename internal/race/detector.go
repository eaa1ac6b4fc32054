package race

import "heddle/internal/event"

// Detector is an event.Sink that finds races and barrier errors online.
//
// It follows Barracuda §3.3 (clocks, epochs, inflation, lockstep rules) and §4.3 (compression,
// shadow memory). Where the paper infers synchronization from fences and atomics, the memory model
// of the PTX ISA (chapter 8) takes its place; sync.go lists the differences. It can miss races on a
// location after the first race there, and races that only another order of synchronization would
// expose.
type Detector struct {
	opt       Options
	perBlock  uint32 // warps of a block
	lastLanes uint32 // lanes of the last warp of a block

	blocks [][]*block // by number, in groups: see blockAt; nil: there is one at a time, cached
	cached *block
	noted  bool // a race was found, or a pair of equal writes tolerated: see local
	// clustered says that blocks access the shared memory of others (cluster.go)
	clustered bool
	clusters  map[uint32]*clusterState
	remote    *lifetimes // of Options.Execution; nil before the first
	dependent *dependent // nil without Options.Dependent

	global      *memory
	bytes       uint64   // see Memory
	lists       [][]list // by number: see list
	listed      uint32   // numbers of lists in use or spare
	runs        [][]run  // by number; 0 is none
	spare       []*page
	slab        []page // not used so far
	slabCells   [][rowWords]cell
	packed      []*[packedGroup][rowWords]packed
	packedRows  uint32 // in use or spare
	sparePacked []uint32
	spareRuns   []uint32
	spareFine   [2][]*fine // by fine.shift
	spareCells  []*[rowWords]cell
	spareLists  []uint32
	spareMemory []*memory
	spareBlocks []*block
	spareCopied []*copied
	comps       components
	operations  map[uint64]operation     // asynchronous ones that will signal an mbarrier
	proxies     map[event.Warp]*fenceLog // fence.proxy.async
	handed      entry                    // what settle puts in the place of pending entries; see hand
	sites       []siteInfo

	// of Options.Execution: the mbarriers so far, the component of the last, agents under way, and
	// findings (phases.go)
	objects     uint32
	objectsOf   event.Warp
	agents      map[uint64]agentPhase
	phaseErrors []PhaseError
	phaseIndex  map[phaseKey]int

	locations map[place]*location
	exchanges *exchanges // nil: not looked for

	groups     []group
	examples   int // of groups, and hazards that took the place of one
	raceIndex  map[raceKey]int
	errors     []BarrierError
	errorIndex map[errorKey]int
	tolerated  uint64

	uses      []use // of Options.Objects, by number
	deferring bool  // see deferred.go

	faulted map[event.Warp]uint32 // lanes that have made an invalid access; nil if none has

	mapReleases map[event.Warp][]*mapRelease // mapproxy.go; nil before the first
	mapUses     []MapUse
	// the earlier access of the race being recorded is the read of a tensor map
	mapRead bool
	// the first side of the race on tensor memory at hand; nil: of another race
	firstTensor *tensorPiece

	grids *grids // of launches by threads; nil before the first
	// the pieces of grids in the race being recorded
	firstGrid, secondGrid *piece

	within bool // the race being recorded is within one instruction

	// the last acquire or release whose Orders exclude the memory that this detector checks
	relaxed     event.Access
	copying     event.Access // the part of a copy that is looked at
	current     access       // of Access
	element     event.Access // of the vector access being split
	elementAddr [event.WarpSize]uint64
}

var (
	_ event.Sink       = (*Detector)(nil)
	_ event.LaunchSink = (*Detector)(nil)
)

// Fault states that lanes of a warp have made an invalid access and go on, with a value that is
// made up. It has no effect on what is found; findings in which one of these threads takes part say
// so.
func (d *Detector) Fault(w event.Warp, mask uint32) {
	if d.faulted == nil {
		d.faulted = make(map[event.Warp]uint32)
	}
	d.faulted[w] |= mask
}

// afterFault reports whether a thread has made an invalid access.
func (d *Detector) afterFault(t event.Thread) bool {
	return d.faulted[t.Warp()]>>t.Lane()&1 != 0
}

// New returns a detector for one launch.
func New(opt Options) *Detector {
	g := opt.Geometry
	last := event.Warp(g.WarpsPerBlock() - 1)
	d := &Detector{
		opt:        opt,
		perBlock:   uint32(g.WarpsPerBlock()),
		lastLanes:  g.Lanes(last),
		global:     newMemory(),
		runs:       make([][]run, 1),
		locations:  make(map[place]*location),
		raceIndex:  make(map[raceKey]int),
		errorIndex: make(map[errorKey]int),
	}
	if !opt.local {
		d.blocks = make([][]*block, (g.Blocks()+blockGroup-1)/blockGroup)
	}
	d.clustered = g.Ranks() > 1
	// In lock step each instruction is an epoch.
	d.deferring = !d.clustered && opt.Model != event.Lockstep && (opt.Only == event.NoSpace || opt.local)
	d.comps.first = event.Warp(g.Blocks() * uint64(d.perBlock))
	if opt.Exchanges && !opt.Static {
		d.exchanges = &exchanges{locations: make([]exchanged, 1), lists: make([][]entry, 1),
			pairs: make([]exchangePair, 1), index: make(map[raceKey]uint32)}
	}
	if opt.Dependent || opt.Objects != nil && opt.Objects.repeat == nil {
		d.opt.Objects = nil
	}
	if opt.Dependent && !opt.Execution {
		d.dependent = &dependent{make(map[uint32][]gridWait), make(map[event.Site]GridAccess)}
	}
	return d
}

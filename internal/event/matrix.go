package event

// Matrix is the part of wgmma.mma_async that one warp of a warpgroup has issued (PTX ISA
// 9.7.15.5.2): it reads Reads of the block's shared memory through the async proxy, at some time
// between its issue and the MatrixGroup that waits for it, as weak accesses.
type Matrix struct {
	Warp   Warp
	Site   Site
	Mask   uint32 // all lanes
	Active uint32
	Reads  *Footprint // rows of A that the warp multiplies, and all of B
}

// MatrixGroup is wgmma.commit_group or wait_group (PTX ISA 9.7.15.7.2, .3) by a warp: the matrix
// operations that it issued between two commits are a group, which may be empty. Groups belong to
// the warpgroup: a wait lets all groups but the last Pending be complete, as its four warps have
// issued them, and comes behind their commits.
type MatrixGroup struct {
	Warp    Warp
	Site    Site
	Mask    uint32
	Active  uint32
	Commit  bool
	Pending uint32
}

package event

// Peer is the block whose shared memory an event is about: 0 is the block of the event's warp, and
// another block of its cluster is 1 + its number (PTX ISA 5.1.7, .shared::cluster).
type Peer uint32

// PeerOf returns the peer that a block is for warps of other blocks.
func PeerOf(block uint32) Peer { return Peer(block + 1) }

// Block returns the number of the block, for a warp of block own.
func (p Peer) Block(own uint32) uint32 {
	if p == 0 {
		return own
	}
	return uint32(p - 1)
}

// ClusterOp is what threads do at the barrier of their cluster (PTX ISA 9.7.13.3).
type ClusterOp uint8

// The operations. ClusterComplete is by no thread: all threads of the cluster that have not exited
// have arrived, and those that wait go on.
const (
	ClusterArrive ClusterOp = iota
	ClusterWait
	ClusterComplete
)

// ClusterBarrier is an operation at the barrier of a cluster. A thread waits for the generation in
// which it has arrived last; its ClusterWait is sent when it goes on.
type ClusterBarrier struct {
	Warp   Warp // of ClusterComplete: a warp of the cluster
	Site   Site
	Mask   uint32 // 0 of ClusterComplete
	Active uint32
	Op     ClusterOp
	Order  Order // Release or Relaxed of ClusterArrive, Acquire of ClusterWait
}

// InitFence is fence.mbarrier_init.release.cluster by the lanes of Mask (PTX ISA 9.7.13.4): a
// release fence that orders nothing but the mbarrier.init that its threads have executed before.
type InitFence struct {
	Warp   Warp
	Site   Site
	Mask   uint32
	Active uint32
}

// Ranks returns the number of blocks of a cluster, at least 1.
func (g Geometry) Ranks() uint32 { return uint32(max(g.Cluster.Count(), 1)) }

// ClusterBlock returns the number of the block with a rank in a cluster (%cluster_ctarank, PTX ISA
// 10.16: x is fastest). Without clusters each block is a cluster with one rank.
func (g Geometry) ClusterBlock(cluster, rank uint32) uint32 {
	c := g.Cluster
	if c.Count() <= 1 {
		return cluster
	}
	in := Dim3{(g.Grid.X + c.X - 1) / c.X, (g.Grid.Y + c.Y - 1) / c.Y, (g.Grid.Z + c.Z - 1) / c.Z}
	at, of := in.at(uint64(cluster)), c.at(uint64(rank))
	return g.BlockNumber(Dim3{at.X*c.X + of.X, at.Y*c.Y + of.Y, at.Z*c.Z + of.Z})
}

// RankOf returns the rank of a block in its cluster.
func (g Geometry) RankOf(block uint32) uint32 {
	c := g.Cluster
	if c.Count() <= 1 {
		return 0
	}
	i := g.BlockIndex(block)
	return i.X%c.X + c.X*(i.Y%c.Y+c.Y*(i.Z%c.Z))
}

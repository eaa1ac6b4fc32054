package isa

import (
	"strings"
	"testing"

	"heddle/internal/event"
)

func decodeText(t *testing.T, text string) Desc {
	t.Helper()
	w := strings.Split(text, ".")
	d, err := Decode(w[0], w[1:])
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return d
}

// Every row says what it does, and says it of no row that its category contradicts.
func TestEveryRowHasAnAction(t *testing.T) {
	used := make(map[Action]bool)
	for r := range Rows() {
		used[r.Action] = true
		if r.Action == ActUnknown {
			t.Errorf("%s has no action", r.Opcode)
		}
		if r.Operation != OtherOperation && r.Action != ActCompute {
			t.Errorf("%s has an operation, but does not compute", r.Opcode)
		}
		if c := r.Category == Arith || r.Category == Video; c != (r.Action == ActCompute) {
			t.Errorf("%s: category %v, action %d", r.Opcode, r.Category, r.Action)
		}
		if r.Action == ActNothing && (r.Effect != NoEffect || !r.Executable) {
			t.Errorf("%s has an effect, or is not executable, but does nothing", r.Opcode)
		}
		if r.Cluster() && (r.Action == ActLoad || r.Action == ActStore || r.Action == ActAtomic || r.Action == ActReduce) {
			t.Errorf("%s passes for an access to the block's own memory", r.Opcode)
		}
		if (r.Category == FenceCat) != (r.Action == ActFence || r.Action == ActPartialFence || r.Action == ActProxyFence) {
			t.Errorf("%s: category %v, action %d", r.Opcode, r.Category, r.Action)
		}
		switch r.Action {
		case ActNumberedBarrier, ActWarpBarrier, ActClusterBarrier, ActMBarrier:
			d := Desc{Row: r}
			if u, ok := d.Barrier(4); !ok || u.Object == NoBarrier {
				t.Errorf("%s: no barrier object", r.Opcode)
			}
		}
	}
	for a := ActCompute; a < numActions; a++ {
		if !used[a] {
			t.Errorf("no row has action %d", a)
		}
	}
}

// The accesses of instructions, from the sections that their rows cite.
func TestAccesses(t *testing.T) {
	for _, c := range []struct {
		text string
		want string // operand:kind.space.order.scope.size, C: of the cluster, A: asynchronous, T, P: proxy
	}{
		{"ld.global.u32", "0:read.global.weak..4"},
		{"ld.u32", "0:read.generic.weak..4"},
		{"ld.global.v4.f32", "0:read.global.weak..16"},
		{"ld.acquire.gpu.global.b64", "0:read.global.acquire.gpu.8"},
		{"ld.volatile.shared.u8", "0:read.shared.relaxed.sys.1"},
		{"ld.global.nc.u32", "0:read.global.weak..4T"},
		{"ldu.global.u32", "0:read.global.weak..4T"},
		{"ld.shared::cta.u32", "0:read.shared.weak..4"},
		{"ld.shared::cluster.u32", "0:read.shared.weak..4C"},
		{"st.shared.b128", "0:write.shared.weak..16"},
		{"atom.global.add.u32", "0:atomic.global.relaxed.gpu.4"},
		{"atom.shared::cluster.add.u32", "0:atomic.shared.relaxed.gpu.4C"},
		{"red.release.sys.global.add.u64", "0:reduction.global.release.sys.8"},
		{"red.shared::cluster.add.u32", "0:reduction.shared.relaxed.gpu.4C"},
		{"st.bulk.shared::cta", "0:write.shared.weak..0"},
		{"cp.async.ca.shared.global", "0:write.shared.weak..0A 1:read.global.weak..0A"},
		{"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes",
			"0:write.shared.weak..0CAP 1:read.global.weak..0AP"},
		{"cp.async.bulk.global.shared::cta.bulk_group", "0:write.global.weak..0AP 1:read.shared.weak..0AP"},
		{"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32",
			"0:reduction.global.relaxed.gpu.0AP 1:read.shared.weak..0AP"},
		{"mbarrier.arrive.shared.b64", "0:atomic.shared.relaxed.cluster.8"},
		{"mbarrier.pending_count.b64", ""},
		{"st.async.shared::cluster.mbarrier::complete_tx::bytes.u32",
			"0:write.shared.weak..4CA 2:atomic.shared.relaxed.cluster.8"},
		{"fence.acq_rel.gpu", ""},
		{"bar.sync", ""},
		{"tcgen05.ld.sync.aligned.16x64b.x1.b32", "?"},
		{"ldmatrix.sync.aligned.m8n8.x1.shared.b16", "?"},
		{"tex.2d.v4.f32.f32", "?"},
	} {
		d := decodeText(t, c.text)
		list, ok := d.Accesses()
		got := "?"
		if ok {
			var parts []string
			for _, a := range list {
				parts = append(parts, accessText(a))
			}
			got = strings.Join(parts, " ")
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.text, got, c.want)
		}
	}
}

func accessText(a Access) string {
	s := string(rune('0'+a.Operand)) + ":" + a.Kind.String() + "." + a.Space.String() + "." + a.Order.String() + "." +
		a.Scope.String() + "." + itoa(a.Size)
	if a.Cluster {
		s += "C"
	}
	if a.Async {
		s += "A"
	}
	switch a.Proxy {
	case event.TextureProxy:
		s += "T"
	case event.AsyncProxy:
		s += "P"
	}
	return s
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + itoa(n%10)
}

// Fences order what PTX ISA 9.7.13.4 says, and a part of that is never all of it.
func TestFences(t *testing.T) {
	for _, c := range []struct {
		text string
		want FenceUse
	}{
		{"fence.acq_rel.gpu", FenceUse{Order: event.AcqRel, Scope: event.GPU, Release: true, Acquire: true, Address: -1}},
		{"fence.cta", FenceUse{Order: event.AcqRel, Scope: event.CTA, Release: true, Acquire: true, Address: -1}},
		{"fence.sc.sys", FenceUse{Order: event.SeqCst, Scope: event.Sys, Release: true, Acquire: true, Address: -1}},
		{"fence.acquire.cluster", FenceUse{Order: event.Acquire, Scope: event.Cluster, Acquire: true, Address: -1}},
		{"membar.gl", FenceUse{Order: event.SeqCst, Scope: event.GPU, Release: true, Acquire: true, Address: -1}},
		{"fence.mbarrier_init.release.cluster",
			FenceUse{Kind: InitFence, Order: event.Release, Scope: event.Cluster, Release: true, Address: -1}},
		{"fence.acquire.sync_restrict::shared::cluster.cluster",
			FenceUse{Kind: SharedFence, Order: event.Acquire, Scope: event.Cluster, Acquire: true, Space: event.Shared, Address: -1}},
		{"fence.proxy.alias", FenceUse{Kind: ProxyFence, Proxy: AliasProxy, Release: true, Acquire: true, Address: -1}},
		{"fence.proxy.async", FenceUse{Kind: ProxyFence, Proxy: AsyncProxy, Release: true, Acquire: true, Address: -1}},
		{"fence.proxy.async.shared::cta",
			FenceUse{Kind: ProxyFence, Proxy: AsyncProxy, Space: event.Shared, Own: true, Release: true, Acquire: true, Address: -1}},
		{"fence.proxy.async.shared::cluster",
			FenceUse{Kind: ProxyFence, Proxy: AsyncProxy, Space: event.Shared, Release: true, Acquire: true, Address: -1}},
		{"fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster",
			FenceUse{Kind: ProxyFence, Proxy: AsyncProxy, Order: event.Acquire, Scope: event.Cluster, Space: event.Shared, Acquire: true, Address: -1}},
		{"fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster",
			FenceUse{Kind: ProxyFence, Proxy: AsyncProxy, Order: event.Release, Scope: event.Cluster, Space: event.Shared, Own: true, Release: true, Address: -1}},
		{"fence.proxy.tensormap::generic.release.gpu",
			FenceUse{Kind: ProxyFence, Proxy: TensorMapProxy, Order: event.Release, Scope: event.GPU, Release: true, Address: -1}},
		{"fence.proxy.tensormap::generic.acquire.gpu",
			FenceUse{Kind: ProxyFence, Proxy: TensorMapProxy, Order: event.Acquire, Scope: event.GPU, Acquire: true, Address: 0}},
	} {
		d := decodeText(t, c.text)
		if got, ok := d.Fence(); !ok || got != c.want {
			t.Errorf("%s: got %+v, %v, want %+v", c.text, got, ok, c.want)
		}
	}
	for _, text := range []string{"bar.sync", "wgmma.fence.sync.aligned", "tcgen05.fence::before_thread_sync", "ld.acquire.gpu.u32"} {
		d := decodeText(t, text)
		if _, ok := d.Fence(); ok {
			t.Errorf("%s is a fence", text)
		}
	}
}

// What bulk copies do, from the directions of PTX ISA 9.7.9.25.4.1, 9.7.9.25.4.2, 9.7.9.12 and
// 9.7.13.7. Those that leave bytes out, or have no mbarrier although they are a store of one value,
// are not of this kind.
func TestBulk(t *testing.T) {
	toShared := BulkUse{To: event.Shared, From: event.Global, Size: 2, Offsets: -1, Barrier: 3, Mask: -1, Value: -1}
	toGlobal := BulkUse{To: event.Global, From: event.Shared, Size: 2, Offsets: -1, Barrier: -1, Mask: -1,
		Value: -1}
	with := func(u BulkUse, change func(*BulkUse)) BulkUse {
		change(&u)
		return u
	}
	remote := with(toShared, func(u *BulkUse) { u.Remote = true })
	value := BulkUse{To: event.Shared, Size: -1, Offsets: -1, Barrier: 2, Mask: -1, Value: 1, Remote: true}
	for _, c := range []struct {
		text string
		ok   bool
		want BulkUse
	}{
		{"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes", true, remote},
		{"cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.L2::cache_hint", true, toShared},
		{"cp.async.bulk.global.shared::cta.bulk_group", true, toGlobal},
		{"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32", true,
			with(toGlobal, func(u *BulkUse) { u.Reduce = FnAdd })},
		{"cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes", true,
			with(remote, func(u *BulkUse) { u.From = event.Shared })},
		{"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster", true,
			with(remote, func(u *BulkUse) { u.Mask = 4 })},
		{"cp.async.bulk.global.shared::cta.bulk_group.cp_mask", false, BulkUse{}},
		{"cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes", true,
			with(remote, func(u *BulkUse) { u.Size, u.Boxes, u.Barrier = -1, 1, 2 })},
		{"cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group", true,
			with(toGlobal, func(u *BulkUse) { u.Size, u.Boxes = -1, 1 })},
		{"cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster",
			true, with(remote, func(u *BulkUse) { u.Size, u.Boxes, u.Barrier, u.Mask = -1, 1, 2, 3 })},
		{"cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4.mbarrier::complete_tx::bytes",
			true, with(remote, func(u *BulkUse) { u.Size, u.Boxes, u.Mode, u.Barrier = -1, 4, RowsMode, 2 })},
		{"cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group", true,
			with(toGlobal, func(u *BulkUse) { u.Size, u.Boxes, u.Mode = -1, 4, RowsMode })},
		// the offsets of im2col are behind the mbarrier, and a mask behind them
		{"cp.async.bulk.tensor.3d.im2col.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint",
			true, with(remote, func(u *BulkUse) { u.Size, u.Boxes, u.Mode, u.Barrier, u.Offsets = -1, 1, ColumnMode, 2, 3 })},
		{"cp.async.bulk.tensor.4d.shared::cluster.global.im2col::w.mbarrier::complete_tx::bytes.multicast::cluster",
			true, with(remote, func(u *BulkUse) {
				u.Size, u.Boxes, u.Mode, u.Barrier, u.Offsets, u.Mask = -1, 1, WideColumnMode, 2, 3, 4
			})},
		{"cp.async.bulk.tensor.3d.global.shared::cta.im2col_no_offs.bulk_group", true,
			with(toGlobal, func(u *BulkUse) { u.Size, u.Boxes, u.Mode = -1, 1, ColumnMode })},
		{"cp.reduce.async.bulk.tensor.3d.global.shared::cta.add.im2col_no_offs.bulk_group", true,
			with(toGlobal, func(u *BulkUse) { u.Size, u.Boxes, u.Mode, u.Reduce = -1, 1, ColumnMode, FnAdd })},
		{"st.async.shared::cluster.mbarrier::complete_tx::bytes.u32", true, value},
		{"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32", true,
			with(value, func(u *BulkUse) { u.Reduce = FnAdd })},
		{"st.async.release.gpu.global.u32", false, BulkUse{}},
		{"cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.tile.bulk_group", true,
			with(toGlobal, func(u *BulkUse) { u.Size, u.Boxes, u.Reduce = -1, 1, FnAdd })},
		{"cp.reduce.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group", false, BulkUse{}},
		{"cp.async.ca.shared.global", false, BulkUse{}},
	} {
		d := decodeText(t, c.text)
		if got, ok := d.Bulk(); ok != c.ok || ok && got != c.want {
			t.Errorf("%s: %+v %v, want %+v %v", c.text, got, ok, c.want, c.ok)
		}
	}
}

// What prefetches of tensors read (PTX ISA 9.7.9.27.1.4).
func TestPrefetchedTensor(t *testing.T) {
	for _, c := range []struct {
		text    string
		mode    TensorMode
		offsets int
		ok      bool
	}{
		{"cp.async.bulk.prefetch.tensor.1d.L2.global.tile", TileMode, -1, true},
		{"cp.async.bulk.prefetch.tensor.2d.L2.global", TileMode, -1, true},
		{"cp.async.bulk.prefetch.tensor.2d.L2.global.tile::gather4", RowsMode, -1, true},
		{"cp.async.bulk.prefetch.tensor.3d.L2.global.im2col.L2::cache_hint", ColumnMode, 1, true},
		{"cp.async.bulk.prefetch.tensor.4d.L2.global.im2col::w::128", WideColumn128Mode, 1, true},
		{"cp.async.bulk.prefetch.L2.global", 0, -1, false},
	} {
		d := decodeText(t, c.text)
		if mode, offsets, ok := d.PrefetchedTensor(); mode != c.mode || offsets != c.offsets || ok != c.ok {
			t.Errorf("%s: %v %v %v", c.text, mode, offsets, ok)
		}
	}
}

// What is done to tensor maps (PTX ISA 9.7.9.28, 9.7.13.16): the value follows the dimension of a
// field that each dimension has; addresses and strides have 64 bits, others 32.
func TestTensorMap(t *testing.T) {
	field := func(name string, space event.Space, ordinal, value int) TensorMapUse {
		return TensorMapUse{Field: name, Space: space, Ordinal: ordinal, Value: value}
	}
	constant := field("swizzle_mode", event.Global, -1, 1)
	constant.Constant = true
	for _, c := range []struct {
		text string
		ok   bool
		want TensorMapUse
	}{
		{"tensormap.replace.tile.global_address.global.b1024.b64", true, field("global_address", event.Global, -1, 1)},
		{"tensormap.replace.tile.rank.shared::cta.b1024.b32", true, field("rank", event.Shared, -1, 1)},
		{"tensormap.replace.tile.box_dim.b1024.b32", true, field("box_dim", event.Generic, 1, 2)},
		{"tensormap.replace.tile.global_stride.shared::cta.b1024.b64", true, field("global_stride", event.Shared, 1, 2)},
		{"tensormap.replace.tile.swizzle_mode.global.b1024.b32", true, constant},
		{"tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned", true,
			TensorMapUse{Copies: true, Scope: event.GPU, Ordinal: -1, Value: -1}},
		{"tensormap.replace.tile.global_address.global.b1024.b32", false, TensorMapUse{}},
		{"tensormap.replace.tile.rank.global.b1024.b64", false, TensorMapUse{}},
		{"tensormap.replace.im2col.rank.global.b1024.b32", false, TensorMapUse{}},
		{"tensormap.replace.tile.rank.shared::cluster.b1024.b32", false, TensorMapUse{}},
		{"tensormap.replace.tile.size.global.b1024.b32", false, TensorMapUse{}},
		{"tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.acquire.gpu.sync.aligned", false, TensorMapUse{}},
		{"cp.async.bulk.prefetch.L2.global", false, TensorMapUse{}},
	} {
		d := decodeText(t, c.text)
		if got, ok := d.TensorMap(); ok != c.ok || ok && got != c.want {
			t.Errorf("%s: %+v %v, want %+v %v", c.text, got, ok, c.want, c.ok)
		}
	}
}

// What tracks asynchronous operations (PTX ISA 9.7.9.25.2, 9.7.15.7, 9.7.16.6).
func TestAsync(t *testing.T) {
	for _, c := range []struct {
		text    string
		sources int
		step    AsyncStep
		track   Tracking
		pending int
		barrier int
	}{
		{"cp.async.ca.shared.global", 3, AsyncStart, CopyGroups, -1, -1},
		{"cp.async.commit_group", 0, AsyncCommit, CopyGroups, -1, -1},
		{"cp.async.wait_group", 1, AsyncWait, CopyGroups, 0, -1},
		{"cp.async.wait_all", 0, AsyncWaitAll, CopyGroups, -1, -1},
		{"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes", 4, AsyncStart, BarrierBytes, -1, 3},
		{"cp.async.bulk.global.shared::cta.bulk_group", 3, AsyncStart, BulkGroups, -1, -1},
		{"cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes", 3, AsyncStart, BarrierBytes, -1, 2},
		{"cp.async.bulk.commit_group", 0, AsyncCommit, BulkGroups, -1, -1},
		{"cp.async.bulk.wait_group.read", 1, AsyncWait, BulkGroups, 0, -1},
		{"st.async.shared::cluster.mbarrier::complete_tx::bytes.u32", 3, AsyncStart, BarrierBytes, -1, 2},
		{"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16", 3, AsyncStart, MatrixGroups, -1, -1},
		{"wgmma.commit_group.sync.aligned", 0, AsyncCommit, MatrixGroups, -1, -1},
		{"wgmma.wait_group.sync.aligned", 1, AsyncWait, MatrixGroups, 0, -1},
		{"tcgen05.mma.cta_group::1.kind::f16", 4, AsyncStart, BarrierArrival, -1, -1},
		{"tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64", 1, AsyncCommit, BarrierArrival, -1, 0},
		{"tcgen05.ld.sync.aligned.16x64b.x1.b32", 1, AsyncStart, TensorAccesses, -1, -1},
		{"tcgen05.wait::ld.sync.aligned", 0, AsyncWaitAll, TensorAccesses, -1, -1},
	} {
		d := decodeText(t, c.text)
		u, ok := d.Async(c.sources)
		if !ok || u.Step != c.step || u.Track != c.track || u.Pending != c.pending || u.Barrier != c.barrier {
			t.Errorf("%s: got %+v, %v", c.text, u, ok)
		}
	}
	for _, text := range []string{"ld.global.u32", "bar.sync", "mbarrier.arrive.shared.b64", "cp.async.bulk.prefetch.L2.global"} {
		d := decodeText(t, text)
		if u, ok := d.Async(3); ok {
			t.Errorf("%s: got %+v", text, u)
		}
	}
}

// Which operations of a warp wait for the lanes of a mask, and that only the barrier orders memory
// (PTX ISA 9.7.13.2, 9.7.13.8 to 9.7.13.14).
func TestWarpUse(t *testing.T) {
	for _, c := range []struct {
		text    string
		sources int
		want    WarpUse
		ok      bool
	}{
		{"shfl.sync.idx.b32", 4, WarpUse{Mask: 3, Waits: true}, true},
		{"shfl.idx.b32", 3, WarpUse{Mask: -1}, true},
		{"vote.sync.ballot.b32", 2, WarpUse{Mask: 1, Waits: true}, true},
		{"bar.warp.sync", 1, WarpUse{Mask: 0, Waits: true, OrdersMemory: true}, true},
		{"activemask.b32", 0, WarpUse{Mask: -1}, true},
		{"elect.sync", 1, WarpUse{Mask: 0, Waits: true}, true},
		{"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 3, WarpUse{Mask: -1, All: true, Waits: true}, true},
		{"setmaxnreg.inc.sync.aligned.u32", 1, WarpUse{Mask: -1, All: true, Waits: true}, true},
		{"bar.sync", 1, WarpUse{Mask: -1}, false},
	} {
		d := decodeText(t, c.text)
		if got, ok := d.Warp(c.sources); got != c.want || ok != c.ok {
			t.Errorf("%s: got %+v, %v", c.text, got, ok)
		}
	}
}

// Orders and scopes of barriers where nothing is written (PTX ISA 9.7.13.3, 9.7.13.15.13 and .16).
func TestBarrierOrders(t *testing.T) {
	for _, c := range []struct {
		text  string
		order event.Order
		scope event.Scope
	}{
		{"bar.sync", event.AcqRel, event.CTA},
		{"bar.arrive", event.Release, event.CTA},
		{"barrier.cluster.arrive", event.Release, event.Cluster},
		{"barrier.cluster.arrive.relaxed", event.Relaxed, event.Cluster},
		{"barrier.cluster.wait", event.Acquire, event.Cluster},
		{"mbarrier.arrive.shared.b64", event.Release, event.CTA},
		{"mbarrier.arrive.relaxed.cluster.shared.b64", event.Relaxed, event.Cluster},
		{"mbarrier.arrive.release.cluster.shared::cluster.b64", event.Release, event.Cluster},
		{"mbarrier.try_wait.shared.b64", event.Acquire, event.CTA},
		{"mbarrier.expect_tx.relaxed.cta.shared.b64", event.Relaxed, event.CTA},
	} {
		d := decodeText(t, c.text)
		if u, ok := d.Barrier(2); !ok || u.Order != c.order || u.Scope != c.scope {
			t.Errorf("%s: got %v %v", c.text, u.Order, u.Scope)
		}
	}
}

package emu

import (
	"strings"
	"testing"

	"heddle/internal/event"
	"heddle/internal/launch"
)

// persistent is a kernel whose clusters work on their own tile and those of clusters that they
// cancel: query reads the coordinates of the first block from %ans into %b, %v and %w. Each tile of
// out is added to once for each time that it is worked on; the second half of out counts tiles that
// came from answers.
func persistent(t *testing.T, query string) (text string) {
	t.Helper()
	return `.shared .align 16 .b8 answer[16];
	.shared .align 8 .b64 bar;
	.reg .b128 %ans;
	.reg .b32 %rank, %first, %gx, %gy, %tiles;
	mov.u32 %v, %ctaid.y;
	mov.u32 %w, %ctaid.z;
	mov.u32 %gx, %nctaid.x;
	mov.u32 %gy, %nctaid.y;
	mov.u32 %rank, %cluster_ctarank;
	mul.lo.u32 %tiles, %gx, %gy;
	mov.u32 %z, %nctaid.z;
	mul.lo.u32 %tiles, %tiles, %z;
	mov.u32 %first, 0;
	setp.eq.u32 %c, %t, 0;
	@%c mbarrier.init.shared.b64 [bar], 1;
	@%c fence.mbarrier_init.release.cluster;
	barrier.cluster.arrive;
	barrier.cluster.wait;
	mov.u32 %n, 0;
LOOP:
	@%c mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16;
	setp.eq.and.u32 %e, %rank, 0, %c;
	fence.proxy.async.shared::cta;
	barrier.cluster.arrive;
	barrier.cluster.wait;
	@%e clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.multicast::cluster::all.b128 [answer], [bar];
	mad.lo.u32 %i, %w, %gy, %v;
	mad.lo.u32 %i, %i, %gx, %b;
	mad.wide.u32 %p, %i, 4, %o;
	@%c red.global.add.u32 [%p], 1;
	mad.lo.u32 %u, %first, %tiles, %i;
	mad.wide.u32 %p, %u, 4, %o;
	setp.ne.and.u32 %e, %first, 0, %c;
	@%e red.global.add.u32 [%p], 1;
WAIT:
	mbarrier.try_wait.parity.shared.b64 %d, [bar], %n;
	@!%d bra WAIT;
	xor.b32 %n, %n, 1;
	ld.shared.b128 %ans, [answer];
	clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %d, %ans;
	@!%d ret;
	` + query + `
	add.u32 %b, %b, %rank;
	mov.u32 %first, 1;
	bar.sync 0;
	bra LOOP;`
}

const (
	oneByOne = `clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %b, %ans;
	clusterlaunchcontrol.query_cancel.get_first_ctaid::y.b32.b128 %v, %ans;
	clusterlaunchcontrol.query_cancel.get_first_ctaid::z.b32.b128 %w, %ans;`
	atOnce = `clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%b, %v, %w, _}, %ans;`
)

// Every tile of a grid is worked on exactly once, by the cluster itself or by one that has canceled
// it ("no other successful response ... will contain that id", PTX ISA 9.7.13.17), in each schedule;
// of some schedules both happen, unless the grid is one cluster.
func TestCanceledClusters(t *testing.T) {
	for _, c := range []struct {
		grid, cluster event.Dim3
		query         string
	}{
		{dim(1), dim(1), atOnce}, {dim(2), dim(1), oneByOne}, {dim(40), dim(1), atOnce},
		{event.Dim3{X: 3, Y: 2, Z: 4}, dim(1), oneByOne}, {event.Dim3{X: 3, Y: 2, Z: 4}, dim(1), atOnce},
		{dim(2), dim(2), atOnce}, {event.Dim3{X: 4, Y: 3, Z: 1}, dim(2), oneByOne}, {dim(32), dim(4), atOnce},
	} {
		k := kernel(t, persistent(t, c.query))
		tiles := int(c.grid.Count())
		cfg := config(1, 64, buffer("out", uint64(8*tiles)))
		cfg.Geometry.Grid, cfg.Geometry.Cluster = c.grid, c.cluster
		answered := map[bool]bool{}
		for seed := range uint64(40) {
			res, _ := completed(t, k, cfg, Options{Seed: seed})
			for i, n := range words(t, res, "out", 2*tiles) {
				if i < tiles && n != 1 {
					t.Fatalf("grid %v, cluster %v, seed %d: tile %d was worked on %d times", c.grid, c.cluster,
						seed, i, n)
				}
				if i >= tiles {
					answered[n == 1] = true
				}
			}
		}
		if one := c.grid == c.cluster; answered[true] == one || !answered[false] {
			t.Errorf("grid %v, cluster %v: tiles from answers: %v", c.grid, c.cluster, answered)
		}
	}
}

// The operands of a request are checked as those of a store of 16 bytes.
func TestCancelRefused(t *testing.T) {
	const request = "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 "
	for _, c := range []struct{ text, want string }{
		{request + "[tile+8], [bar];", "not a multiple of 16"},
		{request + "[tile+2048], [bar];", "outside of the"},
		{request + "[tile], [tile+64];", "has not been initialized"},
	} {
		k := kernel(t, bulkPrelude+"@%c "+c.text+"\nret;")
		_, res, _ := start(t, k, bulkConfig(launch.FillZero), Options{})
		if res.Stop == nil || !strings.Contains(res.Stop.Message, c.want) {
			t.Errorf("%s: %+v, want %q", c.text, res.Stop, c.want)
		}
	}
}

// A cluster whose threads wait for each other is deadlocked, whatever the other clusters do at that
// time: here warp 1 of each block of the first cluster waits at a barrier of its block for warp 0,
// which waits at the barrier of the cluster, while the second cluster computes.
func TestDeadlockedClusterAmongOthers(t *testing.T) {
	k := kernel(t, `setp.ge.u32 %c, %b, 2;
	@%c bra LONG;
	setp.lt.u32 %c, %t, 32;
	@%c bra ARRIVE;
	bar.sync 0;
ARRIVE:
	barrier.cluster.arrive;
	barrier.cluster.wait;
	ret;
LONG:
	mov.u32 %n, 0;
AGAIN:
	add.u32 %n, %n, 1;
	setp.lt.u32 %c, %n, 20000;
	@%c bra AGAIN;
	st.global.u32 [%p], %n;
	ret;`)
	cfg := config(4, 64, buffer("out", 1024))
	cfg.Geometry.Cluster = dim(2)
	for seed := range uint64(6) {
		_, res, _ := start(t, k, cfg, Options{Seed: seed})
		want := "the barrier of the cluster, at which 64 threads have not arrived"
		if res.Stop == nil || !strings.Contains(res.Stop.Message, want) {
			t.Errorf("seed %d: %+v, want %q", seed, res.Stop, want)
		}
	}
}

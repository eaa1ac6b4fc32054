package emu

import (
	"fmt"
	"strings"
	"testing"

	"heddle/internal/event"
	"heddle/internal/launch"
	"heddle/internal/testing/long"
)

// bulkPrelude makes an mbarrier with a count in shared memory, and puts 128 bytes behind it: %w is
// their address. Thread 0 is the one of which %c is true.
const bulkPrelude = `.shared .align 8 .b64 bar;
	.shared .align 16 .b8 tile[512];
	.reg .b64 %st;
	mov.u32 %w, tile;
	mad.lo.u32 %u, %t, 4, %w;
	setp.eq.u32 %c, %t, 0;
	@%c mbarrier.init.shared.b64 [bar], 1;
	bar.sync 0;
`

func bulkConfig(fill launch.Fill) *launch.Config {
	return config(1, 32, buffer("out", 4096),
		launch.Arg{Name: "x", Buffer: &launch.Buffer{Name: "x", Size: 512, Fill: fill}})
}

// A bulk copy moves the bytes, whatever its time: each seed leaves the same (PTX ISA 9.7.9.25.4.1).
func TestBulkBytes(t *testing.T) {
	k := kernel(t, bulkPrelude+`
	@%c mbarrier.arrive.expect_tx.shared.b64 _, [bar], 128;
	@%c cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [tile], [%x+64], 64, [bar];
	@%c cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [tile+64], [%x+128], 64, [bar];
W:	mbarrier.try_wait.parity.shared.b64 %d, [bar], 0;
	@!%d bra W;
	ld.shared.u32 %v, [%u];
	add.u32 %v, %v, 1000;
	st.shared.u32 [%u+128], %v;
	fence.proxy.async.shared::cta;
	bar.sync 0;
	@!%c bra END;
	cp.async.bulk.global.shared::cta.bulk_group [%o+256], [tile+128], 128;
	cp.async.bulk.commit_group;
	cp.async.bulk.wait_group 0;
END:	ret;`)
	orders := make(map[string]bool)
	for seed := range uint64(40) {
		res, r := completed(t, k, bulkConfig(launch.FillIota), Options{Seed: seed})
		out := words(t, res, "out", 96)
		for i := range 32 {
			if out[64+i] != uint32(1016+i) {
				t.Fatalf("seed %d: word %d is %d", seed, i, out[64+i])
			}
		}
		order := ""
		for _, e := range r.events {
			if s, ok := e.(event.Signal); ok {
				order += fmt.Sprint(s.ID, " ")
			}
		}
		orders[order] = true
	}
	if len(orders) != 2 {
		t.Errorf("the copies signal in the orders %v", orders)
	}
}

// What a wait does not cover may happen later: with some seed the source is read, or the
// destination written, behind a store that follows the wait (PTX ISA 9.7.9.27.2.2).
func TestBulkTimes(t *testing.T) {
	for _, c := range []struct {
		wait, after string
		values      []uint32 // of the word that the copy writes
	}{
		{"cp.async.bulk.wait_group 0;", "st.shared.u32 [tile], 7;", []uint32{5}},
		{"cp.async.bulk.wait_group.read 0;", "st.shared.u32 [tile], 7;", []uint32{5}},
		{"cp.async.bulk.wait_group.read 1;", "st.shared.u32 [tile], 7;", []uint32{5, 7}},
		{"cp.async.bulk.wait_group 0;", "st.global.u32 [%o], 9;", []uint32{9}},
		{"cp.async.bulk.wait_group.read 0;", "st.global.u32 [%o], 9;", []uint32{5, 9}},
	} {
		k := kernel(t, bulkPrelude+`
	@!%c bra END;
	st.shared.u32 [tile], 5;
	cp.async.bulk.global.shared::cta.bulk_group [%o], [tile], 16;
	cp.async.bulk.commit_group;
	`+c.wait+c.after+`
	mov.u32 %v, 0;
L:	add.u32 %v, %v, 1;
	setp.lt.u32 %d, %v, 400;
	@%d bra L;
	cp.async.bulk.wait_group 0;
END:	ret;`)
		seen := make(map[uint32]bool)
		for seed := range uint64(60) {
			res, _ := completed(t, k, bulkConfig(launch.FillIota), Options{Seed: seed})
			seen[words(t, res, "out", 1)[0]] = true
		}
		for _, v := range c.values {
			if !seen[v] {
				t.Errorf("%s %s: no seed leaves %d: %v", c.wait, c.after, v, seen)
			}
			delete(seen, v)
		}
		if len(seen) > 0 {
			t.Errorf("%s %s: some seed leaves %v", c.wait, c.after, seen)
		}
	}
}

// The operations of reductions (PTX ISA 9.7.9.25.4.2), on old values of 12 and operands of 10.
func TestBulkReductions(t *testing.T) {
	for op, want := range map[string]uint32{
		"add.u32": 22, "min.u32": 10, "max.s32": 12, "inc.u32": 0, "dec.u32": 10, "and.b32": 8,
		"or.b32": 14, "xor.b32": 6,
	} {
		k := kernel(t, bulkPrelude+`
	st.shared.u32 [%u], 10;
	st.global.u32 [%p], 12;
	fence.proxy.async;
	bar.sync 0;
	@!%c bra END;
	cp.reduce.async.bulk.global.shared::cta.bulk_group.`+op+` [%o], [tile], 128;
	cp.async.bulk.commit_group;
	cp.async.bulk.wait_group 0;
END:	ret;`)
		res, _ := completed(t, k, bulkConfig(launch.FillIota), Options{Seed: 2})
		for i, v := range words(t, res, "out", 32) {
			if v != want {
				t.Errorf("%s: word %d is %d, want %d", op, i, v, want)
			}
		}
	}
	for _, op := range []string{"add.b32", "and.u32", "inc.s32"} { // no such operation
		k := kernel(t, bulkPrelude+
			"@%c cp.reduce.async.bulk.global.shared::cta.bulk_group."+op+" [%o], [tile], 128;\nret;")
		if _, res, _ := start(t, k, bulkConfig(launch.FillIota), Options{}); res.Stop == nil ||
			res.Stop.Kind != Unsupported {
			t.Errorf("%s: %+v", op, res.Stop)
		}
	}
}

// A thread that ends leaves its copy behind, and the result says so.
func TestLeftovers(t *testing.T) {
	const load = `@%c mbarrier.arrive.expect_tx.shared.b64 _, [bar], 128;
	@%c cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [tile], [%x], 128, [bar];
`
	const store = `@%c cp.async.bulk.global.shared::cta.bulk_group [%o], [tile], 128;
	@%c cp.async.bulk.commit_group;
`
	const wait = "W: mbarrier.try_wait.parity.shared.b64 %d, [bar], 0;\n@!%d bra W;\n"
	for _, c := range []struct {
		text string
		want string
	}{
		{load, "[false 1]"}, {load + wait, "[]"},
		{store, "[true 1]"}, {store + "cp.async.bulk.wait_group.read 0;", "[]"},
		{store + "cp.async.bulk.wait_group 0;", "[]"}, {store + "cp.async.bulk.wait_group 1;",
			"[true 1]"},
	} {
		for seed := range uint64(9) {
			_, res, _ := start(t, kernel(t, bulkPrelude+c.text+"\nret;"), bulkConfig(launch.FillIota),
				Options{Seed: seed})
			var got []string
			for _, o := range res.Leftovers {
				got = append(got, fmt.Sprint(o.Store, " ", o.Count))
			}
			// An eager seed may complete a store before the thread ends.
			if text := fmt.Sprint(got); text != c.want && !(text == "[]" && strings.Contains(c.want,
				"true")) {
				t.Errorf("%s seed %d: %s, want %s", c.text, seed, text, c.want)
			}
		}
	}
}

// A block that starts in the memory of an earlier one has no objects.
func TestBlocksHaveTheirOwnObjects(t *testing.T) {
	k := kernel(t, bulkPrelude+`
	mbarrier.test_wait.parity.shared.b64 %d, [bar], 1;
	@!%d trap;
	@%c mbarrier.arrive.shared.b64 %st, [bar];
	ret;`)
	cfg := config(40, 32, buffer("out", 65536))
	res, _ := completed(t, k, cfg, Options{Resident: 2})
	if res.Blocks != 40 {
		t.Errorf("%d blocks", res.Blocks)
	}
}

// All threads that are left wait. It is a deadlock if all of them wait at barriers of the block,
// and not if one polls memory, which may change from outside.
func TestDeadlockOrSpinning(t *testing.T) {
	long.Sequential(t)
	const wait = "W: mbarrier.try_wait.parity.shared.b64 %d, [bar], 0;\n@!%d bra W;\n"
	const poll = "P: ld.relaxed.sys.global.u32 %v, [%o];\nsetp.eq.u32 %e, %v, 77;\n@!%e bra P;\n"
	const count = "mov.u32 %z, 0;\nW: add.u32 %z, %z, 1;\nmbarrier.try_wait.parity.shared.b64 %d, " +
		"[bar], 0;\n" +
		"@!%d bra W;\n"
	for _, c := range []struct {
		text string
		kind StopKind
	}{
		{wait, Deadlock},
		{"@%c bra L;\n" + wait + "L:", Deadlock},
		{"@%c bra L;\n" + poll + "L:\n" + wait, Spinning},
		{"@%c mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16;\n" + wait, BytesMismatch},
		{"@%c mbarrier.expect_tx.shared.b64 [bar], 16;\n" + wait, Deadlock},
		{count, Spinning}, // it repeats no state: perhaps it gives up
	} {
		for seed := range uint64(3) {
			if c.text == count && seed > 0 {
				break // it takes seconds
			}
			_, res, _ := start(t, kernel(t, bulkPrelude+c.text+"ret;"), bulkConfig(launch.FillIota),
				Options{Seed: seed, MaxSteps: 1 << 25})
			if res.Stop == nil || res.Stop.Kind != c.kind || (len(res.Waits) > 0) != (c.kind != Spinning) {
				t.Errorf("%s seed %d: %+v %+v", c.text, seed, res.Stop, res.Waits)
			}
		}
	}
}

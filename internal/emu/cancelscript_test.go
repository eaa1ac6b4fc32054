package emu

import (
	"context"
	"strings"
	"testing"

	"heddle/internal/event"
	"heddle/internal/launch"
	"heddle/internal/slice"
)

// scripted is a kernel of one warp whose first lane asks once, and of which READ has to set %p to
// what the answer says. It waits forever if that is true, so that a trace shows it.
const scripted = `.version 8.8
.target sm_100a
.address_size 64
.shared .align 8 .b64 bar;
.shared .align 8 .b64 never;
.shared .align 16 .b8 answer[32];
.global .align 16 .b8 in[16];
.visible .entry k()
{
	.reg .pred %p, %q, %w; .reg .b32 %t, %x<4>; .reg .b64 %d<6>; .reg .b128 %a, %b;
	mov.u32 %t, %tid.x;
	setp.ne.u32 %q, %t, 0;
	mov.b64 %d5, in;
	@%q bra END;
	mbarrier.init.shared.b64 [bar], 1;
	mbarrier.init.shared.b64 [never], 1;
	mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16;
	clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128
		[answer], [bar];
W:
	mbarrier.try_wait.parity.shared.b64 %w, [bar], 0;
	@!%w bra W;
	READ
	@!%p bra END;
V:
	mbarrier.try_wait.parity.shared.b64 %w, [never], 0;
	@!%w bra V;
END:
	ret;
}
`

// TestScriptedAnswers: a trace knows whether a request has succeeded where query_cancel reads it
// from the answer as a whole, also if that was copied from register to register, and nothing of
// what else is read or computed from it (PTX ISA 9.7.13.17, 9.7.13.18: the answer is opaque).
func TestScriptedAnswers(t *testing.T) {
	const query = "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p, %a;"
	const load = "ld.shared.v2.b64 {%d0, %d1}, [answer]; "
	const pack = "mov.b128 %a, {%d0, %d1}; " + query
	for _, c := range []struct {
		read  string
		known bool
	}{
		{"ld.shared.b128 %a, [answer]; " + query, true},
		{"ld.shared.b128 %b, [answer]; mov.b128 %a, %b; " + query, true},
		{"ld.shared.b128 %b, [answer]; mov.b128 {%d0, %d1}, %b; " + pack, true},
		{load + pack, true},
		{load + "mov.b64 %d2, %d0; mov.b64 %d0, %d2; " + pack, true},
		{"ld.shared.b64 %d1, [answer+8]; ld.shared.b64 %d0, [answer]; " + pack, true},
		{"ld.shared.b64 %d1, [answer]; ld.shared.b64 %d0, [answer+8]; " + pack, false},
		{"ld.shared.b64 %d0, [answer]; mov.b64 %d1, %d0; " + pack, false},
		{load + "add.u64 %d0, %d0, 0; " + pack, false},
		{load + "and.b64 %d1, %d1, -1; " + pack, false},
		{load + "xor.b64 %d1, %d1, 1; " + pack, false},
		{load + "ld.global.b64 %d2, [%d5]; setp.eq.u64 %q, %d2, 0; selp.b64 %d1, %d1, %d2, %q; " + pack,
			false},
		{load + "mov.b64 {%x0, %x1}, %d0; mov.b64 %d0, {%x0, %x1}; " + pack, false},
		{load + "setp.eq.u64 %p, %d0, -1;", false},
		{"ld.shared.u32 %x0, [answer+12]; setp.eq.u32 %p, %x0, 1;", false},
		// what lies there since
		{"st.shared.u32 [answer+4], %t; ld.shared.b128 %a, [answer]; " + query, false},
		{load + "st.shared.b64 [answer], %d0; ld.shared.b128 %a, [answer]; " + query, false},
		{load + "st.shared.v2.b64 [answer+16], {%d0, %d1}; ld.shared.b128 %a, [answer+16]; " + query,
			false},
		{"st.shared.u32 [answer+16], %t; ld.shared.b128 %a, [answer]; " + query, true},
		{"red.shared.add.u32 [answer+12], 1; ld.shared.b128 %a, [answer]; " + query, false},
		{"cp.async.ca.shared.global [answer], [%d5], 16; cp.async.wait_all; " +
			"ld.shared.b128 %a, [answer]; " + query, false},
		{load + "st.shared.u32 [answer+4], %t; " + pack, true}, // read before
		{"clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %x0, %a; setp.eq.u32 %p, %x0, 0;",
			false},
	} {
		k := moduleText(t, strings.Replace(scripted, "READ", c.read, 1))
		cfg := &launch.Config{Geometry: event.Geometry{Grid: event.Dim3{X: 4, Y: 1, Z: 1},
			Block: event.Dim3{X: 32, Y: 1, Z: 1}}}
		m, err := NewTrace(k, cfg, slice.Of(k, slice.Options{Grid: true}))
		if err != nil {
			t.Fatal(err)
		}
		for requests := range uint64(2) {
			res, err := m.Run(context.Background(), Options{Requests: requests, Blocks: []uint32{0}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			waits := res.Stop != nil && res.Stop.Kind == Deadlock
			unknown := res.Stop != nil && res.Stop.Kind == DependsOnInput
			switch {
			case res.Requests != 1:
				t.Errorf("%s: %d requests", c.read, res.Requests)
			case c.known && (waits != (requests == 1) || unknown):
				t.Errorf("%s: with %d requests that succeed, %v %v", c.read, requests, res.Status, res.Stop)
			case !c.known && !unknown:
				t.Errorf("%s: the answer decides: %v %v", c.read, res.Status, res.Stop)
			}
		}
	}
}

package lockstep_test

import (
	"testing"

	"heddle/internal/event"
	"heddle/internal/lockstep"
	"heddle/internal/testing/kernels"
)

// bytesByX1 stores to the byte of A that %x1 says: a race unless it differs between threads.
const bytesByX1 = "cvt.u64.u32 %d1, %x1;\nadd.u64 %d1, %A, %d1;\nst.global.u8 [%d1], %t;\n"

// ticketTraps are about the results of atomics, which differ between threads if all atomics on the
// location count in one direction (PTX ISA 9.7.13.5).
var ticketTraps = []trap{
	{name: "a ticket", body: "atom.global.add.u32 %x1, [%B], 1;\n" + byX1},
	{name: "a ticket, counted down", body: "atom.global.add.u32 %x1, [%B], -1;\n" + byX1},
	{name: "inc wraps as an addition", body: "atom.global.inc.u32 %x1, [%B], -1;\n" + byX1},
	{name: "dec wraps as a subtraction", body: "atom.global.dec.u32 %x1, [%B], -1;\n" + byX1},
	{
		name: "an inc that wraps early",
		body: "atom.global.inc.u32 %x1, [%B], 3;\n" + byX1,
		why:  "every fourth thread gets the same number",
	},
	{
		name: "a dec that wraps early",
		body: "atom.global.dec.u32 %x1, [%B], 3;\n" + byX1,
		why:  "every fourth thread gets the same number",
	},
	{
		name: "inc and an addition of -1",
		body: "atom.global.inc.u32 %x1, [%B], -1;\natom.global.add.u32 %x2, [%B], -1;\n" + byX1,
		why:  "a thread may count up after another one has counted down",
	},
	{
		name: "dec and an addition of -1",
		body: "atom.global.dec.u32 %x1, [%B], -1;\natom.global.add.u32 %x2, [%B], -1;\n" + byX1,
	},
	{
		name: "inc and dec",
		body: "atom.global.inc.u32 %x1, [%B], -1;\natom.global.dec.u32 %x2, [%B], -1;\n" + byX1,
		why:  "a thread may count up after another one has counted down",
	},
	{
		name: "the greatest number",
		body: "atom.global.max.u32 %x1, [%B], -1;\n" + byX1,
		why:  "all threads but the first get -1",
	},
	{
		name: "no change",
		body: "atom.global.add.u32 %x1, [%B], 0;\n" + byX1,
		why:  "all threads get the same number",
	},
	{
		name: "a counter that wraps around",
		body: "atom.global.add.u32 %x1, [%B], 0x10000000;\n" + bytesByX1,
		why:  "128 threads add 2^28 to 32 bits: every 16th gets the same number",
	},
	{
		name: "a counter that wraps around, down",
		body: "atom.global.add.u32 %x1, [%B], -0x10000000;\n" + bytesByX1,
		why:  "every 16th thread gets the same number",
	},
	{
		name: "a counter of 64 bits that wraps around",
		body: `atom.global.add.u64 %d1, [%B], 0x1000000000000000;
	add.u64 %d1, %A, %d1;
	st.global.u8 [%d1], %t;`,
		why: "128 threads add 2^60: every 16th gets the same number",
	},
	{
		name: "a counter that wraps around in a loop",
		body: `mov.u32 %x2, 0;
L:	atom.global.add.u32 %x1, [%B], 0x10000000;
` + bytesByX1 + `
	add.u32 %x2, %x2, 1;
	setp.lt.u32 %p1, %x2, %n;
	@%p1 bra L;`,
		why: "the first iterations suffice",
	},
	{
		name: "a counter that wraps around after 20 iterations",
		body: `mov.u32 %x2, 0;
L:	atom.global.add.u32 %x1, [%B], 0x200000;
` + bytesByX1 + `
	add.u32 %x2, %x2, 1;
	setp.lt.u32 %p1, %x2, 20;
	@%p1 bra L;`,
		why: "128 threads add 20 * 2^21",
	},
	{
		name: "a counter that does not wrap around in 16 iterations",
		body: `mov.u32 %x2, 0;
L:	atom.global.add.u32 %x1, [%B], 0x1fffff;
` + bytesByX1 + `
	add.u32 %x2, %x2, 1;
	setp.lt.u32 %p1, %x2, 16;
	@%p1 bra L;`,
	},
	{
		name: "a large step that does not wrap",
		body: "atom.global.add.u32 %x1, [%B], 0x1ffffff;\n" + bytesByX1,
	},
	{
		name: "a large step by one thread of each block",
		body: `setp.ne.u32 %p1, %t, 5;
	@%p1 bra Z;
	atom.global.add.u32 %x1, [%B], 0x10000000;
` + bytesByX1 + "Z:",
	},
}

// TestWideExchange: an exchange of 128 bits beside an addition to half of them is described like
// any other pair of atomics.
func TestWideExchange(t *testing.T) {
	f := kernels.PTX(t, `.version 8.7
.target sm_100
.address_size 64
.visible .entry k(.param .u64 .ptr .global .align 16 a)
{
	.reg .b64 %a, %x;
	.reg .b128 %q;
	.reg .pred %p;
	ld.param.u64 %a, [a];
	mov.b128 %q, {%a, %a};
	setp.eq.u64 %p, %a, 0;
	@%p atom.global.exch.b128 %q, [%a], %q;
	@!%p atom.global.add.u64 %x, [%a+8], 1;
	ret;
}
`).Funcs[0]
	one := event.Dim3{X: 1, Y: 1, Z: 1}
	if _, err := lockstep.Build(t.Context(), f, lockstep.Options{Geometry: event.Geometry{Grid: one,
		Block: event.Dim3{X: 64, Y: 1, Z: 1}, Cluster: one}}); err != nil {
		t.Fatal(err)
	}
}

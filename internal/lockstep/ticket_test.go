package lockstep_test

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
}

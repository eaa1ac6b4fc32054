package isa

// controlRows are control flow: PTX ISA 9.7.12, with trap and brkpt of 9.7.19.
var controlRows = []Row{
	{Opcode: "bra", Action: ActBranch, Category: Control, Roles: []Role{Label}, Section: "9.7.12.3", Executable: true, forms: uniform},
	{Opcode: "brx.idx", Action: ActIndexedBranch, src: types(u32Type), Category: Control, Roles: []Role{Src, ListOpnd}, Section: "9.7.12.4", Executable: true, forms: uniform},
	{Opcode: "call", Action: ActCall, dst: all(anyType), Category: Control, Roles: []Role{Args, Callee, Args, ListOpnd}, Section: "9.7.12.5", Executable: true, forms: uniform},
	{Opcode: "ret", Action: ActReturn, Category: Control, Section: "9.7.12.6", Executable: true, forms: uniform},
	{Opcode: "exit", Action: ActExit, Category: Control, Section: "9.7.12.7", Executable: true, forms: plain},
	{Opcode: "brkpt", Action: ActNothing, Category: Control, Section: "9.7.19.1", Executable: true, forms: plain},
	{Opcode: "trap", Action: ActTrap, Category: Control, Section: "9.7.19.4", Executable: true, forms: plain},
}

// Forms without types: with no modifier at all, and with .uni, which asserts that all active lanes
// take the same direction (PTX ISA 9.7.12).
var (
	plain   = []form{{}}
	uniform = []form{{flags: Uni}}
)

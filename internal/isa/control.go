package isa

// controlRows are control flow: PTX ISA 9.7.12, with trap and brkpt of 9.7.19.
var controlRows = []Row{
	{Opcode: "bra", Category: Control, Roles: []Role{Label}, Section: "9.7.12.3", Executable: true, forms: uniform},
	{Opcode: "brx.idx", Category: Control, Roles: []Role{Src, ListOpnd}, Section: "9.7.12.4", Executable: true, forms: uniform},
	{Opcode: "call", Category: Control, Roles: []Role{Args, Callee, Args, ListOpnd}, Section: "9.7.12.5", Executable: true, forms: uniform},
	{Opcode: "ret", Category: Control, Section: "9.7.12.6", Executable: true, forms: uniform},
	{Opcode: "exit", Category: Control, Section: "9.7.12.7", Executable: true, forms: plain},
	{Opcode: "brkpt", Category: Control, Section: "9.7.19.1", Executable: true, forms: plain},
	{Opcode: "trap", Category: Control, Section: "9.7.19.4", Executable: true, forms: plain},
}

var (
	plain   = []form{{}}
	uniform = []form{{flags: Uni}}
)

package isa

import "heddle/internal/event"

// stackRows manipulate the stack in local memory: PTX ISA 9.7.17.
var stackRows = []Row{
	{Opcode: "stacksave", Action: ActStack, Category: Stack, Roles: []Role{Dst}, Section: "9.7.17.1", Executable: true, forms: stackForms},
	{Opcode: "stackrestore", Action: ActStack, Category: Stack, Roles: []Role{Src}, Section: "9.7.17.2", Executable: true, forms: stackForms},
	{Opcode: "alloca", Action: ActStack, Category: Stack, Roles: []Role{Dst, Src, SrcOpt}, Section: "9.7.17.3", Executable: true, forms: stackForms},
}

var stackForms = []form{{types: of(U32, U64)}}

// videoRows are the video instructions: PTX ISA 9.7.18.
var videoRows = func() []Row {
	var rows []Row
	add := func(section string, opcodes ...string) {
		for _, o := range opcodes {
			rows = append(rows, Row{Opcode: o, Category: Video, Roles: dst2opt, Section: section, Executable: true})
		}
	}
	add("9.7.18.1.1", "vadd", "vsub", "vabsdiff", "vmin", "vmax")
	add("9.7.18.1.2", "vshl", "vshr")
	add("9.7.18.1.3", "vmad")
	add("9.7.18.1.4", "vset")
	add("9.7.18.2.1", "vadd2", "vsub2", "vavrg2", "vabsdiff2", "vmin2", "vmax2")
	add("9.7.18.2.2", "vset2")
	add("9.7.18.2.3", "vadd4", "vsub4", "vavrg4", "vabsdiff4", "vmin4", "vmax4")
	add("9.7.18.2.4", "vset4")
	return rows
}()

// miscRows have no effect on values: hints to caches, timing, events. PTX ISA 9.7.9.15 to 9.7.9.18
// and 9.7.19.
var miscRows = []Row{
	{Opcode: "prefetch", Action: ActNothing, Category: Misc, Roles: []Role{Addr}, Section: "9.7.9.15", Executable: true, forms: []form{
		{spaces: opt | of(event.Global, event.Local), mustMarks: level},
		{spaces: of(event.Global), mustMarks: evict},
		{spaces: opt | of(event.Const, event.Param), mustMarks: markTensormap},
	}},
	{Opcode: "prefetchu", Action: ActNothing, Category: Misc, Roles: []Role{Addr}, Section: "9.7.9.15", Executable: true, forms: []form{{mustMarks: level}}},
	{Opcode: "applypriority", Action: ActNothing, Category: Misc, Roles: []Role{Addr, Src}, Section: "9.7.9.16", Executable: true, forms: []form{
		{spaces: opt | of(event.Global), mustMarks: evict},
	}},
	{Opcode: "createpolicy", Action: ActCachePolicy, dst: all(b64Type), Category: Misc, Roles: []Role{Dst, SrcOpt, SrcOpt, SrcOpt}, Section: "9.7.9.18", Executable: true},
	{Opcode: "nanosleep", Action: ActNothing, src: all(b32Type), Category: Misc, Roles: []Role{Src}, Section: "9.7.19.2", Executable: true, forms: []form{{types: of(U32)}}},
	{Opcode: "pmevent", Action: ActNothing, src: all(b32Type), Category: Misc, Roles: []Role{Src}, Section: "9.7.19.3", Executable: true, forms: []form{{marks: markMask}}},
	{Opcode: "setmaxnreg", Action: ActRegisterPool, src: all(b32Type), Category: Misc, Roles: []Role{Src}, Section: "9.7.19.5", Executable: true, forms: []form{{types: of(U32), fns: of(FnInc, FnDec), must: Aligned | SyncMask}}},
}

package isa

import "heddle/internal/event"

// addressRows compute addresses and access nothing: part of PTX ISA 9.7.9.
var addressRows = []Row{
	{Opcode: "cvta", Action: ActConvertAddress, Category: Address, Roles: dst1, Section: "9.7.9.20", Executable: true, forms: []form{
		{types: of(U32, U64), spaces: windows, flags: ToSpace},
	}},
	{Opcode: "isspacep", Action: ActTestSpace, dst: all(predType), Category: Address, Roles: dst1, Section: "9.7.9.19", Executable: true, forms: []form{{spaces: windows}}},
	{Opcode: "cvta.shared::cluster", Action: ActConvertClusterAddress, If: inCluster, Category: Address, Roles: dst1, Section: "9.7.9.20", Executable: true, forms: []form{
		{types: of(U32, U64), spaces: of(event.Shared), flags: ToSpace},
	}},
	{Opcode: "isspacep.shared::cluster", Action: ActTestClusterSpace, dst: all(predType), If: inCluster, Category: Address, Roles: dst1, Section: "9.7.9.19", Executable: true, forms: []form{
		{spaces: of(event.Shared)},
	}},
	{Opcode: "mapa", Action: ActMapAddress, Category: Address, Roles: dst2, Section: "9.7.9.23", Executable: true, forms: mappable},
	{Opcode: "getctarank", Action: ActQueryRank, dst: all(b32Type), Category: Address, Roles: dst1, Section: "9.7.9.24", Executable: true, forms: mappable},
	{Opcode: "istypep", Action: ActTestOpaque, Category: Texture, Roles: dst1, Section: "9.7.10.6", Executable: true},
}

// windows are the spaces that have a window in the generic address space (PTX ISA 6.4.1.1).
var windows = of(event.Global, event.Shared, event.Local, event.Const, event.Param)

// mappable is an address of the cluster's shared memory, generic if no space is written.
var mappable = []form{
	{types: of(U32, U64), spaces: opt | of(event.Shared), defSpace: event.Generic},
}

// inCluster keeps accesses to the shared memory of any block of the cluster apart from those to the
// block's own, .shared and .shared::cta: whoever knows only the latter must not take them for it.
var inCluster = []string{"shared::cluster"}

package isa

// warpRows exchange values between the lanes of a warp and order no memory: PTX ISA 9.7.9.5,
// 9.7.9.6 and 9.7.13.8 to 9.7.13.14. The forms without .sync are deprecated and act on the lanes
// that are active.
var warpRows = []Row{
	{Opcode: "shfl", Action: ActShuffle, dst: maskAndPred, src: valueAndMask, narrow: maskedRoles, Category: WarpOp, Roles: []Role{Dst, DstPred, Src, Src, Src, SrcOpt}, Section: "9.7.9.5", Executable: true, forms: []form{
		{types: of(B32), fns: of(FnUp, FnDown, FnBfly, FnIdx)},
		{section: "9.7.9.6", types: of(B32), fns: of(FnUp, FnDown, FnBfly, FnIdx), must: SyncMask},
	}},
	{Opcode: "vote", Action: ActVote, dst: all(ballotType), src: opTypes{set: true, list: []opType{predType}, rest: b32Type}, narrow: maskedRoles, Category: WarpOp, Roles: []Role{Dst, PredSrc, SrcOpt}, Section: "9.7.13.8", Executable: true, forms: []form{
		{types: of(Pred), fns: of(FnAll, FnAny, FnUni)},
		{types: of(B32), fns: of(FnBallot)},
		{section: "9.7.13.9", types: of(Pred), fns: of(FnAll, FnAny, FnUni), must: SyncMask},
		{section: "9.7.13.9", types: of(B32), fns: of(FnBallot), must: SyncMask},
	}},
	{Opcode: "match", Action: ActMatch, dst: maskAndPred, src: valueAndMask, Category: WarpOp, Roles: []Role{Dst, DstPred, Src, Src}, Section: "9.7.13.10", Executable: true, forms: []form{
		{types: of(B32, B64), fns: of(FnAny, FnAll), must: SyncMask},
	}},
	{Opcode: "activemask", Action: ActActiveMask, dst: maskAndPred, src: valueAndMask, Category: WarpOp, Roles: []Role{Dst}, Section: "9.7.13.11", Executable: true, forms: []form{{types: of(B32)}}},
	{Opcode: "redux", Action: ActWarpReduce, src: valueAndMask, Category: WarpOp, Roles: []Role{Dst, Src, Src}, Section: "9.7.13.12", Executable: true, forms: []form{
		{types: of(U32, S32), fns: of(FnAdd, FnMin, FnMax), must: SyncMask},
		{types: of(B32), fns: of(FnAnd, FnOr, FnXor), must: SyncMask},
		{types: of(F32), fns: of(FnMin, FnMax), must: SyncMask, flags: NaNProp},
		{types: of(F32), fns: of(FnMin, FnMax), must: SyncMask, flags: NaNProp, mustMarks: markAbs, implied: Abs},
	}},
	{Opcode: "elect", Action: ActElect, dst: maskAndPred, src: all(b32Type), Category: WarpOp, Roles: []Role{Dst, DstPred, Src}, Section: "9.7.13.14", Executable: true, forms: []form{
		{must: SyncMask},
	}},
}

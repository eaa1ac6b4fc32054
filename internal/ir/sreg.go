package ir

// sregNames are the names of the special registers in PTX, by Sreg (PTX ISA chapter 10).
var sregNames = [NumSregs]string{
	NoSreg: "%?",
	TidX:   "%tid.x", TidY: "%tid.y", TidZ: "%tid.z",
	NtidX: "%ntid.x", NtidY: "%ntid.y", NtidZ: "%ntid.z",
	CtaidX: "%ctaid.x", CtaidY: "%ctaid.y", CtaidZ: "%ctaid.z",
	NctaidX: "%nctaid.x", NctaidY: "%nctaid.y", NctaidZ: "%nctaid.z",
	LaneID: "%laneid", WarpID: "%warpid", NWarpID: "%nwarpid",
	SMID: "%smid", NSMID: "%nsmid", GridID: "%gridid",
	LanemaskEQ: "%lanemask_eq", LanemaskLE: "%lanemask_le", LanemaskLT: "%lanemask_lt",
	LanemaskGE: "%lanemask_ge", LanemaskGT: "%lanemask_gt",
	Clock: "%clock", ClockHi: "%clock_hi", Clock64: "%clock64",
	GlobalTimer: "%globaltimer", GlobalTimerLo: "%globaltimer_lo", GlobalTimerHi: "%globaltimer_hi",
	ClusterCtaidX: "%cluster_ctaid.x", ClusterCtaidY: "%cluster_ctaid.y",
	ClusterCtaidZ:  "%cluster_ctaid.z",
	ClusterNctaidX: "%cluster_nctaid.x", ClusterNctaidY: "%cluster_nctaid.y",
	ClusterNctaidZ: "%cluster_nctaid.z",
	ClusterIDX:     "%clusterid.x", ClusterIDY: "%clusterid.y", ClusterIDZ: "%clusterid.z",
	NClusterIDX: "%nclusterid.x", NClusterIDY: "%nclusterid.y", NClusterIDZ: "%nclusterid.z",
	ClusterCtaRank: "%cluster_ctarank", ClusterNctaRank: "%cluster_nctarank",
	IsExplicitCluster: "%is_explicit_cluster",
	TotalSmemSize:     "%total_smem_size", AggrSmemSize: "%aggr_smem_size",
	DynamicSmemSize:   "%dynamic_smem_size",
	ReservedSmemBegin: "%reserved_smem_offset_begin", ReservedSmemEnd: "%reserved_smem_offset_end",
	ReservedSmemCap: "%reserved_smem_offset_cap", ReservedSmemOffset: "%reserved_smem_offset_",
	EnvReg: "%envreg", PM: "%pm", WarpSz: "WARP_SZ", CurrentGraphExec: "%current_graph_exec",
}

// String returns the register's name in PTX; of a numbered one the name without the number.
func (s Sreg) String() string {
	if s >= NumSregs {
		return "%?"
	}
	return sregNames[s]
}

var sregByName = func() map[string]Sreg {
	m := make(map[string]Sreg, NumSregs)
	for s := NoSreg + 1; s < NumSregs; s++ {
		m[sregNames[s]] = s
	}
	return m
}()

// SregByName returns the special register of that name, "%tid.x" or "%laneid", or NoSreg.
func SregByName(name string) Sreg { return sregByName[name] }

package lower

import (
	"fmt"
	"strings"
	"sync"

	"heddle/internal/lazyregexp"
)

// clDefinition writes the definitions of all built-in functions of one name.
type clDefinition func(g *clGen, name string)

// clBuiltins returns the built-in functions by name, except those in headers/opencl/base.h and the
// convert_ and as_ functions. A name can have several definitions, for different types.
var clBuiltins = sync.OnceValue(func() map[string]clDefinition {
	out := make(map[string]clDefinition)
	add := func(names string, def clDefinition) {
		for _, n := range strings.Fields(names) {
			if before := out[n]; before != nil {
				out[n] = func(g *clGen, name string) { before(g, name); def(g, name) }
				continue
			}
			out[n] = def
		}
	}
	for i := range clRows {
		add(clRows[i].names, clRows[i].write)
	}
	add("any all", (*clGen).anyAll)
	add("select", (*clGen).selects)
	add("cross", (*clGen).cross)
	add("dot length distance normalize fast_length fast_distance fast_normalize", (*clGen).geometric)
	add("shuffle", (*clGen).shuffle)
	add("shuffle2", (*clGen).shuffle)
	add("prefetch", (*clGen).prefetch)
	add("async_work_group_copy async_work_group_strided_copy", (*clGen).asyncCopy)
	add("wait_group_events", (*clGen).waitEvents)
	for _, n := range clWidths[1:] {
		add(fmt.Sprintf("vload%d", n), (*clGen).vload)
		add(fmt.Sprintf("vstore%d", n), (*clGen).vstore)
	}
	for _, n := range clWidths {
		w := strings.TrimPrefix(clFloats[0].vec(n), "float")
		add("vload_half"+w+" vloada_half"+w, (*clGen).vloadHalf)
		for _, mode := range []string{"", "_rte", "_rtz", "_rtp", "_rtn"} {
			add("vstore_half"+w+mode+" vstorea_half"+w+mode, (*clGen).vstoreHalf)
		}
	}
	for op := range clLegacy {
		add("atomic_"+op+" atom_"+op, (*clGen).legacyAtomic)
	}
	for _, name := range strings.Fields("store load exchange compare_exchange_strong " +
		"compare_exchange_weak fetch_add fetch_sub " +
		"fetch_or fetch_xor fetch_and fetch_min fetch_max flag_test_and_set flag_clear") {
		add("atomic_"+name+" atomic_"+name+"_explicit", (*clGen).atomic)
	}
	add("atomic_init", (*clGen).atomicInit)
	image := func(g *clGen, _ string) { g.include("images.h") }
	add("read_imagef read_imageh read_imagei read_imageui "+
		"write_imagef write_imageh write_imagei write_imageui "+
		"get_image_width get_image_height get_image_depth "+
		"get_image_dim get_image_array_size get_image_channel_data_type get_image_channel_order", image)
	subgroup := func(g *clGen, _ string) { g.include("subgroup.h") }
	add("sub_group_all sub_group_any sub_group_broadcast sub_group_reduce_add sub_group_reduce_min "+
		"sub_group_reduce_max "+
		"sub_group_scan_inclusive_add sub_group_scan_exclusive_add sub_group_scan_inclusive_min "+
		"sub_group_scan_inclusive_max sub_group_scan_exclusive_min sub_group_scan_exclusive_max "+
		"sub_group_shuffle sub_group_shuffle_xor sub_group_shuffle_up sub_group_shuffle_down "+
		"sub_group_ballot sub_group_ballot_bit_extract sub_group_inverse_ballot "+
		"sub_group_ballot_bit_count sub_group_ballot_inclusive_scan sub_group_ballot_exclusive_scan "+
		"sub_group_ballot_find_lsb sub_group_ballot_find_msb get_sub_group_eq_mask "+
		"get_sub_group_ge_mask get_sub_group_gt_mask get_sub_group_le_mask get_sub_group_lt_mask "+
		"sub_group_elect sub_group_rotate intel_sub_group_shuffle intel_sub_group_shuffle_xor "+
		"intel_sub_group_shuffle_up intel_sub_group_shuffle_down", subgroup)
	workgroup := func(g *clGen, _ string) { g.include("workgroup.h") }
	add("work_group_broadcast", workgroup)
	for _, op := range strings.Fields("add min max mul and or xor logical_and logical_or logical_xor") {
		add("work_group_reduce_"+op+" work_group_scan_inclusive_"+op+" work_group_scan_exclusive_"+op,
			workgroup)
	}
	return out
})

// include adds an embedded header, whose functions are not generated.
func (g *clGen) include(name string) { fmt.Fprintf(g, "#include \"opencl/%s\"\n", name) }

// Conversion functions, and functions that reinterpret bits.
var (
	convertRE = lazyregexp.New(
		`^convert_(u?char|u?short|u?int|u?long|float|double|half)(2|3|4|8|16|)(_sat)?(_rt[ezpn])?$`)
	asTypeRE = lazyregexp.New(
		`^as_(u?char|u?short|u?int|u?long|float|double|half|size_t)(2|3|4|8|16|)$`)
)

// clDefine returns the definition of a name; nil if it is not a built-in function.
func clDefine(name string) clDefinition {
	switch {
	case convertRE.MatchString(name):
		return (*clGen).convert
	case asTypeRE.MatchString(name):
		return func(g *clGen, name string) {
			fmt.Fprintf(g, "#define %s(X) __builtin_astype((X), %s)\n", name,
				strings.TrimPrefix(name, "as_"))
		}
	}
	return clBuiltins()[name]
}

// clMathRE matches the names that the math headers define.
var clMathRE = lazyregexp.New(`__heddle_m_|__u?ll2(float|double)_r|__double2float_r`)

// clWordRE matches an identifier.
var clWordRE = lazyregexp.New(`[A-Za-z_]\w*`)

// clPrelude returns the definitions of names, each after the functions that it uses. generic
// reports whether the language has the generic address space. The text is a system header, so that
// clang reports no warnings about it.
func clPrelude(names []string, generic bool) string {
	out := &clGen{generic: generic}
	done := make(map[string]bool)
	var write func(name string)
	write = func(name string) {
		def := clDefine(name)
		if def == nil || done[name] {
			return
		}
		done[name] = true
		one := &clGen{generic: generic}
		def(one, name)
		text := one.String()
		for _, w := range clWordRE.FindAllString(text, -1) {
			write(w)
		}
		out.WriteString(text)
	}
	for _, n := range names {
		write(n)
	}
	text := out.String()
	var head strings.Builder
	head.WriteString("#pragma clang system_header\n#pragma OPENCL EXTENSION " +
		"cl_clang_storage_class_specifiers : enable\n")
	if clMathRE.MatchString(text) {
		head.WriteString(clMathHeaders())
	}
	return head.String() + text
}

// Definitions in the math headers, and the parts of them that OpenCL C spells differently.
var (
	mathFnRE  = lazyregexp.New(`(?m)^__heddle_(?:fn|out)\s+(?:[\w]+[\s*]+)+?(\w+)\(`)
	mathRowRE = lazyregexp.New(`(?m)^__HEDDLE_(?:[123]|F2I|I2F)\((\w+),`)
	// In OpenCL C, long has 64 bits and long long 128.
	longLongRE    = lazyregexp.New(`\blong long( int)?\b`)
	longLiteralRE = lazyregexp.New(`\b(0x[0-9a-fA-F]+|[0-9]+)(U?)LL\b`)
	via64RE       = lazyregexp.New(`(?m)^__HEDDLE_VIA64(?:_2)?\((\w+)\)`)
)

// clMathHeaders returns CUDA's math functions under the names __heddle_m_NAME, since the user may
// define functions with the same names. It renames them with macros around the text of the headers,
// and adapts the spelling of 64-bit integers.
var clMathHeaders = sync.OnceValue(func() string {
	var define, include, undef strings.Builder
	define.WriteString("#define __heddle_fn static __inline__ __attribute__((always_inline, " +
		"overloadable))\n")
	seen := make(map[string]bool)
	rename := func(name string) {
		if !seen[name] {
			seen[name] = true
			fmt.Fprintf(&define, "#define %s __heddle_m_%s\n", name, name)
			fmt.Fprintf(&undef, "#undef %s\n", name)
		}
	}
	for _, h := range []string{"intrinsics", "math_f64", "math_f32"} {
		text, err := headerFS.ReadFile("headers/heddle/" + h + ".h")
		if err != nil {
			panic("BUG: embedded headers: " + err.Error())
		}
		for _, re := range []*lazyregexp.Regexp{mathFnRE, mathRowRE} {
			for _, m := range re.FindAllSubmatch(text, -1) {
				rename(string(m[1]))
			}
		}
		for _, m := range via64RE.FindAllSubmatch(text, -1) {
			rename(string(m[1]) + "f")
		}
		include.WriteString(longLongRE.ReplaceAllString(longLiteralRE.ReplaceAllString(string(text),
			"$1${2}L"), "long"))
	}
	return define.String() + include.String() + undef.String()
})

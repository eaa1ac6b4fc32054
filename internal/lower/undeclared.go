package lower

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"heddle/internal/lazyregexp"
)

// Names of the C++ library and of Thrust that a file uses without including their header. It
// compiles where another header includes that one, which differs between versions of the libraries.
// clang's error has the name. If kernels are lost for such errors, heddle includes the headers, and
// takes the result if it has more kernels (compilation.mend): a header may also declare what the file
// has of its own, and host code that is invalid is better left out.

// undeclaredRE matches the texts of clang's errors about a name of a library that is not declared,
// or a class that is not defined.
var undeclaredRE = lazyregexp.New(
	`^(?:no (?:member|template|type) named '(\w+)' in namespace '(std|thrust)'|` +
		`implicit instantiation of undefined template '(std|thrust)::(?:__\w+::)?(?:basic_)?(\w+)<)`)

// libraryNames are names by their headers: of the C++ library, and those of Thrust whose header does
// not have the name.
var libraryNames = map[string]map[string]string{
	"std": {
		"algorithm": "all_of any_of copy copy_if copy_n count count_if equal fill fill_n find " +
			"find_if for_each generate is_sorted lower_bound max_element merge " +
			"min_element minmax_element none_of nth_element partial_sort partition " +
			"remove_if replace reverse rotate shuffle sort stable_sort swap_ranges " +
			"transform unique upper_bound clamp",
		"any":                "any any_cast",
		"array":              "array",
		"atomic":             "atomic atomic_flag",
		"bitset":             "bitset",
		"chrono":             "chrono",
		"complex":            "complex",
		"condition_variable": "condition_variable",
		"deque":              "deque",
		"exception":          "current_exception exception_ptr rethrow_exception",
		"filesystem":         "filesystem",
		"fstream":            "fstream ifstream ofstream",
		"functional": "bind bit_and bit_or bit_xor cref divides equal_to function greater " +
			"greater_equal hash less less_equal logical_and logical_or minus modulus " +
			"multiplies negate plus ref reference_wrapper",
		"future":   "async future promise",
		"iomanip":  "setfill setprecision setw",
		"iostream": "cerr cin clog cout",
		"iterator": "back_inserter distance istream_iterator iterator_traits next " +
			"ostream_iterator prev",
		"limits": "numeric_limits",
		"list":   "list",
		"map":    "map multimap",
		"memory": "allocator make_shared make_unique shared_ptr unique_ptr weak_ptr",
		"mutex":  "call_once lock_guard mutex once_flag recursive_mutex scoped_lock unique_lock",
		"numeric": "accumulate adjacent_difference exclusive_scan inclusive_scan inner_product " +
			"iota partial_sum reduce transform_reduce",
		"optional": "make_optional nullopt optional",
		"ostream":  "endl flush ostream",
		"queue":    "priority_queue queue",
		"random": "bernoulli_distribution default_random_engine mt19937 mt19937_64 " +
			"normal_distribution random_device uniform_int_distribution " +
			"uniform_real_distribution",
		"set":     "multiset set",
		"sstream": "istringstream ostringstream stringstream",
		"stack":   "stack",
		"stdexcept": "domain_error invalid_argument length_error logic_error out_of_range " +
			"overflow_error runtime_error",
		"string":        "getline stod stof stoi stol stoll stoul stoull string to_string",
		"string_view":   "string_view",
		"thread":        "this_thread thread",
		"tuple":         "apply forward_as_tuple make_tuple tie tuple tuple_cat",
		"type_traits":   "void_t",
		"typeinfo":      "type_info",
		"unordered_map": "unordered_map unordered_multimap",
		"unordered_set": "unordered_set",
		"utility": "exchange index_sequence integer_sequence make_index_sequence make_pair " +
			"pair",
		"variant": "get_if holds_alternative monostate variant visit",
		"vector":  "vector",
	},
	"thrust": {
		"thrust/device_ptr.h":       "device_pointer_cast raw_pointer_cast",
		"thrust/execution_policy.h": "device host seq",
		"thrust/extrema.h":          "max_element min_element minmax_element",
		"thrust/functional.h": "bit_and bit_or bit_xor divides equal_to greater greater_equal identity " +
			"less less_equal logical_and logical_not logical_or maximum minimum minus " +
			"modulus multiplies negate not_equal_to plus square",
		"thrust/iterator/constant_iterator.h":    "constant_iterator make_constant_iterator",
		"thrust/iterator/counting_iterator.h":    "counting_iterator make_counting_iterator",
		"thrust/iterator/discard_iterator.h":     "discard_iterator make_discard_iterator",
		"thrust/iterator/permutation_iterator.h": "make_permutation_iterator permutation_iterator",
		"thrust/iterator/transform_iterator.h":   "make_transform_iterator transform_iterator",
		"thrust/iterator/zip_iterator.h":         "make_zip_iterator zip_iterator",
		"thrust/pair.h":                          "make_pair",
		"thrust/scan.h":                          "exclusive_scan exclusive_scan_by_key inclusive_scan inclusive_scan_by_key",
		"thrust/sort.h":                          "is_sorted sort_by_key stable_sort stable_sort_by_key",
		"thrust/reduce.h":                        "reduce_by_key",
		"thrust/system/cuda/execution_policy.h":  "cuda",
		"thrust/tuple.h":                         "get make_tuple tie",
		"thrust/unique.h":                        "unique_by_key unique_copy",
	},
}

// headersOf returns libraryNames by "namespace::name".
var headersOf = sync.OnceValue(func() map[string]string {
	all := make(map[string]string)
	for space, headers := range libraryNames {
		for header, names := range headers {
			for name := range strings.FieldsSeq(names) {
				all[space+"::"+name] = header
			}
		}
	}
	return all
})

// headerOf returns the name of a library that a text of clang is about, and its header; "" if the
// text is about something else. Where libraryNames does not have a name of Thrust, the header does.
func headerOf(message string) (name, header string) {
	m := undeclaredRE.FindStringSubmatch(message)
	if m == nil {
		return "", ""
	}
	space, word := m[2]+m[3], m[1]+m[4]
	name = space + "::" + word
	header = headersOf()[name]
	if header == "" && space == "thrust" {
		header = "thrust/" + word + ".h"
	}
	return name, header
}

// maxDeclared bounds the runs of clang that look for names: errors may hide others.
const maxDeclared = 4

// declareAll has the headers included of the names in clang's errors, and of those that come up when
// run compiles with them. run returns clang's errors.
func (b *build) declareAll(output string, run func() string) error {
	for range maxDeclared {
		more, err := b.declare(output)
		if err != nil || !more {
			return err
		}
		output = run()
	}
	return nil
}

// declare has the headers included that declare the names in clang's errors. It returns false if
// there are none that it does not include already.
func (b *build) declare(output string) (more bool, err error) {
	for _, m := range diagRE.FindAllStringSubmatch(output, -1) {
		name, header := headerOf(m[5])
		if header == "" || b.declared[header] != "" || m[4] == "note" {
			continue
		}
		if b.declared == nil {
			b.declared = make(map[string]string)
		}
		more = true
		b.declared[header] = fmt.Sprintf("%s: no header that the file includes declares %s; heddle "+
			"includes <%s>", m[1]+":"+m[2]+":"+m[3], name, header)
	}
	if !more {
		return false, nil
	}
	return true, b.writeDeclared()
}

// declaredFile returns the path of a header that includes those of declare.
func (b *build) declaredFile() string { return filepath.Join(b.tmp, "declared.h") }

// writeDeclared writes that header. It omits headers that do not exist: then clang's error about the
// name stays.
func (b *build) writeDeclared() error {
	var text strings.Builder
	for _, h := range slices.Sorted(maps.Keys(b.declared)) {
		fmt.Fprintf(&text, "#if __has_include(<%s>)\n#include <%[1]s>\n#endif\n", h)
	}
	return os.WriteFile(b.declaredFile(), []byte(text.String()), 0o600)
}

// declaredWarnings returns a warning for each header that heddle includes.
func (b *build) declaredWarnings() []string {
	return slices.Sorted(maps.Values(b.declared))
}

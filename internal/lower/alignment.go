package lower

import (
	"strconv"
	"strings"

	"heddle/internal/lazyregexp"
)

// Local arrays of 16 bytes and more are aligned to 16, the size of the widest access. C++ promises
// less, but CUB reads its arrays of items by vectors all the same: in optimized code they are
// registers, and in local memory their place is the compiler's choice. This is done behind opt,
// which would otherwise clear and copy aligned arrays by wider accesses, and then keep in memory
// what it makes registers of.

// localArrayRE matches the allocation of an array, with its type and its alignment.
var localArrayRE = lazyregexp.New(`^(  %\S+ = alloca (\[.*\]), align )([0-9]+)(,.*)?$`)

// alignArrays aligns the local arrays of all functions.
func alignArrays(m *irModule) {
	for _, f := range m.funcs {
		for i, line := range f.body {
			s := localArrayRE.FindStringSubmatch(line)
			if s == nil || sizeOfArray(s[2]) < 16 {
				continue
			}
			if n, err := strconv.Atoi(s[3]); err == nil && n < 16 {
				f.body[i] = s[1] + "16" + s[4]
			}
		}
	}
}

// scalarSizes are the sizes of types in bytes.
var scalarSizes = map[string]int{"i8": 1, "i16": 2, "half": 2, "i32": 4, "float": 4, "i64": 8,
	"double": 8, "ptr": 8}

// sizeOfArray returns the size of an array of scalars in bytes, such as [2 x [4 x float]]; 0 if it
// has other elements.
func sizeOfArray(typ string) int {
	size := 1
	for strings.HasPrefix(typ, "[") {
		count, elem, ok := strings.Cut(typ[1:len(typ)-1], " x ")
		n, err := strconv.Atoi(count)
		if !ok || err != nil || n > 1<<30/size {
			return 0
		}
		size, typ = size*max(n, 1), elem
	}
	return size * scalarSizes[typ]
}

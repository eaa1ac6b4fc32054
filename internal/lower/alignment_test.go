package lower

import "testing"

// A local array of 16 bytes or more may be read by vectors; smaller ones and scalars keep their
// alignment.
func TestAlignArrays(t *testing.T) {
	for line, want := range map[string]string{
		"  %a = alloca [4 x i32], align 4":                "  %a = alloca [4 x i32], align 16",
		"  %a = alloca [2 x [8 x i8]], align 1, !dbg !7":  "  %a = alloca [2 x [8 x i8]], align 16, !dbg !7",
		"  %a = alloca [3 x float], align 4":              "  %a = alloca [3 x float], align 4",
		"  %a = alloca [4 x double], align 32":            "  %a = alloca [4 x double], align 32",
		"  %a = alloca [4 x %struct.s], align 4":          "  %a = alloca [4 x %struct.s], align 4",
		"  %a = alloca i32, align 4":                      "  %a = alloca i32, align 4",
		"  %b = load [4 x i32], ptr %a, align 4":          "  %b = load [4 x i32], ptr %a, align 4",
		"  %a = alloca [9999999999999999 x i64], align 8": "  %a = alloca [9999999999999999 x i64], align 8",
	} {
		m := &irModule{funcs: []*irFunc{{body: []string{line}}}}
		alignArrays(m)
		if got := m.funcs[0].body[0]; got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}

package emu

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"heddle/internal/event"
	"heddle/internal/launch"
)

// bytesKernel fills shared memory with the 1536 bytes of x and gives row t of the matrices the
// address rowAt(t) in %u.
var bytesKernel = func() string {
	var s strings.Builder
	s.WriteString(`.shared .align 16 .b8 sh[1536];
	.reg .b32 %r<4>;
	mad.wide.u32 %s, %t, 4, %x;
	mov.u64 %r, sh;
	mad.wide.u32 %r, %t, 4, %r;
`)
	for i := range 12 {
		fmt.Fprintf(&s, "ld.global.u32 %%v, [%%s+%d];\nst.shared.u32 [%%r+%d], %%v;\n", 128*i, 128*i)
	}
	s.WriteString(`bar.sync 0;
	mul.lo.u32 %u, %t, 5;
	and.b32 %u, %u, 31;
	mul.lo.u32 %u, %u, 48;
	mad.wide.u32 %q, %t, 16, %o;
`)
	return s.String()
}()

// randomBytes is an argument x of bytes and what is in it.
func randomBytes(r *rand.Rand, n int) (launch.Arg, []byte) {
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	return launch.Arg{Name: "x", Buffer: &launch.Buffer{Name: "x", Size: uint64(n),
		Fill: launch.FillFile, Data: data}}, data
}

// bitField is element i of a string of elements of n bits, the first in the lowest bits.
func bitField(row []byte, i, n int) byte {
	row = slices.Clone(row)
	slices.Reverse(row)
	v := new(big.Int).Rsh(new(big.Int).SetBytes(row), uint(i*n))
	return byte(v.Uint64()) & (1<<n - 1)
}

// wideAccess is the one access to whole rows.
func wideAccess(t *testing.T, rec *recorder, kind event.Kind, lanes int) access {
	t.Helper()
	var as []access
	for _, a := range of[access](rec) {
		if a.Space == event.Shared && a.Size == 16 {
			as = append(as, a)
		}
	}
	if len(as) != 1 || as[0].Kind != kind || as[0].Mask != full>>(32-lanes) ||
		as[0].Order != event.Weak {
		t.Fatalf("accesses %+v, want one of %d lanes", as, lanes)
	}
	for l := range lanes {
		if as[0].Addr[l] != uint64(rowAt(l)) {
			t.Fatalf("lane %d accesses %d, want %d", l, as[0].Addr[l], rowAt(l))
		}
	}
	return as[0]
}

// ldmatrix of elements of 8, 6 and 4 bits (PTX ISA 9.7.14.5.15). A 16x16 matrix is loaded "in
// column-major format": row p in memory is column p. "Each thread in a warp loads 4 consecutive
// columns across 2 rows" in two registers, and of an 8x16 matrix "4 consecutive columns"; "a group
// of four consecutive threads" has a row. Narrow elements are at the start of the 16 bytes, which
// padding follows, and become bytes with padding in the upper bits.
func TestLdmatrixBytes(t *testing.T) {
	r := rand.New(rand.NewPCG(121, 122))
	for _, test := range []struct {
		shape, typ         string
		count, rows, width int
	}{
		{"m16n16.x1.trans", "b8", 1, 16, 8}, {"m16n16.x2.trans", "b8", 2, 16, 8},
		{"m16n16.x1.trans", "b8x16.b6x16_p32", 1, 16, 6}, {"m16n16.x2.trans", "b8x16.b6x16_p32", 2, 16, 6},
		{"m16n16.x1.trans", "b8x16.b4x16_p64", 1, 16, 4}, {"m16n16.x2.trans", "b8x16.b4x16_p64", 2, 16, 4},
		{"m8n16.x1", "b8x16.b6x16_p32", 1, 8, 6}, {"m8n16.x2", "b8x16.b6x16_p32", 2, 8, 6},
		{"m8n16.x4", "b8x16.b6x16_p32", 4, 8, 6}, {"m8n16.x1", "b8x16.b4x16_p64", 1, 8, 4},
		{"m8n16.x2", "b8x16.b4x16_p64", 2, 8, 4}, {"m8n16.x4", "b8x16.b4x16_p64", 4, 8, 4},
	} {
		op := "ldmatrix.sync.aligned." + test.shape + ".shared." + test.typ
		arg, data := randomBytes(r, 1536)
		regs := test.count * test.rows / 8
		text := bytesKernel + op + " " + registers("r", regs) + ", [%u];\n"
		for i := range regs {
			text += fmt.Sprintf("st.global.u32 [%%q+%d], %%r%d;\n", 4*i, i)
		}
		res, rec := completed(t, kernel(t, text+"ret;"), config(1, 32, buffer("out", 512), arg), Options{})
		wideAccess(t, rec, event.Read, test.count*test.rows)
		got := words(t, res, "out", 128)
		for m := range test.count {
			var matrix [16][16]byte // row, column
			for p := range test.rows {
				at := rowAt(m*test.rows + p)
				for i := range 16 {
					v := bitField(data[at:at+16], i, test.width)
					if test.rows == 16 {
						matrix[i][p] = v
					} else {
						matrix[p][i] = v
					}
				}
			}
			for l := range 32 {
				for half := range test.rows / 8 {
					var want uint32
					for i := range 4 {
						want |= uint32(matrix[l/4+8*half][4*(l%4)+i]) << (8 * i)
					}
					reg := m*test.rows/8 + half
					if v := got[4*l+reg]; v != want {
						t.Fatalf("%s: lane %d r%d = %#x, want %#x", op, l, reg, v, want)
					}
				}
			}
		}
	}
}

// stmatrix of bytes (PTX ISA 9.7.14.5.16): a 16x8 matrix in column-major format has 8 columns of 16
// bytes in memory. Registers have the layout of accumulators: c0 and c1 are two columns of row l/4,
// c2 and c3 of row l/4+8 (9.7.14.5.8).
func TestStmatrixBytes(t *testing.T) {
	r := rand.New(rand.NewPCG(123, 124))
	for _, n := range []int{1, 2, 4} {
		arg, data := randomBytes(r, 1536)
		text := bytesKernel + "mad.wide.u32 %s, %t, 16, %x;\n"
		for i := range n {
			text += fmt.Sprintf("ld.global.u32 %%r%d, [%%s+%d];\n", i, 4*i)
		}
		op := fmt.Sprintf("stmatrix.sync.aligned.m16n8.x%d.trans.shared.b8", n)
		text += op + " [%u], " + registers("r", n) + ";\nret;"
		_, rec := completed(t, kernel(t, text), config(1, 32, buffer("out", 512), arg), Options{})
		a := wideAccess(t, rec, event.Write, 8*n)
		for m := range n {
			var matrix [16][8]byte
			for l := range 32 {
				for e := range 4 {
					matrix[l/4+e/2*8][2*(l%4)+e%2] = data[16*l+4*m+e]
				}
			}
			for col := range 8 {
				for row := range 16 {
					got := byte(a.Data[row/8][8*m+col] >> (8 * (row % 8)))
					if want := matrix[row][col]; got != want {
						t.Fatalf("%s: matrix %d, row %d, column %d: %#x, want %#x", op, m, row, col, got, want)
					}
				}
			}
		}
	}
}

// What the ISA does not have, by 9.7.14.5.15 to 17: the message says what it has instead.
func TestRowMatrixForms(t *testing.T) {
	for text, message := range map[string]string{
		"ldmatrix.sync.aligned.m8n8.x1.shared.b8 {%v}, [%u];": "a matrix of shape .m8n8 has elements of " +
			".b16 (PTX ISA 9.7.14.5.15)",
		"ldmatrix.sync.aligned.m8n16.x1.shared.b8 {%v}, [%u];": "has elements of .b8x16.b6x16_p32 or " +
			".b8x16.b4x16_p64",
		"ldmatrix.sync.aligned.m16n16.x1.shared.b8 {%v, %w}, [%u];":                      "shape .m16n16 needs .trans",
		"ldmatrix.sync.aligned.m16n16.x4.trans.shared.b8 {%v, %w}, [%u];":                "a number of matrices from .x1 to .x2",
		"ldmatrix.sync.aligned.m16n16.trans.shared.b8 {%v, %w}, [%u];":                   "a number of matrices from .x1 to .x2",
		"ldmatrix.sync.aligned.m8n16.x1.trans.shared.b8x16.b4x16_p64 {%v}, [%u];":        "shape .m8n16 has no .trans",
		"ldmatrix.sync.aligned.m16n8.x1.trans.shared.b8 {%v}, [%u];":                     "a shape among .m8n8, .m8n16, .m16n16",
		"ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%v}, [%u];":                    "1 operands where 2 are expected",
		"ldmatrix.sync.aligned.m8n8.x1.kind::f8f6f4.shared.b16 {%v}, [%u];":              "modifier .kind::f8f6f4 is not one of ldmatrix",
		"stmatrix.sync.aligned.m16n8.x1.shared.b8 [%u], {%v};":                           "shape .m16n8 needs .trans",
		"stmatrix.sync.aligned.m16n8.x1.trans.shared.b16 [%u], {%v};":                    "shape .m16n8 has elements of .b8",
		"stmatrix.sync.aligned.m16n16.x1.trans.shared.b8 [%u], {%v, %w};":                "a shape among .m8n8, .m16n8",
		"stmatrix.sync.aligned.m8n8.x1.shared.b8x16.b4x16_p64 [%u], {%v};":               "has elements of .b16",
		"movmatrix.sync.aligned.m8n8.b16 %v, %v;":                                        "shape .m8n8 needs .trans",
		"movmatrix.sync.aligned.m16n8.trans.b8 %v, %v;":                                  "a shape among .m8n8",
		"movmatrix.sync.aligned.m8n8.x2.trans.b16 %v, %v;":                               "it moves one matrix: remove .x2",
		"ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8x16.b6x16_p32 {%v, %w}, [sh+8];": "is not aligned to 16",
	} {
		_, res, _ := start(t, kernel(t, ".shared .align 16 .b8 sh[1024];\nmov.u32 %u, 0;\n"+
			"mov.u32 %v, 0;\nmov.u32 %w, 0;\n"+text+"\nret;"), config(1, 32, buffer("out", 128)), Options{})
		if res.Stop == nil || !strings.Contains(res.Stop.Message, message) {
			t.Errorf("%s: %+v", text, res.Stop)
		}
	}
}

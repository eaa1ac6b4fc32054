package fatbin

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"heddle/internal/lower/fatbin/fatbintest"
)

func ptxText(version string, arch int, kernels ...string) []byte {
	var b strings.Builder
	fmt.Fprintf(
		&b, "//\n// .entry commented(\n.version %s\n.target sm_%d\n.address_size 64\n/* .entry commented2 */\n.file 1 \".entry quoted\"\n", version, arch)
	for _, k := range kernels {
		fmt.Fprintf(&b, ".visible .entry %s(\n\t.param .u64 %s_param_0\n)\n{\n\tret;\n}\n", k, k)
	}
	return []byte(b.String())
}

func open(t *testing.T, content []byte) *File {
	t.Helper()
	f, err := Open(content)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Every header size with every compression yields the original text, name and architecture.
func TestForms(t *testing.T) {
	text := ptxText("8.3", 80, "_Z6kernelPi", "second")
	for _, header := range []uint32{64, 80, 112} {
		for _, comp := range []Compression{None, LZ4, Zstd} {
			s := fatbintest.Image{Kind: 1, Arch: 80, Header: header, Comp: string(comp), Data: text}
			if header > 64 {
				s.Name = "src/k.cu"
			}
			f := open(t, fatbintest.Region(t, s))
			if len(f.Images) != 1 {
				t.Fatalf("header %d, %s: %d images", header, comp, len(f.Images))
			}
			im := f.Images[0]
			got, err := im.Data()
			if err != nil || !bytes.Equal(got, text) {
				t.Errorf("header %d, %s: %q, %v", header, comp, got, err)
			}
			if im.Kind != PTX || im.Arch != 80 || im.Name != s.Name || im.Compression != comp {
				t.Errorf("header %d, %s: %+v", header, comp, im)
			}
			names, err := im.Kernels()
			if want := []string{"_Z6kernelPi", "second"}; err != nil || !slices.Equal(names, want) {
				t.Errorf("kernels %q, %v", names, err)
			}
		}
	}
}

// PTX text is accepted where a region is expected, since that is what heddle nvcc writes. The linker
// pads it with zeros.
func TestText(t *testing.T) {
	first, second := ptxText("8.3", 90, "a"), ptxText("8.3", 80, "b")
	region := fatbintest.Region(t, fatbintest.Image{Kind: 1, Arch: 70, Header: 64, Data: ptxText("7.0", 70, "c")})
	f := &File{}
	if err := f.regions(slices.Concat(first, make([]byte, 5), region, second, make([]byte, 1))); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, im := range f.Images {
		names, err := im.Kernels()
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%d %d %s sm_%d %v", im.Number, im.Region, im.Kind, im.Arch, names))
	}
	want := []string{"1 1 ptx sm_90 [a]", "2 2 ptx sm_70 [c]", "3 3 ptx sm_80 [b]"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Reading any sequence of regions and images returns them in order.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var content []byte
		var want []fatbintest.Image
		var regions []int
		for n := range rapid.IntRange(1, 4).Draw(r, "regions") {
			var images []fatbintest.Image
			for range rapid.IntRange(0, 4).Draw(r, "images") {
				s := fatbintest.Image{
					Kind: 1, Arch: rapid.Uint32Range(30, 130).Draw(r, "arch"),
					Header: rapid.SampledFrom([]uint32{64, 80, 112}).Draw(r, "header"),
					Comp:   rapid.SampledFrom([]string{"none", "lz4", "zstd"}).Draw(r, "comp"),
					Data: append(bytes.Repeat([]byte("mov.u32 %r1, %r2; "), 8),
						rapid.SliceOfN(rapid.ByteRange(1, 255), 0, 200).Draw(r, "data")...),
				}
				images, want, regions = append(images, s), append(want, s), append(regions, n)
			}
			content = append(content, fatbintest.Region(t, images...)...)
			content = append(content, make([]byte, rapid.SampledFrom([]int{0, 8, 24, 40}).Draw(r, "gap"))...)
		}
		for _, c := range [][]byte{content,
			fatbintest.ELF(elf.EM_X86_64, fatbintest.Section{Name: ".text", Data: []byte("x")},
				fatbintest.Section{Name: ".nv_fatbin", Data: content})} {
			f, err := Open(c)
			if err != nil {
				r.Fatal(err)
			}
			if len(f.Images) != len(want) {
				r.Fatalf("%d images, want %d", len(f.Images), len(want))
			}
			for i, im := range f.Images {
				got, err := im.Data()
				if err != nil || !bytes.Equal(got, want[i].Data) || uint32(im.Arch) != want[i].Arch {
					r.Fatalf("image %d: %q, %v; want %q", i, got, err, want[i].Data)
				}
				for j := range i {
					if same := regions[i] == regions[j]; same != (im.Region == f.Images[j].Region) {
						r.Fatalf("images %d and %d: regions %d and %d", j+1, i+1, f.Images[j].Region, im.Region)
					}
				}
			}
		}
	})
}

// Select takes, for each region, the newest architecture, then the newest ISA, and other images
// that define a kernel that these lack.
func TestSelect(t *testing.T) {
	img := func(arch uint32, version string, kernels ...string) fatbintest.Image {
		return fatbintest.Image{Kind: 1, Arch: arch, Header: 64, Comp: "lz4",
			Data: ptxText(version, int(arch), kernels...)}
	}
	sass := func(kernels ...string) fatbintest.Image {
		return fatbintest.Image{Kind: 2, Arch: 90, Header: 64, Data: fatbintest.Cubin(kernels...)}
	}
	for _, c := range []struct {
		name    string
		content []byte
		want    []int // numbers of the chosen images
		sass    []string
	}{
		{"one", fatbintest.Region(t, img(80, "8.3", "a")), []int{1}, nil},
		{"newest arch, as a number",
			fatbintest.Region(t, img(90, "7.0", "a"), img(100, "6.9", "a"), img(80, "8.8", "a")), []int{2},
			nil},
		{"newest ISA on a tie, as numbers",
			fatbintest.Region(t, img(80, "8.9", "a"), img(80, "8.10", "a")), []int{2}, nil},
		{"each region for itself", append(fatbintest.Region(t, img(90, "8.0", "a"), img(80, "8.0", "a")),
			fatbintest.Region(t, img(70, "8.0", "a"))...), []int{1, 3}, nil},
		{"an older image with a kernel of its own",
			fatbintest.Region(t, img(70, "8.0", "a", "old"), img(90, "8.0", "a")), []int{1, 2}, nil},
		{"several units of one region", fatbintest.Region(t, img(90, "8.0", "a"), img(90, "8.0", "b")),
			[]int{1, 2}, nil},
		{"SASS of the same kernels", fatbintest.Region(t, sass("a"), img(80, "8.0", "a")), []int{2}, nil},
		{"SASS of others", append(fatbintest.Region(t, sass("a", "b")),
			fatbintest.Region(t, img(80, "8.0", "a"))...), []int{2}, []string{"b"}},
		{"SASS alone", fatbintest.Region(t, sass("a")), nil, []string{"a"}},
		{"cubin", fatbintest.Cubin("a", "b"), nil, []string{"a", "b"}},
		{"no kernel", fatbintest.Region(t, img(80, "8.0")), []int{1}, nil},
	} {
		s, err := open(t, c.content).Select()
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var got []int
		for _, im := range s.Images {
			got = append(got, im.Number)
		}
		if !slices.Equal(got, c.want) || !slices.Equal(s.SASS, c.sass) {
			t.Errorf("%s: images %v, SASS %v; want %v, %v", c.name, got, s.SASS, c.want, c.sass)
		}
	}
	f := open(t, fatbintest.Region(t,
		fatbintest.Image{Kind: 8, Arch: 90, Header: 64, Data: []byte("LTO")}))
	if s, err := f.Select(); err != nil || s.Opaque != 1 || len(s.Images) != 0 {
		t.Errorf("an image of another Kind: %+v, %v", s, err)
	}
}

// Invalid data is an error at its offset, and never a shorter list of images.
func TestBroken(t *testing.T) {
	text := bytes.Repeat(ptxText("8.0", 80, "a"), 4)
	good := fatbintest.Region(t, fatbintest.Image{Kind: 1, Arch: 80, Header: 64, Comp: "lz4",
		Data: text})
	zst := fatbintest.Region(t, fatbintest.Image{Kind: 1, Arch: 80, Header: 64, Comp: "zstd",
		Data: text})
	with := func(b []byte, at int, v []byte) []byte {
		b = bytes.Clone(b)
		copy(b[at:], v)
		return b
	}
	for _, c := range []struct {
		name    string
		content []byte
		want    string
	}{
		{"cut region header", good[:10], "ends inside the header of a region"},
		{"cut region", good[:len(good)-8], "but only"},
		{"region size", with(good, 8, le64(1<<63)), "but only"},
		{"region header", with(good, 6, le16(8)), "has 8 bytes, expected"},
		{"junk between regions", append(bytes.Clone(good), "junk, not a region"...),
			"expected a region with the magic number"},
		{"image header of 8", with(good, 16+4, le32(8)), "has 8 bytes, expected"},
		{"image header too long", with(good, 16+4, le32(1<<31)), "has 2147483648 bytes, expected"},
		{"image too long", with(good, 16+8, le32(1<<31)), "an image has 2147483648 bytes"},
		{"payload too long", with(good, 16+16, le32(1<<30)), "compressed payload"},
		{"two compressions", with(good, 16+40, le64(0xa000)), "both"},
		{"LZ4 bomb", with(good, 16+56, le64(200<<20)), "cannot contain"},
		{"stated size", with(good, 16+56, le64(1<<40)), "exceed the limit"},
		{"LZ4 longer than stated", with(good, 16+56, le64(10)), "lz4"},
		{"LZ4 shorter than stated", with(good, 16+56, le64(uint64(len(text)+1))), "decompression yields"},
		{"LZ4 data", with(good, 16+64, bytes.Repeat([]byte{0xff}, 40)), "lz4"},
		{"zstd longer than stated", with(zst, 16+56, le64(10)),
			"yields 11 bytes, but the header says 10"},
		{"zstd shorter than stated", with(zst, 16+56, le64(1<<20)), "but the header says"},
		{"zstd bomb", with(zst, 16+56, le64(200<<20)), "more than 1000 times as many"},
		{"zstd data", with(zst, 16+64, le64(0)), "zstd"},
		{"ELF", []byte("\x7fELF"), "EOF"},
		{"neither", []byte("hello, world"), "neither"},
		{"archive", []byte("!<arch>\nshort"), "ends inside the header of a member"},
	} {
		f, err := Open(c.content)
		if err == nil {
			_, err = f.Select()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
	}
	var fe *FormatError
	if _, err := Open(with(good, 16+4, le32(8))); !errors.As(err, &fe) || fe.Offset != 20 {
		t.Errorf("offset: %v", err)
	}
}

// An image that cannot be read costs itself alone.
func TestBadImage(t *testing.T) {
	img := func(arch uint32, kernel string) fatbintest.Image {
		return fatbintest.Image{Kind: 1, Arch: arch, Header: 64, Comp: "lz4",
			Data: bytes.Repeat(ptxText("8.0", int(arch), kernel), 4)}
	}
	content := fatbintest.Region(t, img(80, "a"))
	copy(content[16+64:], bytes.Repeat([]byte{0xff}, 40))
	content = append(content, fatbintest.Region(t, img(90, "b"))...)
	s, err := open(t, content).Select()
	if err != nil || len(s.Images) != 1 || s.Images[0].Number != 2 || len(s.Bad) != 1 ||
		s.Bad[0].Image.Number != 1 {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestArchive(t *testing.T) {
	object := fatbintest.ELF(elf.EM_X86_64,
		fatbintest.Section{Name: "__nv_relfatbin",
			Data: fatbintest.Region(t, fatbintest.Image{Kind: 1, Arch: 80, Header: 80, Comp: "zstd",
				Data: ptxText("8.0", 80, "a")})})
	member := func(name string, b []byte) []byte {
		m := append(fmt.Appendf(nil, "%-16s%-12s%-6s%-6s%-8s%-10d`\n", name, "0", "0", "0", "644",
			len(b)), b...)
		return append(m, make([]byte, len(b)%2)...)
	}
	lib := slices.Concat([]byte(archiveMagic), member("/", []byte("odd")), member("a.o/", object),
		member("b.o/", object))
	if n := len(open(t, lib).Images); n != 2 {
		t.Errorf("%d images", n)
	}
	if _, err := Open(slices.Concat([]byte(archiveMagic), member("a.a/", lib[:8]))); err != nil {
		t.Errorf("an archive within an archive is skipped: %v", err)
	}
}

// A real compiler and linker build a program with the section: two units, each with its region.
func TestLinkedByGCC(t *testing.T) {
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("no gcc")
	}
	dir := t.TempDir()
	args := []string{"-o", filepath.Join(dir, "app"), filepath.Join(dir, "main.c")}
	write := func(name string, b []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("main.c", []byte("int main(void) { return 0; }\n"))
	for i, kernel := range []string{"first", "second"} {
		data := fmt.Sprintf("unit%d.fatbin", i)
		write(data, fatbintest.Region(t,
			fatbintest.Image{Kind: 1, Arch: 80, Header: 64, Comp: "lz4", Data: ptxText("8.0", 80, kernel)}))
		unit := fmt.Sprintf("unit%d.s", i)
		write(unit, fmt.Appendf(nil,
			"\t.section .nv_fatbin,\"a\"\n\t.align 8\n\t.incbin \"%s\"\n\t.section .note.GNU-stack,\"\"\n",
			filepath.Join(dir, data)))
		args = append(args, filepath.Join(dir, unit))
	}
	if out, err := exec.Command(gcc, args...).CombinedOutput(); err != nil {
		t.Skipf("gcc: %v\n%s", err, out)
	}
	content, err := os.ReadFile(filepath.Join(dir, "app"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := open(t, content).Select()
	if err != nil || len(s.Images) != 2 {
		t.Fatalf("%+v, %v", s, err)
	}
}

// A program without device code has no images, which is not an error.
func TestNoDeviceCode(t *testing.T) {
	content, err := os.ReadFile(os.Args[0])
	if err != nil || !isELF(content) {
		t.Skip("the test binary is not an ELF file")
	}
	if f := open(t, content); len(f.Images) != 0 {
		t.Errorf("%d images in a Go program", len(f.Images))
	}
}

func FuzzOpen(f *testing.F) {
	text := ptxText("8.0", 80, "a")
	for _, comp := range []Compression{None, LZ4, Zstd} {
		r := fatbintest.Region(f, fatbintest.Image{Kind: 1, Arch: 80, Header: 80, Name: "k.cu",
			Comp: string(comp), Data: text},
			fatbintest.Image{Kind: 2, Arch: 80, Header: 64, Data: fatbintest.Cubin("a")})
		f.Add(r)
		f.Add(fatbintest.ELF(elf.EM_X86_64, fatbintest.Section{Name: ".nv_fatbin", Data: r}))
	}
	f.Add(fatbintest.Cubin("a"))
	f.Add(
		[]byte(archiveMagic + "a.o/            0           0     0     644     4         `\n\x7fELF"))
	f.Fuzz(func(t *testing.T, content []byte) {
		file, err := Open(content)
		if err != nil {
			return
		}
		for _, im := range file.Images {
			data, err := im.Data()
			if err == nil && im.Compression == None && len(data) > len(content) {
				t.Fatalf("%d bytes from a file of %d", len(data), len(content))
			}
			_, _ = im.Kernels()
		}
		s, err := file.Select()
		if err != nil {
			return
		}
		for _, im := range file.Images {
			if im.Kind != PTX {
				continue
			}
			names, _ := im.Kernels()
			for _, n := range names {
				if !slices.ContainsFunc(s.Images, func(c *Image) bool {
					has, _ := c.Kernels()
					return c.Region == im.Region && slices.Contains(has, n)
				}) {
					t.Fatalf("kernel %q of image %d is in none of those chosen", n, im.Number)
				}
			}
		}
	})
}

func le16(v uint16) []byte { return binary.LittleEndian.AppendUint16(nil, v) }
func le32(v uint32) []byte { return binary.LittleEndian.AppendUint32(nil, v) }
func le64(v uint64) []byte { return binary.LittleEndian.AppendUint64(nil, v) }

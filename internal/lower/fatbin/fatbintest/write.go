// Package fatbintest writes fatbins and ELF files for tests. It follows the format that package
// fatbin documents, field by field, and shares no code with the reader, so that a mistake in one of
// them does not cancel itself out.
package fatbintest

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// Image describes one image. The zero values of Header, Name and Comp give the smallest form.
type Image struct {
	Kind   int    // 1 PTX, 2 cubin
	Arch   uint32 // 80 for sm_80
	Header uint32 // bytes: 64, 80 or 112; 0 means 64
	Name   string // needs a header of more than 64 bytes
	Comp   string // "lz4" or "zstd"; anything else means no compression
	Data   []byte // the uncompressed contents
}

// Little-endian numbers.

func le16(v int) []byte    { return binary.LittleEndian.AppendUint16(nil, uint16(v)) }
func le32(v uint32) []byte { return binary.LittleEndian.AppendUint32(nil, v) }
func le64(v uint64) []byte { return binary.LittleEndian.AppendUint64(nil, v) }

// pad appends zeros up to a multiple of to bytes, which is the alignment of payloads and sections.
func pad(b []byte, to int) []byte {
	for len(b)%to != 0 {
		b = append(b, 0)
	}
	return b
}

// write returns one image: header, payload, and padding to 8 bytes. The header has the fields that
// the reader uses; the others are zero, or what CUDA writes. LZ4 payloads are raw blocks, as in
// CUDA, without the frame of the lz4 tool.
func (s Image) write(t testing.TB) []byte {
	t.Helper()
	if s.Header == 0 {
		s.Header = 64
	}
	payload, flags, compressed, uncompressed := bytes.Clone(s.Data), uint64(0x11), uint32(0), uint64(0)
	switch s.Comp {
	case "lz4":
		flags |= 0x2000
		var c lz4.Compressor
		out := make([]byte, lz4.CompressBlockBound(len(s.Data)))
		n, err := c.CompressBlock(s.Data, out)
		if err != nil || n == 0 {
			t.Fatalf("LZ4: %d, %v", n, err)
		}
		payload = out[:n]
	case "zstd":
		flags |= 0x8000
		w, err := zstd.NewWriter(nil)
		if err != nil {
			t.Fatal(err)
		}
		payload = w.EncodeAll(s.Data, nil)
	default:
		payload = append(payload, 0) // PTX is a C string
	}
	if s.Comp == "lz4" || s.Comp == "zstd" {
		compressed, uncompressed = uint32(len(payload)), uint64(len(s.Data))
	}
	payload = pad(payload, 8)
	nameOff := uint32(0)
	if s.Name != "" {
		nameOff = 64
	}
	h := bytes.Join([][]byte{
		le16(s.Kind), le16(0x101), le32(s.Header), le32(uint32(len(payload))), le32(0), // 0
		le32(compressed), le32(0), le16(5), le16(8), le32(s.Arch), // 16
		le32(nameOff), le32(uint32(len(s.Name))), le64(flags), le64(0), // 32
		le64(uncompressed), []byte(s.Name), // 56
	}, nil)
	h = append(h, make([]byte, int(s.Header)-len(h))...)
	return append(h, payload...)
}

// Region returns a region: its header and its images. It fails the test if a payload cannot be
// compressed.
func Region(t testing.TB, images ...Image) []byte {
	t.Helper()
	var body []byte
	for _, s := range images {
		body = append(body, s.write(t)...)
	}
	head := bytes.Join([][]byte{le32(0xBA55ED50), le16(1), le16(16), le64(uint64(len(body)))}, nil)
	return append(head, body...)
}

// Section is a section of an ELF file.
type Section struct {
	Name string // .symtab and .strtab get their types by name
	Data []byte // its contents
}

// ELF returns a little-endian ELF64 file: header, sections, names, section headers. A section
// .symtab is linked to the section before it, which must contain its names. There are no program
// headers, which package fatbin does not read.
func ELF(machine elf.Machine, sections ...Section) []byte {
	names := []byte{0}
	nameAt := func(s string) uint32 {
		at := len(names)
		names = append(append(names, s...), 0)
		return uint32(at)
	}
	// The sizes of the ELF header and of a section header. Section header 0 is empty, as ELF requires.
	const ehsize, shsize = 64, 64
	body := make([]byte, ehsize)
	headers := make([]byte, shsize)
	add := func(name uint32, typ elf.SectionType, data []byte, link, info uint32, entry uint64) {
		body = pad(body, 8)
		headers = append(headers, bytes.Join([][]byte{
			le32(name), le32(uint32(typ)), le64(0), le64(0), le64(uint64(len(body))),
			le64(uint64(len(data))), le32(link), le32(info), le64(8), le64(entry),
		}, nil)...)
		body = append(body, data...)
	}
	for i, s := range sections {
		switch s.Name {
		case ".symtab":
			add(nameAt(s.Name), elf.SHT_SYMTAB, s.Data, uint32(i), 1, 24)
		case ".strtab":
			add(nameAt(s.Name), elf.SHT_STRTAB, s.Data, 0, 0, 0)
		default:
			add(nameAt(s.Name), elf.SHT_PROGBITS, s.Data, 0, 0, 0)
		}
	}
	n := nameAt(".shstrtab")
	add(n, elf.SHT_STRTAB, names, 0, 0, 0)
	body = pad(body, 8)
	copy(body, bytes.Join([][]byte{
		[]byte("\x7fELF\x02\x01\x01"), make([]byte, 9), le16(int(elf.ET_DYN)), le16(int(machine)),
		le32(1),
		le64(0), le64(0), le64(uint64(len(body))), le32(0), le16(ehsize), le16(0), le16(0), le16(shsize),
		le16(len(sections) + 2), le16(len(sections) + 1),
	}, nil))
	return append(body, headers...)
}

// machineCUDA is the e_machine of a cubin (EM_CUDA), which package debug/elf does not define.
const machineCUDA = 190

// Cubin returns an ELF file with the kernels as entry points, and one function that is not an entry
// point, which readers must ignore.
func Cubin(kernels ...string) []byte {
	names := []byte{0}
	// Symbol 0 is empty, as ELF requires.
	symbols := make([]byte, 24)
	for _, k := range append(kernels, "helper") {
		other := byte(0x10) // STO_CUDA_ENTRY
		if k == "helper" {
			other = 0
		}
		symbols = append(symbols, bytes.Join([][]byte{le32(uint32(len(names))),
			{1<<4 | byte(elf.STT_FUNC), other}, le16(1), le64(0), le64(16)}, nil)...)
		names = append(append(names, k...), 0)
	}
	file := ELF(machineCUDA, Section{".strtab", names}, Section{".symtab", symbols})
	file[20] = 126 // e_version: ptxas writes its own version
	return file
}

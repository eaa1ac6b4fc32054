// Package fatbin reads the containers of device code in CUDA programs: fatbins, and ELF files and
// archives with fatbins.
//
// A container is a sequence of regions, one for each translation unit. A region is a header of 16
// bytes and a sequence of images: PTX text or a cubin (an ELF file of SASS), each for one
// architecture, possibly compressed. NVIDIA does not document the format; this is the form that
// CUDA 9 to 13 write:
//
//	region   0  u32 magic 0xBA55ED50
//	         4  u16 version 1
//	         6  u16 header size 16
//	         8  u64 size of the images that follow
//	image    0  u16 kind: 1 PTX, 2 ELF
//	         2  u16 version 0x101
//	         4  u32 header size: 64, 80 or 112
//	         8  u32 size of the payload with its padding
//	        16  u32 size of the compressed payload
//	        28  u32 architecture: 80 for sm_80
//	        32  u32 offset of the name in the header
//	        36  u32 length of the name
//	        40  u64 flags: 0x2000 LZ4 (raw block), 0x8000 zstd
//	        56  u64 size of the payload after decompression
//
// Instead of a region there may be PTX text that ends with a zero byte, which is what heddle nvcc
// writes into a program.
//
// The input is not trusted: every size is checked before it is used, and decompression is bounded.
package fatbin

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"heddle/internal/lazyregexp"
)

// Kind is the kind of the contents of an image.
type Kind uint16

const (
	PTX Kind = 1 // text
	ELF Kind = 2 // a cubin: machine code
)

// String returns the name of the kind in messages.
func (k Kind) String() string {
	switch k {
	case PTX:
		return "ptx"
	case ELF:
		return "cubin"
	}
	return fmt.Sprintf("kind %d", uint16(k))
}

// Compression is the compression of a payload.
type Compression string

const (
	None Compression = "none" // the payload is stored as it is
	LZ4  Compression = "lz4"  // a raw block
	Zstd Compression = "zstd" // a frame
)

// Constants of the format, see the package comment.
const (
	magic        = 0xBA55ED50
	regionHeader = 16
	imageHeader  = 64 // minimum: the fields up to the uncompressed size
	flagLZ4      = 0x2000
	flagZstd     = 0x8000
)

// Image is one image of a container.
type Image struct {
	Number      int         // from 1, in the order of the file
	Region      int         // from 1
	Kind        Kind        // of its contents
	Arch        int         // 80 for sm_80
	Name        string      // given by the compiler, often the source file; may be empty
	Compression Compression // of the payload
	Stored      int         // bytes of the payload in the file, including padding

	payload []byte // compressed, or padded with zeros
	size    uint64 // bytes after decompression; 0 if the payload is not compressed
	file    *File
	data    []byte // decompressed
}

// File is the device code of one file.
type File struct {
	Images []*Image // in the order of the file
	budget int64    // bytes that may still be decompressed
}

// FormatError reports an invalid container.
type FormatError struct {
	Offset int    // in the container, or in the section of the ELF file
	Reason string // what was found and what was expected
}

// Error returns the offset and the reason in one line.
func (e *FormatError) Error() string {
	return fmt.Sprintf("invalid fatbin at byte %d: %s", e.Offset, e.Reason)
}

// Is reports whether a file is an ELF file, an archive or a fatbin, by its first bytes.
func Is(content []byte) bool { return isELF(content) || isArchive(content) || isRegion(content) }

// isRegion reports whether b starts with a region.
func isRegion(b []byte) bool { return len(b) >= 4 && binary.LittleEndian.Uint32(b) == magic }

// Open finds the images of an ELF file (an executable, a shared or relocatable object, a cubin), of
// an archive of these, or of a fatbin. A file without device code has no images. Open does not read
// payloads. It fails if the file is invalid or of another kind.
func Open(content []byte) (*File, error) {
	f := &File{budget: maxTotal}
	return f, f.open(content, 0)
}

// open reads content. depth is 1 for a member of an archive, which cannot itself be an archive.
func (f *File) open(content []byte, depth int) error {
	switch {
	case isRegion(content):
		return f.regions(content)
	case isELF(content):
		return f.elf(content)
	case isArchive(content) && depth == 0:
		return f.archive(content)
	}
	return &FormatError{0, "neither an ELF file nor a fatbin"}
}

// regions reads a sequence of regions, possibly with zeros between them that a linker inserted for
// alignment.
func (f *File) regions(b []byte) error {
	region := 0
	if n := len(f.Images); n > 0 {
		region = f.Images[n-1].Region
	}
	for at := 0; at < len(b); {
		if b[at] == 0 {
			at++
			continue
		}
		rest := b[at:]
		if isText(rest) {
			if len(f.Images) == maxImages {
				return &FormatError{at, fmt.Sprintf("the file has more than %d images", maxImages)}
			}
			text, _, _ := bytes.Cut(rest, []byte{0})
			region++
			f.Images = append(f.Images, &Image{Number: len(f.Images) + 1, Region: region, Kind: PTX,
				Arch: archOf(text), Compression: None, Stored: len(text), payload: text, file: f})
			at += len(text)
			continue
		}
		switch {
		case len(rest) < regionHeader:
			return &FormatError{at, "the file ends inside the header of a region"}
		case !isRegion(rest):
			return &FormatError{at, fmt.Sprintf("expected a region with the magic number %#[2]x, found "+
				"%#[1]x", binary.LittleEndian.Uint32(rest), uint32(magic))}
		}
		header, size := uint64(binary.LittleEndian.Uint16(rest[6:])), binary.LittleEndian.Uint64(rest[8:])
		switch {
		case header < regionHeader:
			return &FormatError{at + 6,
				fmt.Sprintf("the header of a region has %d bytes, expected at least %d", header, regionHeader)}
		case header > uint64(len(rest)) || size > uint64(len(rest))-header:
			return &FormatError{at + 8,
				fmt.Sprintf("a region has %d bytes, but only %d bytes are left", size, len(rest))}
		}
		region++
		if err := f.images(rest[header:header+size], region, at+int(header)); err != nil {
			return err
		}
		at += int(header + size)
	}
	return nil
}

// isText reports whether b starts with PTX: a directive or a comment.
func isText(b []byte) bool {
	return bytes.HasPrefix(b, []byte("//")) || bytes.HasPrefix(b, []byte(".version"))
}

// targetRE matches the architecture of PTX.
var targetRE = lazyregexp.New(`(?m)^\s*\.target\s+sm_(\d+)`)

// archOf returns the architecture of PTX; 0 if the text does not say it.
func archOf(text []byte) int {
	if m := targetRE.FindSubmatch(text); m != nil {
		n, _ := strconv.Atoi(string(m[1]))
		return n
	}
	return 0
}

// maxImages bounds the number of images; real programs have a few thousand.
const maxImages = 1 << 16

// images reads the images of one region. base is the offset of b for messages.
func (f *File) images(b []byte, region, base int) error {
	for at := 0; at < len(b); {
		rest := b[at:]
		if allZero(rest) {
			return nil // padding
		}
		if len(rest) < imageHeader {
			return &FormatError{base + at, "the file ends inside the header of an image"}
		}
		header, stored := uint64(binary.LittleEndian.Uint32(rest[4:])),
			uint64(binary.LittleEndian.Uint32(rest[8:]))
		switch {
		case header < imageHeader || header > uint64(len(rest)):
			return &FormatError{base + at + 4,
				fmt.Sprintf("the header of an image has %d bytes, expected %d to %d", header, imageHeader,
					len(rest))}
		case stored > uint64(len(rest))-header:
			return &FormatError{base + at + 8,
				fmt.Sprintf("an image has %d bytes, but only %d bytes are left", stored,
					uint64(len(rest))-header)}
		case len(f.Images) == maxImages:
			return &FormatError{base + at, fmt.Sprintf("the file has more than %d images", maxImages)}
		}
		im := &Image{
			Number: len(f.Images) + 1, Region: region, Kind: Kind(binary.LittleEndian.Uint16(rest)),
			Arch: int(binary.LittleEndian.Uint32(rest[28:])),
			Name: imageName(rest[:header]), Compression: None, Stored: int(stored),
			payload: rest[header : header+stored], file: f,
		}
		if err := im.compression(rest); err != nil {
			return &FormatError{base + at, err.Error()}
		}
		f.Images = append(f.Images, im)
		at += int(header + stored)
	}
	return nil
}

// compression reads the fields about the compression of the payload.
func (im *Image) compression(header []byte) error {
	flags := binary.LittleEndian.Uint64(header[40:])
	switch {
	case flags&flagLZ4 != 0 && flags&flagZstd != 0:
		return fmt.Errorf("an image has the flags of both LZ4 and zstd (%#x)", flags)
	case flags&flagLZ4 != 0:
		im.Compression = LZ4
	case flags&flagZstd != 0:
		im.Compression = Zstd
	default:
		return nil
	}
	compressed := uint64(binary.LittleEndian.Uint32(header[16:]))
	if compressed > uint64(len(im.payload)) {
		return fmt.Errorf("a compressed payload has %d bytes, but its image has only %d", compressed,
			len(im.payload))
	}
	im.payload = im.payload[:compressed]
	im.size = binary.LittleEndian.Uint64(header[56:])
	return nil
}

// imageName returns the name in a header that is longer than its fields. It returns "" for an
// invalid name, since nothing depends on names.
func imageName(header []byte) string {
	off, n := uint64(binary.LittleEndian.Uint32(header[32:])),
		uint64(binary.LittleEndian.Uint32(header[36:]))
	if off < imageHeader || n == 0 || off+n > uint64(len(header)) {
		return ""
	}
	name := string(bytes.TrimRight(header[off:off+n], "\x00"))
	if strings.ContainsFunc(name, func(c rune) bool { return c < ' ' }) {
		return ""
	}
	return name
}

// allZero reports whether b is padding.
func allZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

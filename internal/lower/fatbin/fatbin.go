// Package fatbin reads the container in which CUDA programs carry their device code, alone or in an ELF file.
//
// A container is a sequence of regions, one for each translation unit. A region is a header of 16 bytes and a
// sequence of images: PTX text or a cubin (an ELF file of SASS), each for one architecture, whole or
// compressed. The format is undocumented; what this package reads is what CUDA 9 to 13 write:
//
//	region  0  u32 magic 0xBA55ED50   4  u16 version 1   6  u16 header size 16   8  u64 size of what follows
//	image   0  u16 kind: 1 PTX, 2 ELF    2  u16 version 0x101    4  u32 header size (64, 80, 112)
//	        8  u32 size of the payload with its padding         16  u32 size of the compressed payload
//	       28  u32 architecture: 80 for sm_80    32, 36  u32 offset and length of the name in the header
//	       40  u64 flags: 0x2000 LZ4 (raw block), 0x8000 zstd   56  u64 size of the payload uncompressed
//
// All of it may be hostile: sizes are checked before they are used, and what is decompressed is bounded.
package fatbin

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
)

// Kind is what an image holds.
type Kind uint16

const (
	PTX Kind = 1
	ELF Kind = 2 // a cubin
)

func (k Kind) String() string {
	switch k {
	case PTX:
		return "ptx"
	case ELF:
		return "cubin"
	}
	return fmt.Sprintf("kind %d", uint16(k))
}

// Compression is how a payload is stored.
type Compression string

const (
	None Compression = "none"
	LZ4  Compression = "lz4"
	Zstd Compression = "zstd"
)

const (
	magic        = 0xBA55ED50
	regionHeader = 16
	imageHeader  = 64 // the least; fields up to the uncompressed size
	flagLZ4      = 0x2000
	flagZstd     = 0x8000
)

// Image is one image of a container.
type Image struct {
	Number      int // from 1, in the order of the file
	Region      int // from 1
	Kind        Kind
	Arch        int    // 80 for sm_80
	Name        string // what the compiler called it, often the source file; may be empty
	Compression Compression
	Stored      int // bytes of the payload in the file, padding included

	payload []byte // compressed, or padded with zeros
	size    uint64 // uncompressed; 0 where the payload is not compressed
	file    *File
	data    []byte // decompressed
}

// File is the device code of one file.
type File struct {
	Images []*Image
	budget int64 // bytes that may still be decompressed
}

// FormatError is a container that is broken.
type FormatError struct {
	Offset int // in the container, or in the section of the ELF file
	Reason string
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("broken fatbin at byte %d: %s", e.Offset, e.Reason)
}

// Is reports whether a file is an ELF file, an archive or a fatbin, by its first bytes.
func Is(content []byte) bool { return isELF(content) || isArchive(content) || isRegion(content) }

func isRegion(b []byte) bool { return len(b) >= 4 && binary.LittleEndian.Uint32(b) == magic }

// Open finds the images of an ELF file (an executable, a shared or relocatable object, a cubin), of an
// archive of those, or of a fatbin. A file without device code has no images. Payloads are not looked at yet.
func Open(content []byte) (*File, error) {
	f := &File{budget: maxTotal}
	return f, f.open(content, 0)
}

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

// regions reads a sequence of regions, with zeros between them where a linker has aligned them.
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
		switch {
		case len(rest) < regionHeader:
			return &FormatError{at, "a region's header is cut off"}
		case !isRegion(rest):
			return &FormatError{at, fmt.Sprintf("no region begins here: magic %#x, want %#x", binary.LittleEndian.Uint32(rest), uint32(magic))}
		}
		header, size := uint64(binary.LittleEndian.Uint16(rest[6:])), binary.LittleEndian.Uint64(rest[8:])
		switch {
		case header < regionHeader:
			return &FormatError{at + 6, fmt.Sprintf("a region's header of %d bytes, want %d", header, regionHeader)}
		case header > uint64(len(rest)) || size > uint64(len(rest))-header:
			return &FormatError{at + 8, fmt.Sprintf("a region of %d bytes, of which %d are there", size, len(rest))}
		}
		region++
		if err := f.images(rest[header:header+size], region, at+int(header)); err != nil {
			return err
		}
		at += int(header + size)
	}
	return nil
}

// maxImages bounds the number of images: real programs have some thousands.
const maxImages = 1 << 16

// images reads the images of one region. base is the region's offset, for messages.
func (f *File) images(b []byte, region, base int) error {
	for at := 0; at < len(b); {
		rest := b[at:]
		if allZero(rest) {
			return nil // padding
		}
		if len(rest) < imageHeader {
			return &FormatError{base + at, "an image's header is cut off"}
		}
		header, stored := uint64(binary.LittleEndian.Uint32(rest[4:])), uint64(binary.LittleEndian.Uint32(rest[8:]))
		switch {
		case header < imageHeader || header > uint64(len(rest)):
			return &FormatError{base + at + 4, fmt.Sprintf("an image's header of %d bytes, want %d to %d", header, imageHeader, len(rest))}
		case stored > uint64(len(rest))-header:
			return &FormatError{base + at + 8, fmt.Sprintf("an image of %d bytes, of which %d are there", stored, uint64(len(rest))-header)}
		case len(f.Images) == maxImages:
			return &FormatError{base + at, fmt.Sprintf("more than %d images", maxImages)}
		}
		im := &Image{
			Number: len(f.Images) + 1, Region: region, Kind: Kind(binary.LittleEndian.Uint16(rest)), Arch: int(binary.LittleEndian.Uint32(rest[28:])),
			Name: imageName(rest[:header]), Compression: None, Stored: int(stored), payload: rest[header : header+stored], file: f,
		}
		if err := im.compression(rest); err != nil {
			return &FormatError{base + at, err.Error()}
		}
		f.Images = append(f.Images, im)
		at += int(header + stored)
	}
	return nil
}

// compression reads the fields that say how the payload is stored.
func (im *Image) compression(header []byte) error {
	flags := binary.LittleEndian.Uint64(header[40:])
	switch {
	case flags&flagLZ4 != 0 && flags&flagZstd != 0:
		return fmt.Errorf("an image that is both LZ4 and zstd (flags %#x)", flags)
	case flags&flagLZ4 != 0:
		im.Compression = LZ4
	case flags&flagZstd != 0:
		im.Compression = Zstd
	default:
		return nil
	}
	compressed := uint64(binary.LittleEndian.Uint32(header[16:]))
	if compressed > uint64(len(im.payload)) {
		return fmt.Errorf("a compressed payload of %d bytes in an image of %d", compressed, len(im.payload))
	}
	im.payload = im.payload[:compressed]
	im.size = binary.LittleEndian.Uint64(header[56:])
	return nil
}

// imageName reads the name that a header longer than its fields may hold. A name that is out of bounds is
// none: nothing depends on it.
func imageName(header []byte) string {
	off, n := uint64(binary.LittleEndian.Uint32(header[32:])), uint64(binary.LittleEndian.Uint32(header[36:]))
	if off < imageHeader || n == 0 || off+n > uint64(len(header)) {
		return ""
	}
	name := string(bytes.TrimRight(header[off:off+n], "\x00"))
	if strings.ContainsFunc(name, func(c rune) bool { return c < ' ' }) {
		return ""
	}
	return name
}

func allZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

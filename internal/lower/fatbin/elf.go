package fatbin

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
)

// machineCUDA is the e_machine of a cubin (EM_CUDA).
const machineCUDA = 190

// sections are the sections in which host compilers store containers: of programs, and of
// relocatable device code.
var sections = []string{".nv_fatbin", "__nv_relfatbin"}

// maxSections bounds the sections that are read: in a malicious file all headers could name the
// same bytes.
const maxSections = 1 << 10

// isELF reports whether b starts an ELF file.
func isELF(b []byte) bool { return bytes.HasPrefix(b, []byte(elf.ELFMAG)) }

// elf reads the containers of an ELF file. A cubin becomes the only image.
func (f *File) elf(content []byte) error {
	e, err := openELF(content)
	if err != nil {
		return err
	}
	if e.Machine == machineCUDA {
		im := &Image{Number: len(f.Images) + 1, Region: len(f.Images) + 1, Kind: ELF, Compression: None,
			Stored: len(content), payload: content, file: f}
		f.Images = append(f.Images, im)
		return nil
	}
	read := 0
	for _, s := range e.Sections {
		if s.Type == elf.SHT_NOBITS || s.Name != sections[0] && s.Name != sections[1] {
			continue
		}
		end := s.Offset + s.FileSize
		switch read++; {
		case read > maxSections:
			return fmt.Errorf("the file has more than %d sections %s", maxSections, s.Name)
		case s.Flags&elf.SHF_COMPRESSED != 0:
			return fmt.Errorf("section %s is compressed, which no loader supports", s.Name)
		case end < s.Offset || end > uint64(len(content)):
			return fmt.Errorf("section %s ends at byte %d, but the file has only %d bytes", s.Name, end,
				len(content))
		}
		if err := f.regions(content[s.Offset:end]); err != nil {
			return fmt.Errorf("section %s: %w", s.Name, err)
		}
	}
	return nil
}

// openELF is elf.NewFile that accepts cubins: ptxas writes its own version into e_version (byte
// 20), which debug/elf rejects.
func openELF(content []byte) (*elf.File, error) {
	const machineAt, versionAt, header = 18, 20, 24
	if len(content) >= header && content[elf.EI_DATA] == byte(elf.ELFDATA2LSB) &&
		binary.LittleEndian.Uint16(content[machineAt:]) == machineCUDA {
		content = bytes.Clone(content)
		content[elf.EI_VERSION] = byte(elf.EV_CURRENT)
		binary.LittleEndian.PutUint32(content[versionAt:], uint32(elf.EV_CURRENT))
	}
	return elf.NewFile(bytes.NewReader(content))
}

// cubinKernels returns the entry points of a cubin: functions marked STO_CUDA_ENTRY.
func cubinKernels(cubin []byte) ([]string, error) {
	const entry = 0x10
	e, err := openELF(cubin)
	if err != nil {
		return nil, err
	}
	symbols, err := e.Symbols()
	if err != nil && err != elf.ErrNoSymbols {
		return nil, err
	}
	var out []string
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Other&entry != 0 {
			out = append(out, s.Name)
		}
	}
	return out, nil
}

// archiveMagic starts an archive.
const archiveMagic = "!<arch>\n"

// isArchive reports whether b starts an archive.
func isArchive(b []byte) bool { return bytes.HasPrefix(b, []byte(archiveMagic)) }

// archive reads the ELF members of a static library: the ar format of System V, with headers of 60
// bytes that contain the size in decimal at byte 48, and members at even offsets. It skips other
// members, such as the symbol table.
func (f *File) archive(b []byte) error {
	const header = 60
	for at := len(archiveMagic); at < len(b); {
		if len(b)-at < header {
			return fmt.Errorf("invalid archive at byte %d: the file ends inside the header of a member", at)
		}
		n, err := strconv.Atoi(strings.TrimSpace(string(b[at+48 : at+58])))
		start := at + header
		if err != nil || n < 0 || n > len(b)-start {
			return fmt.Errorf("invalid archive at byte %d: the size %q of a member is not a number within "+
				"the file", at+48, b[at+48:at+58])
		}
		if member := b[start : start+n]; isELF(member) {
			if err := f.open(member, 1); err != nil {
				return fmt.Errorf("archive member at byte %d: %w", start, err)
			}
		}
		at = start + n + n%2
	}
	return nil
}

package fatbin

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
)

// machineCUDA is e_machine of a cubin (EM_CUDA).
const machineCUDA = 190

// sections are where host compilers put containers: whole programs, and relocatable device code.
var sections = []string{".nv_fatbin", "__nv_relfatbin"}

// maxSections bounds how many are read: headers may all name the same bytes.
const maxSections = 1 << 10

func isELF(b []byte) bool { return bytes.HasPrefix(b, []byte(elf.ELFMAG)) }

// elf reads the containers of an ELF file. A cubin is its own only image.
func (f *File) elf(content []byte) error {
	e, err := openELF(content)
	if err != nil {
		return err
	}
	if e.Machine == machineCUDA {
		im := &Image{Number: len(f.Images) + 1, Region: len(f.Images) + 1, Kind: ELF, Compression: None, Stored: len(content), payload: content, file: f}
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
			return fmt.Errorf("more than %d sections %s", maxSections, s.Name)
		case s.Flags&elf.SHF_COMPRESSED != 0:
			return fmt.Errorf("section %s: compressed, as no section of a loaded program can be", s.Name)
		case end < s.Offset || end > uint64(len(content)):
			return fmt.Errorf("section %s: ends at byte %d of %d", s.Name, end, len(content))
		}
		if err := f.regions(content[s.Offset:end]); err != nil {
			return fmt.Errorf("section %s: %w", s.Name, err)
		}
	}
	return nil
}

// openELF is elf.NewFile for cubins too: ptxas writes versions of its own into e_version (20), which debug/elf
// refuses.
func openELF(content []byte) (*elf.File, error) {
	const machineAt, versionAt, header = 18, 20, 24
	if len(content) >= header && content[elf.EI_DATA] == byte(elf.ELFDATA2LSB) && binary.LittleEndian.Uint16(content[machineAt:]) == machineCUDA {
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

const archiveMagic = "!<arch>\n"

func isArchive(b []byte) bool { return bytes.HasPrefix(b, []byte(archiveMagic)) }

// archive reads the ELF members of a static library (the ar format of System V: a header of 60 bytes, the
// size in decimal at 48, members at even offsets). Others, such as the symbol table, are passed over.
func (f *File) archive(b []byte) error {
	const header = 60
	for at := len(archiveMagic); at < len(b); {
		if len(b)-at < header {
			return fmt.Errorf("broken archive at byte %d: a member's header is cut off", at)
		}
		n, err := strconv.Atoi(strings.TrimSpace(string(b[at+48 : at+58])))
		start := at + header
		if err != nil || n < 0 || n > len(b)-start {
			return fmt.Errorf("broken archive at byte %d: a member's size %q", at+48, b[at+48:at+58])
		}
		if member := b[start : start+n]; isELF(member) {
			if err := f.open(member, 1); err != nil {
				return fmt.Errorf("member at byte %d: %w", start, err)
			}
		}
		at = start + n + n%2
	}
	return nil
}

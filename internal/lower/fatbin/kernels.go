package fatbin

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// Kernels returns the names of the kernels of an image: the .entry directives of PTX, the entry points of a
// cubin.
func (im *Image) Kernels() ([]string, error) {
	data, err := im.Data()
	if err != nil {
		return nil, err
	}
	switch im.Kind {
	case PTX:
		return ptxKernels(data), nil
	case ELF:
		names, err := cubinKernels(data)
		if err != nil {
			return nil, im.errorf("%v", err)
		}
		return names, nil
	}
	return nil, nil
}

// ptxKernels finds the names that follow .entry, outside comments and strings.
func ptxKernels(text []byte) []string {
	var out []string
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '/' && bytes.HasPrefix(text[i:], []byte("//")):
			i += lengthTo(text[i:], "\n")
		case c == '/' && bytes.HasPrefix(text[i:], []byte("/*")):
			i += lengthTo(text[i:], "*/")
		case c == '"':
			i += 1 + lengthTo(text[i+1:], `"`)
		case c == '.' && bytes.HasPrefix(text[i:], []byte(".entry")):
			rest := bytes.TrimLeft(text[i+len(".entry"):], " \t\r\n")
			n := 0
			for n < len(rest) && isNameByte(rest[n]) {
				n++
			}
			if n > 0 {
				out = append(out, string(rest[:n]))
			}
			i += len(".entry")
		default:
			i++
		}
	}
	return out
}

// lengthTo is the number of bytes up to and with end; all of b without it.
func lengthTo(b []byte, end string) int {
	if i := bytes.Index(b, []byte(end)); i >= 0 {
		return i + len(end)
	}
	return len(b)
}

func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '$' || c == '%'
}

// isaVersion reads the .version of PTX as 100*major+minor; 0 without.
func isaVersion(text []byte) int {
	_, rest, ok := bytes.Cut(text, []byte(".version"))
	if !ok {
		return 0
	}
	fields := strings.Fields(string(rest[:min(len(rest), 32)]))
	if len(fields) == 0 {
		return 0
	}
	major, minor, _ := strings.Cut(fields[0], ".")
	a, _ := strconv.Atoi(major)
	b, _ := strconv.Atoi(minor)
	return 100*a + b
}

// Selection is the PTX of a file that speaks for all its device code.
type Selection struct {
	Images []*Image
	SASS   []string // kernels that no PTX of the file defines, in order
	Opaque int      // images that are neither PTX nor cubin
}

// Select chooses the PTX to analyse. In each region, which holds one translation unit for several
// architectures, the newest architecture wins, and on a tie the newest ISA. An older image is chosen too if
// it defines a kernel that those chosen lack (code may depend on __CUDA_ARCH__; a region of relocatable code
// may hold several units).
func (f *File) Select() (*Selection, error) {
	s := &Selection{}
	regions := make(map[int][]*Image)
	order := []int{}
	var sass []string
	for _, im := range f.Images {
		switch im.Kind {
		case PTX:
			if regions[im.Region] == nil {
				order = append(order, im.Region)
			}
			regions[im.Region] = append(regions[im.Region], im)
		case ELF:
			names, err := im.Kernels()
			if err != nil {
				return nil, err
			}
			sass = append(sass, names...)
		default:
			s.Opaque++
		}
	}
	have := make(map[string]bool)
	for _, r := range order {
		if err := s.region(regions[r], have); err != nil {
			return nil, err
		}
	}
	for _, name := range sass {
		if !have[name] {
			have[name] = true
			s.SASS = append(s.SASS, name)
		}
	}
	slices.SortFunc(s.Images, func(a, b *Image) int { return a.Number - b.Number })
	return s, nil
}

// region chooses among the PTX images of one region, and notes in have what all chosen ones define.
func (s *Selection) region(images []*Image, have map[string]bool) error {
	versions := make(map[*Image]int, len(images))
	for _, im := range images {
		text, err := im.Data()
		if err != nil {
			return err
		}
		versions[im] = isaVersion(text)
	}
	slices.SortStableFunc(images, func(a, b *Image) int {
		if a.Arch != b.Arch {
			return b.Arch - a.Arch
		}
		return versions[b] - versions[a]
	})
	here := make(map[string]bool)
	for i, im := range images {
		names, err := im.Kernels()
		if err != nil {
			return err
		}
		fresh := i == 0 // the newest one is chosen even without a kernel: that is for the reader of it to say
		for _, n := range names {
			fresh = fresh || !here[n]
			here[n] = true
			have[n] = true
		}
		if fresh {
			s.Images = append(s.Images, im)
		}
	}
	return nil
}

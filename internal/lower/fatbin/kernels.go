package fatbin

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// Kernels returns the names of the kernels of an image, mangled: the .entry directives of PTX, or
// the entry points of a cubin. It fails if the payload is invalid.
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

// ptxKernels returns the names after .entry, outside of comments and strings. It does not parse the
// text, so that invalid PTX is reported later, with its position.
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

// lengthTo returns the number of bytes of b up to and including end; all of them if b does not
// contain end.
func lengthTo(b []byte, end string) int {
	if i := bytes.Index(b, []byte(end)); i >= 0 {
		return i + len(end)
	}
	return len(b)
}

// isNameByte reports whether c can be in a name of PTX.
func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' ||
		c == '$' || c == '%'
}

// isaVersion returns the .version of PTX as 100*major+minor; 0 if there is none.
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

// Selection is the PTX of a file that represents all of its device code.
type Selection struct {
	Images []*Image // PTX, in the order of the file
	SASS   []string // kernels that no PTX of the file defines, in order
	Opaque int      // images that are neither PTX nor cubin
	Bad    []BadImage
}

// BadImage is an image whose payload cannot be read. Its kernels are unknown.
type BadImage struct {
	Image *Image
	Err   error // names the image
}

// Select chooses the PTX to analyse. A region contains one translation unit for several
// architectures. Of these Select takes the newest architecture, and among equal ones the newest PTX
// ISA. It also takes an older image that defines a kernel the chosen ones lack: code can depend on
// __CUDA_ARCH__, and a region of relocatable code can contain several units. It fails if no payload
// can be read.
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
				s.Bad = append(s.Bad, BadImage{im, err})
				continue
			}
			sass = append(sass, names...)
		default:
			s.Opaque++
		}
	}
	have := make(map[string]bool)
	for _, r := range order {
		s.region(regions[r], have)
	}
	if len(s.Bad) > 0 && len(s.Bad)+s.Opaque == len(f.Images) {
		return nil, s.Bad[0].Err
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

// region chooses among the PTX images of one region, and adds all kernels that they define to have.
func (s *Selection) region(all []*Image, have map[string]bool) {
	versions := make(map[*Image]int, len(all))
	var images []*Image
	for _, im := range all {
		text, err := im.Data()
		if err != nil {
			s.Bad = append(s.Bad, BadImage{im, err})
			continue
		}
		versions[im] = isaVersion(text)
		images = append(images, im)
	}
	slices.SortStableFunc(images, func(a, b *Image) int {
		if a.Arch != b.Arch {
			return b.Arch - a.Arch
		}
		return versions[b] - versions[a]
	})
	here := make(map[string]bool)
	for i, im := range images {
		names, _ := im.Kernels() // its data are read
		fresh := i == 0          // the newest is chosen even if it has no kernel: the caller reports that
		for _, n := range names {
			fresh = fresh || !here[n]
			here[n] = true
			have[n] = true
		}
		if fresh {
			s.Images = append(s.Images, im)
		}
	}
}

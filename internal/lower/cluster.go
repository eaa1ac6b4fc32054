package lower

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/ianlancetaylor/demangle"

	"heddle/internal/lazyregexp"
	"heddle/internal/source"
)

// __cluster_dims__ and __block_size__ fix the shape of a launch. clang 19 does not know them, so the
// headers (qualifiers.h) express them as annotations. That of a block becomes one of NVPTX, which
// llc prints as .reqntid; those of clusters are unknown to LLVM 19, and written into the PTX.

var (
	// annotationRE matches one annotation: the function, the name and its arguments.
	annotationRE = lazyregexp.New(
		`\{ ptr @("[^"]*"|[\w.$-]+), ptr @([\w.]+), ptr @[\w.]+, i32 \d+, ptr @([\w.]+) \}`)
	// namedStringRE matches a string constant, and its text.
	namedStringRE = lazyregexp.New(`^@([\w.]+) = .*\bc"(.*)\\00"`)
)

// clusterArch is the oldest architecture with clusters (PTX ISA 11.7). A file with a kernel that
// needs them is compiled for it if the user names no architecture. Files of a program to run are
// not: their host code must be compiled for the same one, and nvcc does not choose one either.
const clusterArch = "sm_90"

// clusterError reports that the architecture has no clusters, and a kernel needs them.
type clusterError struct{ mistake InputError }

func (e *clusterError) Error() string { return e.mistake.Error() }

// Unwrap returns what the user is told.
func (e *clusterError) Unwrap() error { return &e.mistake }

const annotationsOf = "@llvm.global.annotations ="

// fixedShapes replaces these annotations. All others go, since they refer to functions that may not
// be written.
func (b *build) fixedShapes(m *irModule) error {
	var line string
	text, global := map[string]string{}, map[string]string{}
	head := m.head[:0]
	for _, l := range m.head {
		if strings.HasPrefix(l, annotationsOf) {
			line = l
			continue
		}
		if s := namedStringRE.FindStringSubmatch(l); s != nil {
			text[s[1]] = s[2]
		}
		if name, value, ok := strings.Cut(l, " = "); ok && strings.HasPrefix(name, "@") {
			global[name[1:]] = value
		}
		head = append(head, l)
	}
	m.head = head
	next := metaBase - 2000
	b.clusters = map[string][]string{}
	for _, a := range annotationRE.FindAllStringSubmatch(line, -1) {
		f := m.function(strings.Trim(a[1], `"`))
		if f == nil || !f.kernel {
			continue
		}
		var dims []string
		for _, s := range i32RE.FindAllStringSubmatch(global[a[3]], -1) {
			dims = append(dims, s[1])
		}
		switch text[a[2]] {
		case "heddle.cluster":
			if n := archNumber(b.arch()); n < 90 {
				return &clusterError{InputError{File: b.name, Reason: fmt.Sprintf("kernel %s has a "+
					"cluster size (__cluster_dims__), which sm_%d does not support: use --arch %s or later",
					source.Unversioned(demangle.Filter(f.name)), n, clusterArch)}}
			}
			b.clusters[f.name] = dims
		case "heddle.block":
			for i, d := range dims {
				next--
				m.annotate(f, fmt.Sprintf("!%d", next), fmt.Sprintf(`!"reqntid%c", i32 %s`, 'x'+i, d))
			}
		}
	}
	return nil
}

// kernelLineRE matches the first line of a kernel.
var kernelLineRE = lazyregexp.New(`^\.(?:visible|weak) \.entry ([\w$]+)\(`)

// writeClusters adds the sizes of clusters to the kernels that have one (PTX ISA 11.7.1, 11.7.2).
func (b *build) writeClusters(text []byte) []byte {
	if len(b.clusters) == 0 {
		return text
	}
	var out bytes.Buffer
	var dims []string // of the kernel whose parameters are being read
	for line := range bytes.Lines(text) {
		if s := kernelLineRE.FindSubmatch(line); s != nil {
			dims = b.clusters[string(s[1])]
		}
		if line[0] == '{' && dims != nil {
			fmt.Fprintf(&out, ".explicitcluster\n.reqnctapercluster %s\n", strings.Join(dims, ", "))
			dims = nil
		}
		out.Write(line)
	}
	return out.Bytes()
}

// function returns the function of that name; nil if the module does not define it.
func (m *irModule) function(name string) *irFunc {
	for _, f := range m.funcs {
		if f.name == name {
			return f
		}
	}
	return nil
}

package lower

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// finishPTX undoes the changes of lowerIR in llc's output: it replaces the numbers of .loc by
// positions with inline stacks (PTX ISA 11.5.4), and removes the volatile marks of accesses that
// are not volatile in the source, or that OpenCL C does not make atomic. It drops debug labels and
// comments. head is the text to put first.
func finishPTX(text []byte, low *lowered, head string, opencl bool) []byte {
	p := &ptxFinisher{locs: low.locs, files: map[string]int{}, names: map[string]int{}, opencl: opencl}
	p.body.Grow(len(text) + len(text)/2)
	for len(text) > 0 {
		var line []byte
		if i := bytes.IndexByte(text, '\n'); i >= 0 {
			line, text = text[:i], text[i+1:]
		} else {
			line, text = text, nil
		}
		p.line(string(line))
	}
	var out bytes.Buffer
	out.WriteString(head)
	out.WriteString(p.header.String())
	for i, f := range p.fileList {
		fmt.Fprintf(&out, ".file %d %s\n", i+1, ptxQuote(f))
	}
	out.WriteByte('\n')
	out.Write(p.body.Bytes())
	p.debugStr(&out)
	return out.Bytes()
}

// ptxFinisher rewrites llc's output line by line.
type ptxFinisher struct {
	locs     []location
	header   strings.Builder // .version .target .address_size
	body     bytes.Buffer
	fileList []string       // files of .loc, in the order of their numbers from 1
	files    map[string]int // the inverse of fileList
	nameList []string       // functions of .loc, in the order of their numbers from 0
	names    map[string]int // the inverse of nameList
	cur      int            // number of the last .loc; 0: none
	last     int            // number whose stack was written last
	asm      bool           // inside inline assembly
	opencl   bool           // the source is OpenCL C
	section  bool           // inside a section that is dropped
}

// line rewrites one line.
func (p *ptxFinisher) line(line string) {
	trim := strings.TrimSpace(line)
	switch {
	case p.asm:
		if trim == "// end inline asm" {
			p.asm = false
			return
		}
		p.write(line)
	case trim == "// begin inline asm":
		p.asm = true
	case p.section:
		p.section = !strings.Contains(trim, "}")
	case isDirective(trim, ".loc"):
		p.loc(trim)
	case isDirective(trim, ".file"):
	case strings.HasPrefix(trim, ".section"):
		p.section = !strings.Contains(trim, "}")
	case strings.HasPrefix(trim, ".version"), strings.HasPrefix(trim, ".target"),
		strings.HasPrefix(trim, ".address_size"):
		target, _, _ := strings.Cut(trim, ", debug")
		p.header.WriteString(target + "\n")
	case isDebugLabel(trim):
	default:
		p.code(line)
	}
}

// code writes an ordinary line without its comment and without a mark.
func (p *ptxFinisher) code(line string) {
	if i := strings.Index(line, "//"); i >= 0 && !strings.Contains(line[:i], `"`) {
		line = line[:i]
	}
	line = strings.TrimRight(line, " \t")
	if line == "" {
		return
	}
	if strings.HasPrefix(line, "}") {
		line += "\n"
		p.cur, p.last = 0, 0 // positions do not carry over from one function to the next
	}
	if strings.Contains(line, ".volatile") {
		line = p.unmark(line)
	}
	if scope := p.locs[p.cur].scope; scope != "" {
		line = rescope(line, scope)
	}
	if strings.HasPrefix(line, ".extern .const ") && strings.Contains(line, " __heddle_") {
		line = strings.Replace(line, ".extern", ".visible", 1) // OpenCL has no other way to declare it
	}
	p.write(line)
}

// isDirective reports whether a line starts with the directive name, and not just with a longer
// one: .loc is a prefix of .local.
func isDirective(trim, name string) bool {
	rest, ok := strings.CutPrefix(trim, name)
	return ok && (strings.HasPrefix(rest, " ") || strings.HasPrefix(rest, "\t"))
}

// write writes one line.
func (p *ptxFinisher) write(line string) {
	p.body.WriteString(line)
	p.body.WriteByte('\n')
}

// unmark removes .volatile unless the source has it. An access without a known number was added by
// llc, for example to copy a parameter; it is plain too.
func (p *ptxFinisher) unmark(line string) string {
	trim := strings.TrimSpace(line)
	if !strings.HasPrefix(trim, "ld.volatile") && !strings.HasPrefix(trim, "st.volatile") {
		return line
	}
	switch p.locs[p.cur].kind {
	case keptAccess, otherMemory:
		return line
	case volatileAccess:
		// In OpenCL C a volatile access is not atomic, so that it races with any other (OpenCL 2.0,
		// 3.3.4). In CUDA it is what it is in PTX: relaxed (PTX ISA 8.4.2).
		if !p.opencl {
			return line
		}
	case constantAccess:
		if strings.HasPrefix(trim, "ld.volatile.global.") {
			return strings.Replace(line, "ld.volatile.global.", "ld.global.nc.", 1)
		}
	}
	return strings.Replace(line, ".volatile", "", 1)
}

// loc handles ".loc 1 NUMBER 0": it writes the inline stack of the number unless that is already in
// effect. An instruction without a known stack keeps the previous position, as in any PTX.
func (p *ptxFinisher) loc(trim string) {
	f := strings.Fields(trim)
	p.cur = 0
	if len(f) < 3 {
		return
	}
	id, err := strconv.Atoi(f[2])
	if err != nil || id <= 0 || id >= len(p.locs) {
		return
	}
	p.cur = id
	chain := p.locs[id].chain
	if len(chain) == 0 || p.last != 0 && sameChain(chain, p.locs[p.last].chain) {
		return
	}
	p.last = id
	// The ISA requires that the call site of an inlined function precedes it, so the outermost frame
	// is first.
	for i := len(chain) - 1; i >= 0; i-- {
		c := chain[i]
		fmt.Fprintf(&p.body, "\t.loc %d %d %d", p.file(c.file), c.line, c.col)
		if i+1 < len(chain) {
			up := chain[i+1]
			fmt.Fprintf(&p.body, ", function_name $L__heddle_name%d, inlined_at %d %d %d", p.name(c.fn),
				p.file(up.file), up.line, up.col)
		}
		p.body.WriteByte('\n')
	}
}

// sameChain reports whether two stacks are equal.
func sameChain(a, b []frame) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// file returns the number of a file.
func (p *ptxFinisher) file(name string) int {
	n, ok := p.files[name]
	if !ok {
		p.fileList = append(p.fileList, name)
		n = len(p.fileList)
		p.files[name] = n
	}
	return n
}

// name returns the number of the name of a function.
func (p *ptxFinisher) name(fn string) int {
	n, ok := p.names[fn]
	if !ok {
		n = len(p.nameList)
		p.nameList = append(p.nameList, fn)
		p.names[fn] = n
	}
	return n
}

// debugStr writes the section with the names that function_name refers to (PTX ISA 11.5.2, 11.5.4).
func (p *ptxFinisher) debugStr(out *bytes.Buffer) {
	if len(p.nameList) == 0 {
		return
	}
	out.WriteString("\n.section .debug_str\n{\n")
	for i, n := range p.nameList {
		fmt.Fprintf(out, "$L__heddle_name%d:\n", i)
		out.WriteString("\t.b8 ")
		for j := range len(n) {
			fmt.Fprintf(out, "%d, ", n[j])
		}
		out.WriteString("0\n")
	}
	out.WriteString("}\n")
}

// isDebugLabel reports whether a line is a label that only DWARF sections refer to, which are
// dropped. Labels of the code have other prefixes, such as $L__BB.
func isDebugLabel(trim string) bool {
	name := strings.TrimPrefix(strings.TrimPrefix(trim, "$L__"), "L") // $L__ since LLVM 15
	return strings.HasSuffix(trim, ":") && len(name) < len(trim) &&
		(strings.HasPrefix(name, "tmp") || strings.HasPrefix(name, "func_begin") ||
			strings.HasPrefix(name, "func_end"))
}

// ptxQuote quotes a string for PTX, with the escapes of C.
func ptxQuote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

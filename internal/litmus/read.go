package litmus

import (
	"fmt"
	"strings"

	"heddle/internal/memmodel"
)

// maxSize bounds the text of a test; nobody writes one of this size.
const maxSize = 1 << 20

// reader reads one test.
type reader struct {
	lexer
	tok     token
	test    *Test
	locs    map[string]int
	aliases map[string]string // a name that stands for another, and how
	ids     []int             // thread numbers of the columns
	regs    []map[string]int
	labels  []map[string]int
	jumps   []jump
}

// jump is a use of a label.
type jump struct {
	thread, inst int
	label        string
	pos          Pos
}

// Read reads a test. file is the name for messages. The error is an *Error.
func Read(file, text string) (t *Test, err error) {
	r := &reader{lexer: lexer{file: file, text: text, pos: Pos{1, 1}}, test: &Test{},
		locs: map[string]int{}, aliases: map[string]string{}}
	defer func() {
		switch p := recover().(type) {
		case nil:
		case *Error:
			t, err = nil, p
		default:
			panic(p)
		}
	}()
	if len(text) > maxSize {
		r.fail(r.pos, "the test has %d bytes; at most %d are read", len(text), maxSize)
	}
	r.header()
	r.positions()
	r.declarations()
	r.columns()
	r.resolve()
	r.condition()
	return r.test, nil
}

// unsupported ends reading at a construct outside of the fragment.
func (r *reader) unsupported(pos Pos, format string, args ...any) {
	panic(&Error{r.file, pos, fmt.Sprintf(format, args...), true})
}

// advance reads the next token and returns the current one.
func (r *reader) advance() token {
	t := r.tok
	r.tok = r.next()
	return t
}

// accept advances if the current token has this text.
func (r *reader) accept(text string) bool {
	if r.tok.kind == end || r.tok.text != text {
		return false
	}
	r.advance()
	return true
}

// expect advances over a token with this text.
func (r *reader) expect(text string) {
	if !r.accept(text) {
		r.fail(r.tok.pos, "expected %q, found %v", text, r.tok)
	}
}

// name advances over a word.
func (r *reader) name(what string) token {
	if r.tok.kind != word {
		r.fail(r.tok.pos, "expected %s, found %v", what, r.tok)
	}
	return r.advance()
}

// integer advances over a number with an optional sign.
func (r *reader) integer(what string) int64 {
	minus := r.accept("-")
	if r.tok.kind != number {
		r.fail(r.tok.pos, "expected %s, found %v", what, r.tok)
	}
	v := r.advance().value
	if minus {
		return -v
	}
	return v
}

// small advances over a number that identifies something.
func (r *reader) small(what string) int {
	pos := r.tok.pos
	v := r.integer(what)
	if v < 0 || v >= 1<<16 {
		r.fail(pos, "expected %s from 0 to 65535, found %d", what, v)
	}
	return int(v)
}

// header reads what precedes the declarations: the architecture, the name, quoted text, and lines
// KEY=VALUE.
func (r *reader) header() {
	r.space()
	pos := r.pos
	arch, name, _ := strings.Cut(strings.TrimRight(r.line(), "\r"), " ")
	if !strings.EqualFold(arch, "PTX") {
		r.fail(pos, "expected PTX and the name of the test, found %q", arch)
	}
	r.test.Name = strings.TrimSpace(name)
	var doc []string
	for {
		r.space()
		switch {
		case r.at == len(r.text):
			r.fail(r.pos, "expected { and the declarations, found the end of the file")
		case r.text[r.at] == '{':
			r.test.Doc = strings.Join(doc, "\n")
			return
		case r.text[r.at] == '"':
			doc = append(doc, r.quoted())
		default:
			r.property()
		}
	}
}

// line returns the rest of the line and moves behind it.
func (r *reader) line() string {
	rest := r.text[r.at:]
	n := strings.IndexByte(rest, '\n')
	if n < 0 {
		n = len(rest)
	}
	r.skip(n)
	return rest[:n]
}

// quoted reads text between quotes.
func (r *reader) quoted() string {
	n := strings.IndexByte(r.text[r.at+1:], '"')
	if n < 0 { // the end of a text with quotes inside
		r.skip(1)
		return ""
	}
	text := r.text[r.at+1 : r.at+1+n]
	r.skip(n + 2)
	return strings.TrimSpace(text)
}

// property reads a line KEY=VALUE. What other tools write there is left alone.
func (r *reader) property() {
	pos := r.pos
	key, value, _ := strings.Cut(strings.TrimSpace(r.line()), "=")
	set := map[string]struct {
		to    *string
		words []string
	}{
		"Expect": {&r.test.Expect.Verdict, []string{"Ok", "No"}},
		"Race":   {&r.test.Expect.Race, []string{"yes", "no"}},
		"Hang":   {&r.test.Expect.Hang, []string{"yes", "no"}},
	}
	p, ours := set[key]
	if !ours {
		return
	}
	if value != p.words[0] && value != p.words[1] {
		r.fail(pos, "%s=%s: expected %s or %s", key, value, p.words[0], p.words[1])
	}
	*p.to = value
}

// positions looks ahead for the line of threads, since declarations name threads.
func (r *reader) positions() {
	start := r.lexer
	for r.advance(); r.tok.kind != end && r.tok.text != "}"; {
		r.advance()
	}
	r.expect("}")
	r.accept(";")
	for {
		r.position()
		if !r.accept("|") {
			break
		}
	}
	r.expect(";")
	r.lexer = start
	r.advance()
}

// position reads the place of one thread: P0@cta 0,gpu 0, with a cluster between them if the test
// has clusters.
func (r *reader) position() {
	pos := r.tok.pos
	id := r.threadID()
	for _, other := range r.ids {
		if other == id {
			r.fail(pos, "P%d has two columns", id)
		}
	}
	r.expect("@")
	var p memmodel.Position
	r.expect("cta")
	p.CTA = r.small("the number of a CTA")
	p.Cluster = p.CTA
	r.expect(",")
	if r.accept("cluster") {
		p.Cluster = r.small("the number of a cluster")
		r.expect(",")
	}
	r.expect("gpu")
	p.GPU = r.small("the number of a device")
	r.ids = append(r.ids, id)
	r.test.Threads = append(r.test.Threads, Thread{Name: threadName(id), Position: p})
	r.regs = append(r.regs, map[string]int{})
	r.labels = append(r.labels, map[string]int{})
}

// threadID reads P0 or 0.
func (r *reader) threadID() int {
	if r.tok.kind == number {
		return r.small("the number of a thread")
	}
	t := r.name("a thread")
	id := 0
	if _, err := fmt.Sscanf(t.text, "P%d", &id); err != nil || fmt.Sprintf("P%d", id) != t.text {
		r.fail(t.pos, "expected a thread such as P0, found %v", t)
	}
	return id
}

// thread reads a thread and returns its column.
func (r *reader) thread() int {
	pos := r.tok.pos
	id := r.threadID()
	for i, other := range r.ids {
		if other == id {
			return i
		}
	}
	r.fail(pos, "there is no thread P%d", id)
	return 0
}

// declarations reads the initial state.
func (r *reader) declarations() {
	r.expect("{")
	for !r.accept("}") {
		if !r.accept(";") {
			r.declaration()
		}
	}
	r.accept(";")
}

// declaration reads one initial value, or a name for another location.
func (r *reader) declaration() {
	if r.tok.kind == number || r.colonFollows() {
		th := r.thread()
		r.expect(":")
		reg := r.name("a register")
		r.expect("=")
		if r.tok.text == "&" || r.tok.kind == word {
			r.unsupported(r.tok.pos, "the address of a location in register %s", reg.text)
		}
		r.test.Threads[th].Regs[r.register(th, reg)].Value = r.integer("a value")
		return
	}
	loc := r.name("a location")
	if r.accept("@") {
		proxy := r.name("a proxy")
		r.expect("aliases")
		r.aliases[loc.text] = fmt.Sprintf("a %s alias of %s", proxy.text, r.name("a location").text)
		return
	}
	r.expect("=")
	if r.tok.text == "&" || r.tok.kind == word {
		r.unsupported(r.tok.pos, "the address of a location in %s", loc.text)
	}
	r.test.Locations[r.location(loc)].Value = r.integer("a value")
}

// colonFollows reports whether the text behind the current token starts with a colon.
func (r *reader) colonFollows() bool {
	return strings.HasPrefix(strings.TrimLeft(r.text[r.at:], " \t"), ":")
}

// location returns the number of a location, which is declared by its first use.
func (r *reader) location(t token) int {
	if how, ok := r.aliases[t.text]; ok {
		r.unsupported(t.pos, "%s is %s; heddle explores one proxy and no aliases", t.text, how)
	}
	i, ok := r.locs[t.text]
	if !ok {
		i = len(r.test.Locations)
		r.locs[t.text] = i
		r.test.Locations = append(r.test.Locations, Location{Name: t.text})
	}
	return i
}

// isRegister reports whether a word names a register: r and digits.
func isRegister(s string) bool {
	return len(s) > 1 && s[0] == 'r' && strings.Trim(s[1:], "0123456789") == ""
}

// register returns the number of a register of a thread, which its first use declares.
func (r *reader) register(th int, t token) int {
	if !isRegister(t.text) {
		r.fail(t.pos, "expected a register such as r0, found %v", t)
	}
	i, ok := r.regs[th][t.text]
	if !ok {
		i = len(r.test.Threads[th].Regs)
		r.regs[th][t.text] = i
		r.test.Threads[th].Regs = append(r.test.Threads[th].Regs, Register{Name: t.text})
	}
	return i
}

// columns reads the rows of instructions, each with one for each thread, until the condition.
func (r *reader) columns() {
	for { // the line of threads was read before
		if r.advance().text == ";" {
			break
		}
	}
	for !r.atCondition() {
		for th := range r.test.Threads {
			if th > 0 {
				r.expect("|")
			}
			r.instruction(th)
		}
		r.expect(";")
	}
}

// atCondition reports whether the next token starts what follows the program.
func (r *reader) atCondition() bool {
	switch r.tok.text {
	case "exists", "forall", "~", "not", "locations", "filter", "final":
		return true
	}
	return r.tok.kind == end
}

// resolve finds the instructions that labels name.
func (r *reader) resolve() {
	for _, j := range r.jumps {
		at, ok := r.labels[j.thread][j.label]
		if !ok {
			r.fail(j.pos, "P%d has no label %s", r.ids[j.thread], j.label)
		}
		r.test.Threads[j.thread].Code[j.inst].Target = at
	}
}

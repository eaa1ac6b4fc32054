package launch

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"heddle/internal/testing/long"
)

// Random host programs against their execution. What heddle says about the launches of a program
// must hold for those that the compiled program makes: each is an instance of one that heddle
// lists, but for facts of which it says that they may depend on something that it does not follow.

// A hostGen writes a random program, whose launches are written as @grid;block;p;q;n@.
type hostGen struct {
	r      *rand.Rand
	b      strings.Builder
	depth  int
	names  int
	scopes [][]hostVar
	funcs  []hostSig
	loops  int  // around the statement
	plain  bool // only what heddle follows completely
	inFunc bool
}

// A hostVar is a variable of a random program: 'i' for an int, 'h' for a smaller integer, 'p' for a
// pointer, 's' for a struct, 'a' for an array of numbers, 'c' for a constant number.
type hostVar struct {
	name string
	kind byte
}

// A hostSig is a function of a random program, with the kinds of its parameters: 'i', 'r' for a
// reference to a number, 'p', 'R' for a reference to a pointer, 'A' for a pointer to a number.
type hostSig struct {
	name   string
	params string
	value  bool // it returns a number
}

func (g *hostGen) fresh(prefix string) string {
	g.names++
	return fmt.Sprint(prefix, g.names)
}

func (g *hostGen) printf(format string, args ...any) { fmt.Fprintf(&g.b, format, args...) }

func (g *hostGen) declare(name string, kind byte) {
	top := len(g.scopes) - 1
	g.scopes[top] = append(g.scopes[top], hostVar{name, kind})
}

// pick returns a visible variable of one of the kinds; empty if there is none.
func (g *hostGen) pick(kinds string) string {
	var list []string
	hidden := make(map[string]bool)
	for s := len(g.scopes) - 1; s >= 0; s-- {
		for k := len(g.scopes[s]) - 1; k >= 0; k-- {
			v := g.scopes[s][k]
			if !hidden[v.name] && strings.IndexByte(kinds, v.kind) >= 0 {
				list = append(list, v.name)
			}
			hidden[v.name] = true
		}
	}
	if len(list) == 0 {
		return ""
	}
	return list[g.r.IntN(len(list))]
}

// outer returns a number that a declaration in the innermost scope would hide; empty if there is
// none.
func (g *hostGen) outer() string {
	here := g.scopes[len(g.scopes)-1]
	g.scopes[len(g.scopes)-1] = nil
	name := g.pick("i")
	g.scopes[len(g.scopes)-1] = here
	for _, v := range here {
		if v.name == name {
			return ""
		}
	}
	if strings.HasPrefix(name, "*") || strings.HasPrefix(name, "k") {
		return ""
	}
	return name
}

// expr writes a number without side effects that is small.
func (g *hostGen) expr(depth int) string {
	if depth > 0 && g.r.IntN(2) == 0 {
		a, b := g.expr(depth-1), g.expr(depth-1)
		switch g.r.IntN(10) {
		case 0, 1, 2:
			return "(" + a + " + " + b + ")"
		case 3:
			return "(" + a + " - " + b + ")"
		case 4:
			return "(" + a + " & 31)"
		case 5:
			return "(" + a + " * 2 % 61)"
		case 6:
			return "(" + g.cond() + " ? " + a + " : " + b + ")"
		case 7:
			return "(" + a + " / 2)"
		case 8:
			return "(int)(unsigned char)" + a
		default:
			return "((" + a + " ^ " + b + ") & 63)"
		}
	}
	switch g.r.IntN(8) {
	case 0, 1:
		return strconv.Itoa(g.r.IntN(9))
	case 2, 3:
		if p := g.part(); p != "" {
			return p
		}
	}
	if v := g.pick("ich"); v != "" {
		return v
	}
	return strconv.Itoa(g.r.IntN(9))
}

func (g *hostGen) cond() string {
	op := []string{"<", ">", "==", "!=", "<=", ">="}[g.r.IntN(6)]
	c := g.expr(0) + " " + op + " " + g.expr(1)
	if g.r.IntN(6) == 0 {
		c = "(" + c + []string{" && ", " || "}[g.r.IntN(2)] + g.expr(0) + " < 4)"
	}
	return c
}

// part writes a member of a struct or an element of an array; empty if there is none.
func (g *hostGen) part() string {
	if g.r.IntN(2) == 0 {
		if s := g.pick("s"); s != "" {
			return s + ".n"
		}
	} else if a := g.pick("a"); a != "" {
		return fmt.Sprintf("%s[%d]", a, g.r.IntN(3))
	}
	return ""
}

// place writes a number that can be assigned.
func (g *hostGen) place() string {
	switch g.r.IntN(6) {
	case 0, 1:
		if p := g.part(); p != "" {
			return p
		}
	}
	return g.pick("ih")
}

// pointer writes a pointer to memory of the device.
func (g *hostGen) pointer() string {
	switch g.r.IntN(7) {
	case 0:
		if s := g.pick("s"); s != "" {
			return s + ".p"
		}
	case 1:
		return g.pick("p") + " + " + strconv.Itoa(g.r.IntN(3))
	case 2:
		return "(" + g.cond() + " ? " + g.pick("p") + " : " + g.pick("p") + ")"
	}
	return g.pick("p")
}

func (g *hostGen) launch() {
	g.printf("@%s;%s;%s;%s;%s@;\n", g.expr(1), g.expr(1), g.pointer(), g.pointer(), g.expr(1))
}

func (g *hostGen) block(n int) {
	g.scopes = append(g.scopes, nil)
	g.printf("{\n")
	for range n {
		g.statement()
	}
	g.printf("}\n")
	g.scopes = g.scopes[:len(g.scopes)-1]
}

// body writes a statement that is part of another.
func (g *hostGen) body() {
	if g.r.IntN(3) == 0 {
		g.scopes = append(g.scopes, nil)
		g.simple()
		g.scopes = g.scopes[:len(g.scopes)-1]
		return
	}
	g.block(1 + g.r.IntN(3))
}

// simple writes a statement that declares nothing.
func (g *hostGen) simple() {
	switch g.r.IntN(12) {
	case 0, 1, 2:
		g.printf("%s = %s;\n", g.place(), g.expr(2))
	case 3:
		g.printf("%s %s %s;\n", g.place(), []string{"+=", "-=", "^="}[g.r.IntN(3)], g.expr(1))
	case 4:
		v, op := g.pick("ih"), []string{"++", "--"}[g.r.IntN(2)]
		if v[0] == '*' {
			v = "(" + v + ")"
			if g.plain {
				op = " += 1"
				v = v[1 : len(v)-1]
			}
		}
		g.printf("%s%s;\n", v, op)
	case 5:
		g.printf("%s = %s;\n", g.pick("p"), g.pointer())
	case 6:
		if s := g.pick("s"); s != "" {
			g.printf("%s.p = %s;\n", s, g.pointer())
			return
		}
		g.printf("std::swap(%s, %s);\n", g.pick("p"), g.pick("p"))
	case 7:
		g.printf("cudaMalloc(&%s, 4096);\n", g.pick("p"))
	case 8:
		g.call()
	default:
		g.launch()
	}
}

func (g *hostGen) call() {
	if len(g.funcs) == 0 {
		g.launch()
		return
	}
	f := g.funcs[g.r.IntN(len(g.funcs))]
	var args []string
	for _, p := range f.params {
		switch p {
		case 'i':
			args = append(args, g.expr(1))
		case 'r':
			args = append(args, g.pick("i"))
		case 'p':
			args = append(args, g.pointer())
		case 'R':
			args = append(args, g.pick("p"))
		case 'A':
			args = append(args, "&"+g.pick("i"))
		}
	}
	text := f.name + "(" + strings.Join(args, ", ") + ")"
	if f.value && g.r.IntN(2) == 0 {
		text = g.pick("i") + " = " + text
	}
	g.printf("%s;\n", text)
}

// valueCall writes a call that has a value; empty if there is no function.
func (g *hostGen) valueCall() string {
	if len(g.funcs) == 0 {
		return ""
	}
	f := g.funcs[g.r.IntN(len(g.funcs))]
	if strings.ContainsAny(f.params, "rRA") {
		return ""
	}
	var args []string
	for _, p := range f.params {
		if p == 'i' {
			args = append(args, g.expr(1))
		} else {
			args = append(args, g.pointer())
		}
	}
	return f.name + "(" + strings.Join(args, ", ") + ")"
}

// statement writes a random statement.
func (g *hostGen) statement() {
	g.depth++
	defer func() { g.depth-- }()
	if g.depth > 4 {
		g.simple()
		return
	}
	kinds := 31
	if g.plain {
		kinds = 23
	}
	switch g.r.IntN(kinds) {
	case 0, 1, 2, 3, 4:
		g.simple()
	case 5:
		name := g.fresh("n")
		outer := g.outer()
		if outer != "" && g.r.IntN(4) == 0 {
			name = outer
		}
		typ := []string{"int", "int", "unsigned char", "short", "const int"}[g.r.IntN(5)]
		if name == outer {
			typ = "int"
		}
		value := strconv.Itoa(g.r.IntN(300))
		if e := g.expr(2); !strings.Contains(e, name) {
			value = e
		}
		g.printf("%s %s = %s;\n", typ, name, value)
		switch typ {
		case "int":
			g.declare(name, 'i')
		case "const int":
			g.declare(name, 'c')
		default:
			g.declare(name, 'h')
		}
	case 6:
		p, name := g.pointer(), g.fresh("p")
		g.printf("float *%s = %s;\n", name, p)
		g.declare(name, 'p')
	case 7:
		name := g.fresh("s")
		g.printf("S %s = {%s, %s};\n", name, g.expr(1), g.pointer())
		g.declare(name, 's')
	case 8:
		name := g.fresh("a")
		g.printf("int %s[3] = {%s, %d};\n", name, g.expr(1), g.r.IntN(5))
		g.declare(name, 'a')
	case 9, 10:
		g.printf("if (%s) ", g.cond())
		g.body()
		if g.r.IntN(2) == 0 {
			g.printf("else ")
			g.body()
		}
	case 11, 12:
		if g.loops > 1 {
			g.simple()
			return
		}
		g.loops++
		k := g.fresh("k")
		g.scopes = append(g.scopes, []hostVar{{k, 'c'}})
		switch g.r.IntN(3) {
		case 0:
			g.printf("for (int %s = 0; %s < %d; %s++) ", k, k, 1+g.r.IntN(3), k)
			g.body()
		case 1:
			if g.plain {
				g.printf("int %s = 0;\nwhile (%s < %d) {\n%s++;\n", k, k, 1+g.r.IntN(3), k)
				g.statement()
				g.printf("}\n")
			} else {
				g.printf("int %s = 0;\nwhile (%s++ < %d) ", k, k, 1+g.r.IntN(3))
				g.body()
			}
		case 2:
			g.printf("int %s = 0;\ndo ", k)
			g.body()
			if g.plain {
				g.printf("while (%s);\n", g.cond()+" && false")
			} else {
				g.printf("while (++%s < %d);\n", k, 1+g.r.IntN(3))
			}
		}
		g.scopes = g.scopes[:len(g.scopes)-1]
		g.loops--
	case 13:
		g.printf("switch (%s & 3) {\n", g.expr(1))
		for c := range 3 {
			if g.r.IntN(4) == 0 {
				g.printf("default:\n")
				c = 7
			} else {
				g.printf("case %d:\n", c)
			}
			g.block(1 + g.r.IntN(2))
			if g.r.IntN(3) > 0 {
				g.printf("break;\n")
			}
			if c == 7 {
				break
			}
		}
		g.printf("}\n")
	case 14:
		if g.loops > 0 {
			g.printf("if (%s) %s;\n", g.cond(), []string{"break", "continue"}[g.r.IntN(2)])
		} else if !g.inFunc || g.depth > 1 {
			g.simple()
		} else {
			g.printf("if (%s) return 1;\n", g.cond())
		}
	case 15:
		g.call()
	case 16:
		g.block(2)
	case 17:
		if s, t := g.pick("s"), g.pick("s"); s != "" && s != t {
			g.printf("%s = %s;\n", s, t)
		} else {
			g.launch()
		}
	case 18:
		a, b := g.fresh("n"), g.fresh("n")
		g.printf("int %s = %s, %s = %s + 1;\n", a, g.expr(1), b, a)
		g.declare(a, 'i')
		g.declare(b, 'i')
	case 19:
		if f := g.valueCall(); f != "" {
			g.printf("%s = %s + %s;\n", g.pick("i"), f, g.expr(1))
		} else {
			g.simple()
		}
	case 20:
		if g.loops > 0 {
			g.simple()
			return
		}
		g.loops++
		a, b := g.fresh("k"), g.fresh("k")
		g.scopes = append(g.scopes, []hostVar{{a, 'c'}, {b, 'i'}})
		g.printf("for (int %s = 0, %s = %s; %s < %d; %s++, %s += 2) ", a, b, g.expr(0), a, 1+g.r.IntN(3), a, b)
		g.body()
		g.scopes = g.scopes[:len(g.scopes)-1]
		g.loops--
	case 21:
		d := g.fresh("d")
		g.printf("float *%s[2] = {%s, %s};\n%s[%d] = %s;\n", d, g.pointer(), g.pointer(), d, g.r.IntN(2), g.pointer())
		g.printf("@%s;%s;%s[%d];%s[%d];%s@;\n", g.expr(1), g.expr(1), d, g.r.IntN(2), d, g.r.IntN(2), g.expr(1))
	case 22:
		if g.depth == 1 {
			g.printf("static int %s = %d;\n", g.fresh("z"), g.r.IntN(5))
			name := fmt.Sprint("z", g.names)
			g.declare(name, 'i')
			g.printf("%s += %s;\n", name, g.expr(1))
		} else {
			g.simple()
		}
	case 23:
		name := g.fresh("r")
		g.printf("int &%s = %s;\n", name, g.pick("i"))
		g.declare(name, 'i')
	case 24:
		name := g.fresh("q")
		g.printf("int *%s = &%s;\n*%s = %s;\n", name, g.pick("i"), name, g.expr(1))
		for range g.r.IntN(3) {
			g.simple()
		}
		g.printf("*%s += %s;\n", name, g.expr(1))
	case 25:
		name := g.fresh("f")
		g.printf("auto %s = [%s] { %s = %s; };\n", name, "&", g.pick("i"), g.expr(1))
		for range g.r.IntN(3) {
			g.simple()
		}
		g.printf("%s();\n", name)
	case 26:
		name := g.fresh("t")
		g.printf("T %s(%s);\n", name, g.pick("i"))
		for range g.r.IntN(3) {
			g.simple()
		}
		switch g.r.IntN(4) {
		case 0:
			g.printf("%s.add(%s);\n", name, g.expr(1))
		case 1:
			g.printf("%s = %s + 1;\n", g.pick("i"), name)
		case 2:
			g.printf("{ T %s = %s; }\n", g.fresh("t"), name)
		}
	case 27:
		g.printf("try {\n")
		for range 1 + g.r.IntN(2) {
			g.simple()
		}
		g.printf("if (%s) throw 1;\n", g.cond())
		g.simple()
		g.printf("} catch (int) {\n")
		g.simple()
		g.printf("}\n")
	case 28:
		v, w := g.pick("i"), g.pick("i")
		if v != w {
			g.printf("%s = %s%s + 1;\n", v, w, []string{"++", "--"}[g.r.IntN(2)])
		}
	case 29:
		g.printf("%s = %s = %s;\n", g.pick("i"), g.pick("i"), g.expr(1))
	case 30:
		name := g.fresh("r")
		g.printf("float *&%s = %s;\n%s = %s;\n", name, g.pick("p"), name, g.pointer())
		g.declare(name, 'p')
	}
}

// function writes a function with random parameters.
func (g *hostGen) function() {
	f := hostSig{name: g.fresh("run"), value: true}
	const kinds = "iipprRA"
	var params []string
	scope := []hostVar{}
	for range 1 + g.r.IntN(3) {
		k := kinds[g.r.IntN(len(kinds))]
		name := g.fresh("x")
		f.params += string(k)
		switch k {
		case 'i':
			params, scope = append(params, "int "+name), append(scope, hostVar{name, 'i'})
		case 'r':
			params, scope = append(params, "int &"+name), append(scope, hostVar{name, 'i'})
		case 'p':
			params, scope = append(params, "float *"+name), append(scope, hostVar{name, 'p'})
		case 'R':
			params, scope = append(params, "float *&"+name), append(scope, hostVar{name, 'p'})
		case 'A':
			params, scope = append(params, "int *"+name), append(scope, hostVar{"*" + name, 'i'})
		}
	}
	g.printf("int %s(%s) {\n", f.name, strings.Join(params, ", "))
	g.start(scope)
	g.inFunc = true
	for range 2 + g.r.IntN(4) {
		g.statement()
	}
	g.inFunc = false
	g.printf("return %s;\n}\n", g.expr(1))
	g.scopes = g.scopes[:1]
	g.funcs = append(g.funcs, f)
}

// start opens the scope of a function with a number and two pointers.
func (g *hostGen) start(params []hostVar) {
	g.scopes = append(g.scopes, params)
	n, p, q := g.fresh("n"), g.fresh("p"), g.fresh("p")
	g.printf("int %s = %d;\nfloat *%s, *%s;\ncudaMalloc(&%s, 4096);\ncudaMalloc((void **)&%s, 4096);\n", n,
		g.r.IntN(9), p, q, p, q)
	g.declare(n, 'i')
	g.declare(p, 'p')
	g.declare(q, 'p')
}

// program writes a program.
func (g *hostGen) program() string {
	g.scopes = [][]hostVar{nil}
	g.printf("int input();\nstruct S { int n; float *p; };\n")
	if !g.plain {
		g.printf("struct T { int &r; T(int &x) : r(x) { r += 1; } T(const T &t) : r(t.r) { r += 2; }\n" +
			"~T() { r += 3; } void add(int d) { r += d; } operator int() const { r += 1; return r; } };\n")
	}
	for range g.r.IntN(3) {
		name := g.fresh("g")
		g.printf("%sint %s = %d;\n", []string{"", "static "}[g.r.IntN(2)], name, g.r.IntN(9))
		g.declare(name, 'i')
	}
	for range g.r.IntN(3) {
		g.function()
	}
	g.printf("int main() {\n")
	g.start(nil)
	if g.r.IntN(2) == 0 {
		name := g.fresh("n")
		g.printf("int %s = input();\n", name)
		g.declare(name, 'i')
	}
	for range 6 + g.r.IntN(8) {
		g.statement()
	}
	g.launch()
	g.printf("}\n")
	return g.b.String()
}

// A performed is a launch that a compiled program made: its line, grid, block and number, the
// allocations of its pointers and the offsets in them.
type performed struct {
	line                    int
	grid, block, n          int64
	root                    [2]int64
	offset                  [2]int64
	program, input, ordinal int
}

// nativeHead defines what a random program needs to be a program of its own.
const nativeHead = `#include <cstdio>
#include <cstdlib>
#include <utility>
static char *base[100000]; static int bases, launches, steps;
template <class T> void cudaMalloc(T **p, int n) { *p = (T *)(base[bases++ % 100000] = (char *)malloc(n)); }
static void cudaMalloc(void **p, int n) { *p = base[bases++ % 100000] = (char *)malloc(n); }
static void where(const void *p) {
  for (int i = 0; i < bases; i++)
    if ((char *)p >= base[i] && (char *)p < base[i] + 4096) { printf("%d %ld ", i, (char *)p - base[i]); return; }
  printf("-1 0 ");
}
static void record(int line, long grid, long block, const void *p, const void *q, long n) {
  if (++launches > 200) return;
  printf("%d %ld %ld %ld ", line, grid, block, n); where(p); where(q); printf("\n");
}
static int in;
`

// TestRandomHostCode compares what heddle says about the launches of random programs with those
// that the compiled programs make.
func TestRandomHostCode(t *testing.T) {
	compiler, err := osexec.LookPath("c++")
	if err != nil {
		t.Skip("no C++ compiler")
	}
	first, end := 0, 200
	if long.All() {
		end = 10_000
	}
	if s := os.Getenv("HEDDLE_SEEDS"); s != "" {
		if n, err := fmt.Sscanf(s, "%d:%d", &first, &end); n != 2 {
			t.Fatalf("HEDDLE_SEEDS=%s: want FROM:TO: %v", s, err)
		}
	}
	const batch = 20
	checked, known := 0, map[string]int{}
	for ; first < end; first += batch {
		var text strings.Builder
		text.WriteString(nativeHead)
		programs := make(map[int]string)
		for s := first; s < min(first+batch, end); s++ {
			g := &hostGen{r: rand.New(rand.NewPCG(uint64(s), 1)), plain: s%2 == 0}
			programs[s] = g.program()
			fmt.Fprintf(&text, "namespace P%d {\n%sint input() { return in; }\n}\n", s, native(programs[s]))
		}
		text.WriteString("int main(int argc, char **argv) {\nin = atoi(argv[1]);\n")
		for s := first; s < min(first+batch, end); s++ {
			fmt.Fprintf(&text, "printf(\"program %d %%d\\n\", in); bases = launches = 0; P%d::main();\n", s, s)
		}
		text.WriteString("}\n")
		real := execute(t, compiler, text.String())
		for s := first; s < min(first+batch, end); s++ {
			src := "__global__ void k(float *, float *, int);\n" + device(programs[s])
			launches := ScanCUDA(cuda(t, src), nil).Launches
			for _, m := range real[s] {
				checked++
				if why := m.missing(launches, known); why != "" {
					t.Errorf("seed %d, input %d: line %d launches %+v\n%s\n%s", s, m.input, m.line, m, why, src)
					break
				}
			}
		}
	}
	t.Logf("%d launches checked; known are %v", checked, known)
	if known["grid"] < checked/10 || known["pointers"] < checked/10 {
		t.Error("the test shows little")
	}
}

// native returns a program with its launches as calls of record.
func native(text string) string {
	return replaceLaunches(text, func(line int, p []string) string {
		return fmt.Sprintf("record(%d, %s, %s, %s, %s, %s)", line, p[0], p[1], p[2], p[3], p[4])
	})
}

// device returns a program with its launches as CUDA writes them.
func device(text string) string {
	return replaceLaunches(text, func(_ int, p []string) string {
		return fmt.Sprintf("k<<<%s, %s>>>(%s, %s, %s)", p[0], p[1], p[2], p[3], p[4])
	})
}

// replaceLaunches returns a program with its launches as write returns them. Lines count from 2,
// after the declaration of the kernel.
func replaceLaunches(text string, write func(line int, parts []string) string) string {
	var out strings.Builder
	for i, line := range strings.SplitAfter(text, "\n") {
		parts := strings.Split(line, "@")
		for k := 1; k < len(parts); k += 2 {
			parts[k] = write(i+2, strings.Split(parts[k], ";"))
		}
		out.WriteString(strings.Join(parts, ""))
	}
	return out.String()
}

// execute compiles and runs programs, and returns their launches by program.
func execute(t *testing.T, compiler, text string) map[int][]performed {
	t.Helper()
	dir := t.TempDir()
	src, program := filepath.Join(dir, "k.cc"), filepath.Join(dir, "k")
	if err := os.WriteFile(src, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := osexec.Command(compiler, "-std=c++20", "-O0", "-fpermissive", "-fwrapv", "-w", "-o",
		program, src).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, text)
	}
	var all []byte
	for in := range 3 {
		out, err := osexec.Command("timeout", "20", program, strconv.Itoa(in)).Output()
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		all = append(all, out...)
	}
	launches := make(map[int][]performed)
	id, in := 0, 0
	for _, line := range bytes.Split(all, []byte("\n")) {
		if n, _ := fmt.Sscanf(string(line), "program %d %d", &id, &in); n == 2 {
			continue
		}
		m := performed{program: id, input: in, ordinal: len(launches[id])}
		if n, _ := fmt.Sscan(string(line), &m.line, &m.grid, &m.block, &m.n, &m.root[0], &m.offset[0],
			&m.root[1], &m.offset[1]); n == 8 {
			launches[id] = append(launches[id], m)
		}
	}
	return launches
}

// missing says why a launch is no instance of one that heddle lists; empty if it is one. known
// counts the facts that heddle knows.
func (m *performed) missing(launches []HostLaunch, known map[string]int) string {
	why := "no launch is listed"
	for i := range launches {
		l := &launches[i]
		if l.Span.Start.Line() != m.line {
			continue
		}
		text, facts := m.differs(l)
		if text == "" {
			for _, f := range facts {
				known[f]++
			}
			return ""
		}
		why += "\n" + show(*l) + ": " + text
	}
	return why
}

// differs says which fact of a launch that heddle lists excludes m, empty if none does, and which
// facts heddle knows.
func (m *performed) differs(l *HostLaunch) (text string, facts []string) {
	number := func(key string, e *Expr, n int64) {
		c, ok := e.Constant()
		if !ok || l.Doubts[key] != nil {
			return
		}
		facts = append(facts, key)
		if c != n {
			text += fmt.Sprintf(" %s is %d, not %d", key, n, c)
		}
	}
	number("grid", l.Grid[0], m.grid)
	number("block", l.Block[0], m.block)
	number("2", l.Args[2].Value, m.n)
	p, q := l.Args[0].Pointer, l.Args[1].Pointer
	if p == nil || q == nil || p.Unknown || q.Unknown || l.Doubts["0"] != nil || l.Doubts["1"] != nil {
		return text, facts
	}
	facts = append(facts, "pointers")
	a, ok := p.Offset.Constant()
	b, ok2 := q.Offset.Constant()
	switch {
	case (p.Root == q.Root) != (m.root[0] == m.root[1]):
		text += fmt.Sprintf(" the pointers are in allocations %v", m.root)
	case p.Root == q.Root && ok && ok2 && b-a != m.offset[1]-m.offset[0]:
		text += fmt.Sprintf(" the distance is %d, not %d", m.offset[1]-m.offset[0], b-a)
	}
	return text, facts
}

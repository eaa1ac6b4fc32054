package ptx

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
)

// errorTests are texts with their expected errors, each as line:col, the text of its range, and the
// message.
var errorTests = []struct {
	name, text string
	want       []string
}{
	{"no operand", ".entry k() {\n\tmov.u32 %r1, ;\n\tret;\n}\n",
		[]string{`2:15 ";": found ";", expected an operand`}},
	{"no comma", ".entry k() {\n\tld.global.u32 %r1 [%rd1];\n}\n",
		[]string{`2:20 "[": found "[", expected "," or ";"`}},
	{"no comma before a register", ".entry k() {\n\tmov.u32 %r1 %r2;\n}\n",
		[]string{`2:14 "%r2": found "%r2", expected "," or ";"`}},
	{"no semicolon", ".entry k() {\n\tadd.u32 %r1, %r1, 1\n\tbar.sync 0\n\tret\n}\n", []string{
		`3:2 "bar": found "bar", expected "," or ";"`,
		`4:2 "ret": found "ret", expected "," or ";"`,
		`5:1 "}": found "}", expected an operand or ";"`}},
	{"no semicolon without operands",
		".entry k() {\n\ttrap\n\tmov.u32 %r1, 2;\n\t@p ret\n\t@p exit;\n}\n", []string{
			`3:2 "mov": found "mov", expected an operand or ";"`,
			`5:2 "@": found "@", expected an operand or ";"`}},
	{"several errors", ".entry k() {\n\tmov.u32 %r1, 08;\n\tmov.u32 %r1, 0f12;\n\tmov.u32 %r1, 0xfg;\n\tmov.u64 %r1, 99999999999999999999;\n\tmov.u32 %r1, 0b12;\n\tmov.u32 %r1, 0x;\n\tmov.u32 %r1, 12ab;\n\tmov.f64 %r1, 1.2.3;\n}\n", []string{
		`2:15 "08": found "08", expected only digits of base 8`,
		`3:15 "0f12": found "0f12", expected exactly 8 hexadecimal digits`,
		`4:15 "0xfg": found "0xfg", expected only digits of base 16`,
		`5:15 "99999999999999999999": found "99999999999999999999", expected a number of at most 64 bits`,
		`6:15 "0b12": found "0b12", expected only digits of base 2`,
		`7:15 "0x": found "0x", expected digits after the prefix`,
		`8:15 "12ab": found "12ab", expected only digits of base 10`,
		`9:18 ".3": found ".3", expected "," or ";"`}},
	{"open block", ".entry k() {\n\tret;\n", []string{
		`3:1 "": found end of file, expected "}" that closes the block opened at 1:12`}},
	{"open block before a function", ".entry k() {\n\t{ ret;\n}\n.visible .entry m() { ret; }\n",
		[]string{
			`4:1 ".visible": found ".visible", expected "}" that closes the block opened at 1:12`}},
	{"stray brace", ".entry k() { ret; }\n}\n.global .u32 x\n;.globl .u32 y;\n", []string{
		`2:1 "}": found "}", expected a directive`,
		`4:2 ".globl": found ".globl", expected a directive of the module`}},
	{"header", ".entry 5k(.param .u32 x) {\n\tret\n}\n.func f(.reg .u32) { ret; }\n.func g(.u32 x);\n.entry h() .maxtid 5 { ret; }\n", []string{
		`1:8 "5k": found "5k", expected the name of a function`,
		`3:1 "}": found "}", expected an operand or ";"`,
		`4:18 ")": found ")", expected a name`,
		`5:9 ".u32": found ".u32", expected ".param" or ".reg"`,
		`6:12 ".maxtid": found ".maxtid", expected a directive of a function's header, "{" or ";"`}},
	{"no body", ".entry k()", []string{`1:11 "": found end of file, expected "{" or ";" after the header of k`}},
	{"parameters", ".func f(.param .u32 x .param .u32 y);\n.func g(.param .u32 x,);\n", []string{
		`1:23 ".param": found ".param", expected "," or ")" in a parameter list`,
		`2:23 ")": found ")", expected a parameter after ","`}},
	{"variables", ".shared x[4];\n.global .u32 .u64 y;\n.global .u32 a[];\n.global .u32 b[4][];\n.global .u32 c[-1];\n.global .u32 d[n];\n.global .u32 e[1/0];\n.reg .u32 f<0>;\n.reg .u32 g<4>[2];\n.global .align x .u32 h;\n.visible .u32 i;\n.global .u32 j = ;\n.global .u32 k[2] = {1,};\n.global .u32 l[2] = {1;\n.global .u32 m[1.5];\n.global .v8 .b32 n;\n", []string{
		`1:9 "x": found "x", expected a type`,
		`2:14 ".u64": found ".u64", expected a name`,
		`4:19 "]": found "]", expected an operand`,
		`5:16 "-1": found a size that is negative or too large, expected the size of an array as a constant`,
		`6:16 "n": found "n", expected the size of an array as a constant`,
		`7:16 "1/0": found a division by zero, expected the size of an array as a constant`,
		`8:13 "0": found a range of 0 names, expected at least 1`,
		`9:15 "[": found "[", expected "," or ";": a range of names has neither dimensions nor an initialiser`,
		`10:16 "x": found "x", expected an alignment`,
		`11:10 ".u32": found ".u32", expected a state space, ".func" or ".entry"`,
		`12:18 ";": found ";", expected an operand`,
		`13:24 "}": found "}", expected a value after ","`,
		`14:23 ";": found ";", expected "," or "}"`,
		`15:16 "1.5": found "1.5", expected the size of an array as a constant`,
		`16:13 ".b32": found ".b32", expected a name`}},
	{"directives", ".version;\n.target 5\n.address_size 64, 32\n.pragma nounroll;\n.file \"a\" 1\n.file 1 a\n.alias a, b, c;\n.maxntid 5\n.entry k() { .loc 1 2\n ret; .maxntid 5; .branchtargets 5; .callprototype _; x: .callprototype 5; .loc 1 2 3, foo 4\n ret; }\nx: .global .u32 y;\n", []string{
		`1:9 ";": found ";", expected an operand`,
		`2:9 "5": found "5", expected a name`,
		`3:19 "32": found 2 arguments of .address_size, expected at most 1`,
		`4:9 "nounroll": found "nounroll", expected a string`,
		`5:7 "\"a\"": found "\"a\"", expected a file index`,
		`6:9 "a": found "a", expected a file name in quotes`,
		`7:14 "c": found 3 arguments of .alias, expected at most 2`,
		`8:1 ".maxntid": found ".maxntid", expected a directive of the module`,
		`10:2 "ret": found "ret", expected a column`,
		`10:7 ".maxntid": found ".maxntid", expected a directive of a function's body`,
		`10:34 "5": found "5", expected a name`,
		`10:37 ".callprototype": found ".callprototype", expected a label before it`,
		`10:73 "5": found "5", expected "_"`,
		`10:88 "foo": found "foo", expected "function_name" or "inlined_at"`,
		`12:4 ".global": found ".global", expected ".callprototype" after a label outside of functions`}},
	{"operands", ".entry k() {\n@%p;\n@5 ret;\nmov a, [];\nmov a, {b,};\nmov a, [b;\nmov a, (1+;\nmov a, 1 ? 2;\nmov a, (.u64 x;\nmov a, generic();\nmov a, 0xff(b);\nmov a, mask(b);\n%r1;\n, b;\nmov a, @;\n}\n", []string{
		`2:4 ";": found ";", expected an instruction after its guard`,
		`3:2 "5": found "5", expected a predicate register after "@"`,
		`4:8 "[]": found "[]", expected an address in it`,
		`5:11 "}": found "}", expected an operand after ","`,
		`6:10 ";": found ";", expected "," or "]"`,
		`7:11 ";": found ";", expected an operand`,
		`8:13 ";": found ";", expected ":"`,
		`9:14 "x": found "x", expected ")" of the cast`,
		`10:16 ")": found ")", expected an operand`,
		`11:12 "(": found "(", expected "," or ";"`,
		`12:13 "b": found "b", expected an integer mask`,
		`13:1 "%r1": found "%r1", expected an instruction, a label or a directive`,
		`14:1 ",": found ",", expected an instruction, a label or a directive`,
		`15:8 "@": found "@", expected an operand`}},
	{"text", ".file 1 \"open\n.global .u32 x\x01\x02;\n.global .u32 y;\n# define X\n.global .u32 z. ;\n/* open", []string{
		`1:9 "\"open": found a string without a closing quote, expected a file name in quotes`,
		`2:15 "\x01\x02": found stray "\x01\x02", expected "," or ";"`,
		`4:1 "#": found stray "#", expected a directive`,
		`5:15 ".": found ".", expected "," or ";"`,
		`6:1 "/*": found a comment without */, expected a directive`}},
	{"sections", ".section { .b8 1 }\n.section .debug_str { .u8 1 }\n.section a { .b8 }\n.section b { x }\n.section c { .b8 1\n", []string{
		`1:10 "{": found "{", expected the name of a section`,
		`2:23 ".u8": found ".u8", expected data, a label or "}" in a section`,
		`3:18 "}": found "}", expected an operand`,
		`4:14 "x": found "x", expected data, a label or "}" in a section`,
		`6:1 "": found end of file, expected data, a label or "}" in a section`}},
	{"dwarf", "@@DWARF .section 5\n@@DWARF .byte 1\n@@DWARF .section a\n@@DWARF .b8 1\n@@DWARF .section b\n@@DWARF .byte\n", []string{
		`1:18 "5": found "5", expected the name of a section`,
		`2:9 ".byte": found ".byte", expected ".section" before the data of a section`,
		`4:9 ".b8": found ".b8", expected ".byte", ".4byte", ".quad", a label or ".section"`,
		`7:1 "": found end of file, expected data`}},
	{"unknown block", ".struct s {\n\t.reg .u32 a;\n\t{ b; }\n\tc;\n}\n.global .u32 x;\nfoo: { a; b; }\n", []string{
		`1:1 ".struct": found ".struct", expected a directive of the module`,
		`7:6 "{": found "{", expected ".callprototype" after a label outside of functions`}},
	{"attributes", ".global .attribute .u32 x;\n.global .attribute(managed) .u32 x;\n.global .attribute(.unified(x)) .u32 x;\n.entry k(.param .u64 .ptr .ptr x);\n", []string{
		`1:20 ".u32": found ".u32", expected "("`,
		`2:20 "managed": found "managed", expected an attribute`,
		`3:29 "x": found "x", expected an integer`,
		`4:27 ".ptr": found ".ptr", expected a name`}},
}

func TestErrors(t *testing.T) {
	for _, tt := range errorTests {
		t.Run(tt.name, func(t *testing.T) {
			src := newFile(t, "test.ptx", []byte(tt.text))
			f, errs := Parse(src)
			var got []string
			for _, e := range errs {
				start, ok := src.Offset(e.Span.Start)
				end, ok2 := src.Offset(e.Span.End)
				if !ok || !ok2 || start > end {
					t.Fatalf("error %q has the range %v-%v", e.Msg, e.Span.Start, e.Span.End)
				}
				got = append(got, fmt.Sprintf("%v %q: %s", e.Span.Start, tt.text[start:end], e.Msg))
			}
			for i := range max(len(got), len(tt.want)) {
				switch {
				case i >= len(got):
					t.Errorf("no error %s", tt.want[i])
				case i >= len(tt.want):
					t.Errorf("also %s", got[i])
				case got[i] != tt.want[i]:
					t.Errorf("got  %s\nwant %s", got[i], tt.want[i])
				}
			}
			printed(t, f) // what was parsed can be used
			checkPlain(t, f, errs)
		})
	}
}

// TestRecovery checks that the statements around a broken one are in the tree.
func TestRecovery(t *testing.T) {
	text := `
.version 8.0 .target sm_80
.global .u32 good1;
.global .u32 = 5;
.global .u32 good2
.visible .entry k(.param .u32 n) {
	add.u32 a, b, c;
	add.u32 a, [b, c;
	sub.u32 a, b, c
	mul.u32 a, b, c;
	{ div.u32 a, , c; rem.u32 a, b, c; }
	ret;
}
.entry 7() { ret; }
.func last() { exit; }
`
	f, errs := Parse(newFile(t, "test.ptx", []byte(text)))
	if len(errs) != 6 {
		t.Errorf("got %d errors, want 6:\n%s", len(errs), errorList(errs))
	}
	want := `.version 8.0
.target sm_80
.global .u32 good1;
.global .u32 good2;

.visible .entry k(.param .u32 n)
{
	add.u32 a, b, c;
	sub.u32 a, b, c;
	mul.u32 a, b, c;
	{
		rem.u32 a, b, c;
	}
	ret;
}

.func last()
{
	exit;
}
`
	if got := string(printed(t, f)); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestTooManyErrors(t *testing.T) {
	text := ".entry k() {\n" + strings.Repeat("\tadd 1 2;\n", 1000) + "}\n"
	_, errs := Parse(newFile(t, "test.ptx", []byte(text)))
	if len(errs) != maxErrors+1 || errs[maxErrors].Msg != "too many errors" {
		t.Errorf("got %d errors, the last %q", len(errs), errs[len(errs)-1].Msg)
	}
}

// TestHostile checks that malicious texts yield errors, in linear time and without a deep stack.
func TestHostile(t *testing.T) {
	const n = 1 << 20
	junk := make([]byte, n)
	for i := range junk {
		junk[i] = byte(i * i >> 3)
	}
	inst := ".entry k() { mov.u32 a, "
	for name, text := range map[string]string{
		"blocks":     ".entry k() " + strings.Repeat("{", n),
		"balanced":   ".entry k() " + strings.Repeat("{", n) + strings.Repeat("}", n),
		"parens":     inst + strings.Repeat("(", n),
		"brackets":   inst + strings.Repeat("[", n),
		"vectors":    inst + strings.Repeat("{", n),
		"unary":      inst + strings.Repeat("-", n) + "1; }",
		"casts":      inst + strings.Repeat("(.u64)", n) + "1; }",
		"chain":      inst + strings.Repeat("1+", n) + "1; }",
		"ternary":    inst + strings.Repeat("1?1:", n) + "1; }",
		"generic":    inst + strings.Repeat("generic(", n),
		"index":      inst + strings.Repeat("a[", n),
		"climb":      inst + strings.Repeat("1||1&&1|1^1&1==1<1<<1+1*", n) + "1; }",
		"init":       ".global .u32 x[2] = " + strings.Repeat("{", n),
		"lists":      ".global .u32 x[2] = " + strings.Repeat("{1,", n),
		"dims":       ".global .u32 x" + strings.Repeat("[", n),
		"junk":       string(junk),
		"zeros":      strings.Repeat("\x00", n),
		"guards":     ".entry k() { " + strings.Repeat("@", n),
		"quotes":     strings.Repeat("\"", n),
		"stars":      strings.Repeat("/*", n),
		"hashes":     strings.Repeat("#", n),
		"high bytes": strings.Repeat("\xff", n),
		"dwarf":      strings.Repeat("@@DWARF ", n/8),
		"modifiers":  ".entry k() { a" + strings.Repeat(" .b", n),
		"attributes": ".global .attribute(.unified(1" + strings.Repeat(",1", n),
		"one line":   "@@DWARF .section a\n" + strings.Repeat("@@DWARF .byte 1 ", n/8) + ";}",
		"opcode":     ".entry k() { a" + strings.Repeat(".b", n),
		"comments":   strings.Repeat("// heddle\n", n/8) + "x",
		"labels":     ".entry k() { " + strings.Repeat("a: ", n),
		"params":     ".func f(" + strings.Repeat(".param .u32 x,", n/8),
		"names":      ".reg .u32 " + strings.Repeat("x,", n),
		"directives": strings.Repeat(".visible ", n/8),
		"blanks":     ".visible" + strings.Repeat(" \n", n),
		"no end":     strings.Repeat(".entry k() {", n/8),
	} {
		start := time.Now()
		f, errs := Parse(newFile(t, name, []byte(text)))
		if len(errs) == 0 {
			t.Errorf("%s: no error", name)
		}
		printed(t, f)
		if d := time.Since(start); d > 10*time.Second { // all take a few hundred milliseconds
			t.Errorf("%s: %v", name, d)
		}
	}
}

// TestTruncated cuts every test file at every third byte.
func TestTruncated(t *testing.T) {
	for _, name := range testFiles(t) {
		text := readFile(t, name)
		for n := 0; n < len(text); n += 3 {
			f, errs := Parse(newFile(t, name, text[:n]))
			printed(t, f)
			checkPlain(t, f, errs)
		}
	}
}

// TestBrokenBytes replaces bytes of every test file by a few others.
func TestBrokenBytes(t *testing.T) {
	for _, name := range testFiles(t) {
		text := readFile(t, name)
		for i := range text {
			for j, c := range []byte("\x00;{}(\"@.%x,") {
				if (i+3*j)%31 != 0 {
					continue
				}
				broken := bytes.Clone(text)
				broken[i] = c
				f, errs := Parse(newFile(t, name, broken))
				checkPlain(t, f, errs)
				if len(errs) == 0 {
					roundTrip(t, name, f)
				}
			}
		}
	}
}

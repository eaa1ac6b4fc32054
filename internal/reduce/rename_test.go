package reduce

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"heddle/internal/check"
	"heddle/internal/irgen"
	"heddle/internal/launch"
	"heddle/internal/ptx"
	"heddle/internal/source"
)

// loads reports whether heddle's front end accepts a text.
func loads(text []byte) bool {
	files := source.NewSet()
	f, err := files.Add(fileName, text)
	if err != nil {
		return false
	}
	tree, errs := ptx.Parse(f)
	if len(errs) == 0 {
		_, errs = irgen.Module(files, tree)
	}
	return len(errs) == 0
}

// word is a name of PTX, in comments and strings too.
var word = regexp.MustCompile(`[A-Za-z_$%][\w$]*`)

// Each name of an author's own contains "secret". None remains, in whatever place it is.
const named = head + `
// heddle.language cl
// heddle.library /home/secret/lib
// heddle.kernel secretKernel 3 17 /home/secret/secret.cu
// heddle.param secretKernel 0 secretIn ptr ptr
// heddle.param secretKernel 1 secretStruct val %struct.secretType
// heddle.array secretTile 4 64
// heddle: grid=4 block=64 secretIn=zero
.file 1 "/home/secret/secret.cu"
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.extern .func secretExtern(.param .b32 secretArgument);
.extern .shared .align 16 .b8 secretDynamic[];
.global .align 1 .b8 secretText[12] = {115, 101, 99, 114, 101, 116, 32, 37, 50, 100, 10, 0};
.global .u64 secretTable[2] = {secretText, generic(secretText)+8};
.const .u32 secretConst = 7;
.func (.reg .b32 secretResult) secretFunction(.reg .b32 secretParam)
{
	add.s32 secretResult, secretParam, 1;
	ret;
}
.alias secretAlias, secretFunction;

.visible .entry secretKernel(
	.param .u64 .ptr .global .align 4 secretKernel_param_0,
	.param .align 4 .b8 secretKernel_param_1[8])
.maxntid 64, 1, 1
{
	.pragma "secret pragma";
	.reg .pred secretPred, %p<9>;
	.reg .b32 %secret<20>, secretReg;
	.reg .b64 %rd<40>;
	.shared .align 4 .b8 secretTile[256];
	.loc 1 5 3, function_name $secretName, inlined_at 1 9 2
	ld.param.u64 %rd7, [secretKernel_param_0];
	ld.param.u32 %secret12, [secretKernel_param_1+4];
	mov.u32 secretReg, %tid.x;
	setp.eq.u32 secretPred, secretReg, %secret12;
	@!secretPred bra $secretLabel;
	{
		.reg .b32 secretReg;
		.param .b32 secretArg;
		.param .b32 secretBack;
		// heddle: secret
		mov.u32 secretReg, 3;
		st.param.b32 [secretArg], secretReg;
		call secretExtern, (secretArg);
	}
	call (secretReg), secretFunction, (secretReg);
	mov.u64 %rd39, secretTile;
	st.shared.u32 [%rd39+4], secretReg;
	st.global.u32 [%rd7], secretReg;
$secretLabel:
	ret;
}
.section .debug_str
{
$secretName:
	.b8 115, 101, 99, 114, 101, 116, 0
}
`

func TestRename(t *testing.T) {
	c := parse(t, named, Launch{Kernel: "secretKernel",
		Args: args(t, "0=zero:64", "1+0=func:secretFunction")})
	got, names, err := Rename(c)
	if err != nil {
		t.Fatal(err)
	}
	text := string(got.Text)
	if strings.Contains(text, "secret") || strings.Contains(text, "home") ||
		strings.Contains(text, "115") {
		t.Errorf("names are left:\n%s", text)
	}
	if words := strings.Join(got.Launch.Words(), " "); words !=
		"--kernel kernel0 --arg 0=zero:64 --arg 1+0=func:function1" {
		t.Errorf("launch %s", words)
	}
	for _, want := range []string{
		"// heddle.language cl\n",
		"// heddle.kernel kernel0 3 17 file0.cu\n", "// heddle.param kernel0 0 p4 ptr ptr\n",
		"// heddle.param kernel0 1 p5 val i8\n", ".align 4 p4,", "ld.param.u32 %r0, [p5+4]",
		"// heddle.array shared1 4 64\n",
		".file 1 \"file0.cu\"\n", "vprintf", ".extern .func function0",
		// "secret %2d": letters are masked, and the conversion stays
		"global0[12] = {120, 120, 120, 120, 120, 120, 32, 37, 50, 100, 10, 0};",
		"global1[2] = {global0, generic(global0)+8};", "const0 = 7;", ".alias ", ", function1;",
		".maxntid 64, 1, 1\n", ".loc 1 5 3\n", "call function0, (", "mov.u64 %rd1, shared1;",
		".reg .b64 %rd<2>;", "%tid.x", "@!%x",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if !names.Others["secretTile"] || names.Functions["secretFunction"] != "function1" ||
		names.Files["/home/secret/secret.cu"] != "file0.cu" {
		t.Errorf("names %v", names)
	}
	again, _, err := Rename(got)
	if err != nil || string(again.Text) != text {
		t.Errorf("renamed once more (%v):\n%s", err, again.Text)
	}
}

// Texts that are not valid have names in odd places.
func TestRenameInvalid(t *testing.T) {
	c := parse(t, head+`
// heddle.language secret
// heddle.kernel k secret secret a.cu
// heddle.kernel k 1 2 secret dir/secret.secret
// heddle.param k 0 secret secret i8
// heddle.param k 0 secret ptr [4 x secret]
// heddle.param k 7 secret val i32
// heddle.array s 4 secret
// heddle.secret k
.shared .u32 s;
.entry k(.param .u64 a)
{
	mov.u32 secret, %secret;
	mov.u32 %secret, secret;
	mov.u32 x, WARP_SZ;
	mov.u32 x, %tid.x;
	mov.v4.u32 x, %ctaid;
	mov.u32 x, %pm3;
	mov.u64 x, %clock64;
	call secret, (secret);
	add.u32 x, _, secret+4;
	bra secret;
}
`, Launch{})
	got, _, err := Rename(c)
	if err != nil || strings.Contains(string(got.Text), "secret") {
		t.Fatalf("error %v:\n%s", err, got.Text)
	}
	for _, want := range []string{"WARP_SZ;", "%tid.x;", "%ctaid;", "%pm3;", "%clock64;", "_, ",
		"// heddle.param kernel0 0 p0 ptr i8\n"} {
		if !strings.Contains(string(got.Text), want) {
			t.Errorf("no %q in\n%s", want, got.Text)
		}
	}
}

// A name means the same after renaming: an inner register hides an outer one of its name, and
// registers of ranges stay apart.
func TestRenameScopes(t *testing.T) {
	c := parse(t, head+`
.entry k()
{
	.reg .b32 x, %r<5>, %r1_<3>, %r12;
	mov.u32 x, 1;
	mov.u32 %r4, x;
	mov.u32 %r1_2, x;
	mov.u32 %r12, x;
	{
		.reg .b32 x, %r<9>;
		mov.u32 x, 2;
		mov.u32 %r4, x;
	}
	mov.u32 %r4, x;
	bra N1;
N0:
N1:
	ret;
}
`, Launch{})
	got, _, err := Rename(c)
	if err != nil {
		t.Fatal(err)
	}
	var names [][]string
	for _, line := range strings.Split(string(got.Text), "\n") {
		if strings.Contains(line, "mov.u32") {
			names = append(names, word.FindAllString(strings.ReplaceAll(line, "mov.u32", ""), -1))
		}
	}
	outer, inner := names[0][0], names[4][0]
	if outer == inner || names[1][1] != outer || names[5][1] != inner || names[6][1] != outer {
		t.Errorf("x is confused:\n%s", got.Text)
	}
	if names[1][0] != names[6][0] || names[5][0] == names[1][0] || names[2][0] == names[3][0] ||
		names[2][0] == names[1][0] || names[3][0] == names[1][0] {
		t.Errorf("registers are confused:\n%s", got.Text)
	}
	if !loads(got.Text) {
		t.Errorf("it does not load:\n%s", got.Text)
	}
}

// Renaming changes no verdict: names have no meaning.
func TestRenameKeeps(t *testing.T) {
	files, err := filepath.Glob("../../testdata/suite/litmus/*.ptx")
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		c := parse(t, string(text), Launch{Grid: dim(2), Block: dim(64)})
		got, _, err := Rename(c)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		before, after := examine(t.Context(), c, check.Run), examine(t.Context(), got, check.Run)
		same := len(before.verdicts) == len(after.verdicts) && slices.Equal(before.codes, after.codes)
		for i := range before.verdicts {
			same = same && before.verdicts[i].Kind == after.verdicts[i].Kind
		}
		if !same {
			t.Errorf("%s: %v became %v\n%s", file, before, after, got.Text)
		}
	}
}

func TestMasked(t *testing.T) {
	for in, want := range map[string]string{
		"Error 42: %s at %-8.3lf%%\n": "xxxxx 00: %s xx %-8.3lf%%\n", "%": "%", "": "",
		"100% sure": "000% sxxx", // " s" is a conversion with the flag " "
	} {
		if got := string(masked([]byte(in))); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

// FuzzRename: what parses can be renamed and parses again, and what heddle loads, it loads under
// its new names. A reduction of it ends, and its result parses.
func FuzzRename(f *testing.F) {
	f.Add(named)
	f.Add(racyKernel(1))
	for _, pattern := range []string{"../ptx/testdata/*.ptx", "../irgen/testdata/*.ptx"} {
		files, _ := filepath.Glob(pattern)
		for _, name := range files {
			if b, err := os.ReadFile(name); err == nil {
				f.Add(string(b))
			}
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Parse([]byte(text), Launch{})
		if err != nil {
			return
		}
		got, _, err := Rename(c)
		if err != nil {
			t.Fatalf("%v", err)
		}
		if loads(c.Text) && !loads(got.Text) {
			t.Errorf("no longer loads:\n%s", got.Text)
		}
		if len(text) > 4000 { // a reduction of a long text takes time, and shows no more
			return
		}
		want := loads(c.Text)
		holds := func(_ context.Context, c *Candidate) bool { return loads(c.Text) == want }
		if res, err := Reduce(t.Context(), c, holds, Options{Attempts: 30}); err != nil {
			t.Error(err)
		} else if _, err := Parse(res.Text, res.Launch); err != nil {
			t.Error(err)
		}
	})
}

// A saved launch names kernel, variables and buffers as the renamed program does, and nothing else.
func TestRenameSaved(t *testing.T) {
	const text = head + `.global .u32 secretTable;
.global .u32 __heddle_own;
.entry secretKernel(.param .u64 secretOut) { .reg .u32 r; ld.global.u32 r, [secretTable]; ret; }
`
	saved := &launch.Saved{Path: "/home/secret/k.1", Kernel: "secretKernel",
		Demangled: "secretKernel(int*)", Params: make([]byte, 8), Buffers: []launch.SavedBuffer{
			{Name: "secretBuffer", Size: 4, Data: []byte{1}},
			{Name: "secretTable", Variable: "secretTable", Size: 4, Data: []byte{2}},
			{Name: "secretGone", Variable: "secretGone", Size: 4},
			{Name: "own", Variable: "__heddle_own", Size: 4}}}
	c := parse(t, text, Launch{Kernel: "secretKernel", Saved: saved})
	out, _, err := Rename(c)
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := out.Launch.Saved.Write(&file); err != nil {
		t.Fatal(err)
	}
	s, err := launch.ReadSaved(&file)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%+v", s); strings.Contains(got, "secret") || s.Kernel != out.Launch.Kernel {
		t.Errorf("the launch %s of\n%s", got, out.Text)
	}
	vars := []string{s.Buffers[0].Variable, s.Buffers[1].Variable, s.Buffers[2].Variable,
		s.Buffers[3].Variable}
	if !slices.Equal(vars, []string{"", "global0", "", "__heddle_own"}) ||
		!strings.Contains(string(out.Text), "[global0]") {
		t.Errorf("variables %q of\n%s", vars, out.Text)
	}
}

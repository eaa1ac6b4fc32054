package form_test

import (
	"os"
	"strings"
	"testing"

	"heddle/internal/lockstep/form"
	"heddle/internal/testing/kernels"
)

// scan returns the form of a kernel of figure 1.
func scan(t *testing.T, name string) *form.Program {
	t.Helper()
	text, err := os.ReadFile("testdata/scan.ptx")
	if err != nil {
		t.Fatal(err)
	}
	p, err := form.New(kernels.PTX(t, string(text)).Kernel(name))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// expectBlocks compares the blocks of a printed form with what a figure has for them.
func expectBlocks(t *testing.T, printed string, want map[string]string) {
	t.Helper()
	got := map[string]string{}
	name := ""
	for _, line := range strings.Split(printed, "\n")[2:] {
		if strings.HasPrefix(line, "\t") {
			got[name] += line + "\n"
		} else {
			name = strings.TrimSuffix(line, ":")
		}
	}
	for name, text := range want {
		if got[name] != text {
			t.Errorf("block %s:\n%swant\n%s", name, got[name], text)
		}
	}
}

// TestFigure3: section 4 gives Start W I1 I1' B1 I2 I2' B2 Wlast Wend as a sort order of the kernel
// of figure 1a, in which I1 and I1', and I2 and I2', may change places. I1' is b2 here, and I2' b5.
func TestFigure3(t *testing.T) {
	got, _, _ := strings.Cut(scan(t, "scan").Predicated(), "\nStart:")
	_, got, _ = strings.Cut(got, "order: ")
	switch strings.NewReplacer("I1 b2", "b2 I1", "I2 b5", "b5 I2").Replace(got) {
	case "Start W b2 I1 B1 b5 I2 B2 Wlast Wend End":
	default:
		t.Errorf("order %s", got)
	}
}

// TestFigure5: the blocks that figure 5 shows of the predicated form of figure 3, in which W_end
// stands for W_last and F for W in places. What an assume of a successor says there, the choice of
// v_next says here: offset >= TS is Wend's.
func TestFigure5(t *testing.T) {
	expectBlocks(t, scan(t, "scan").Predicated(), map[string]string{
		"Start": `	active := Start
	%sum := active = Start ? ld.param.u64 [sum] : %sum
	%TS := active = Start ? ld.param.u32 [TS] : %TS
	%id := active = Start ? mov.u32 %tid.x : %id
	%own := active = Start ? mul.wide.u32 %id, 4 : %own
	%own := active = Start ? add.s64 %sum, %own : %own
	%offset := active = Start ? mov.u32 1 : %offset
	%done := active = Start ? setp.ge.u32 %offset, %TS : %done
	next := %done ? Wend : W
	active := active = Start ? next : active
	goto W
`,
		"B2": `	barrier (active = B2)  // bar.sync 0
	next := Wlast
	active := active = B2 ? next : active
	goto Wlast
`,
		"Wlast": `	%offset := active = Wlast ? shl.b32 %offset, 1 : %offset
	%go := active = Wlast ? setp.lt.u32 %offset, %TS : %go
	next := %go ? W : Wend
	active := active = Wlast ? next : active
	goto W_back, W_exit
`,
		"W_back": "\tassume active = W\n\tgoto W\n",
		"W_exit": "\tassume active != W\n\tgoto Wend\n",
		"Wend": `	next := End
	active := active = Wend ? next : active
	goto End
`,
	})
}

// TestFigure7: the blocks that figure 7 shows of the lock-step form. Its vector statements are one
// line for each thread. Offset is uniform in this kernel, which the paper does not ask, so there is
// one of it: what decides on the loop is TS, a parameter, and a constant.
func TestFigure7(t *testing.T) {
	expectBlocks(t, scan(t, "scan").Lockstep(), map[string]string{
		"B2": `	sync ((active$1 = B2) || (active$2 = B2)) => ((active$1 = B2) && (active$2 = B2))  // bar.sync 0
	next$1 := Wlast
	next$2 := Wlast
	active$1 := active$1 = B2 ? next$1 : active$1
	active$2 := active$2 = B2 ? next$2 : active$2
	goto Wlast
`,
		"Wlast": `	%offset := active$1 = Wlast ? shl.b32 %offset, 1 : %offset
	%go := active$1 = Wlast ? setp.lt.u32 %offset, %TS : %go
	next$1 := %go ? W : Wend
	next$2 := %go ? W : Wend
	active$1 := active$1 = Wlast ? next$1 : active$1
	active$2 := active$2 = Wlast ? next$2 : active$2
	goto W_back, W_exit
`,
		"W_back": "\tassume active$1 = W || active$2 = W\n\tgoto W\n",
		"W_exit": "\tassume active$1 != W && active$2 != W\n\tgoto Wend\n",
	})
}

// TestFigure1a: the accesses of the loop are guarded by the thread's index. Shared memory is read
// as anything (Table 3a, havoc) and each access is logged.
func TestFigure1a(t *testing.T) {
	expectBlocks(t, scan(t, "scan").Lockstep(), map[string]string{
		"W": `	%high$1 := active$1 = W ? setp.ge.u32 %id$1, %offset : %high$1
	%high$2 := active$2 = W ? setp.ge.u32 %id$2, %offset : %high$2
	next$1 := %high$1 ? I1 : b2
	next$2 := %high$2 ? I1 : b2
	active$1 := active$1 = W ? next$1 : active$1
	active$2 := active$2 = W ? next$2 : active$2
	goto b2
`,
		"I1": `	%far$1 := active$1 = I1 ? mul.wide.u32 %offset, 4 : %far$1
	%far$2 := active$2 = I1 ? mul.wide.u32 %offset, 4 : %far$2
	%other$1 := active$1 = I1 ? sub.s64 %own$1, %far$1 : %other$1
	%other$2 := active$2 = I1 ? sub.s64 %own$2, %far$2 : %other$2
	log read$1 if active$1 = I1: ld.global.u32 [%other$1]
	log read$2 if active$2 = I1: ld.global.u32 [%other$2]
	%temp$1 := active$1 = I1 ? * : %temp$1
	%temp$2 := active$2 = I1 ? * : %temp$2
	next$1 := B1
	next$2 := B1
	active$1 := active$1 = I1 ? next$1 : active$1
	active$2 := active$2 = I1 ? next$2 : active$2
	goto B1
`,
	})
}

// TestFigure1b: threads leave the loop at different iterations, so that offset is private, twice as
// in figure 7, and the sync in the loop can fail: whether a thread is in W depends on its index.
func TestFigure1b(t *testing.T) {
	expectBlocks(t, scan(t, "shoc").Lockstep(), map[string]string{
		"W": `	%far$1 := active$1 = W ? mul.wide.u32 %offset$1, 4 : %far$1
	%far$2 := active$2 = W ? mul.wide.u32 %offset$2, 4 : %far$2
	%other$1 := active$1 = W ? sub.s64 %own$1, %far$1 : %other$1
	%other$2 := active$2 = W ? sub.s64 %own$2, %far$2 : %other$2
	log read$1 if active$1 = W: ld.global.u32 [%other$1]
	log read$2 if active$2 = W: ld.global.u32 [%other$2]
	%temp$1 := active$1 = W ? * : %temp$1
	%temp$2 := active$2 = W ? * : %temp$2
	sync ((active$1 = W) || (active$2 = W)) => ((active$1 = W) && (active$2 = W))  // bar.sync 0
	log read$1 if active$1 = W: ld.global.u32 [%own$1]
	log read$2 if active$2 = W: ld.global.u32 [%own$2]
	%old$1 := active$1 = W ? * : %old$1
	%old$2 := active$2 = W ? * : %old$2
	%old$1 := active$1 = W ? add.s32 %old$1, %temp$1 : %old$1
	%old$2 := active$2 = W ? add.s32 %old$2, %temp$2 : %old$2
	log write$1 if active$1 = W: st.global.u32 [%own$1], %old$1
	log write$2 if active$2 = W: st.global.u32 [%own$2], %old$2
	sync ((active$1 = W) || (active$2 = W)) => ((active$1 = W) && (active$2 = W))  // bar.sync 0
	%offset$1 := active$1 = W ? shl.b32 %offset$1, 1 : %offset$1
	%offset$2 := active$2 = W ? shl.b32 %offset$2, 1 : %offset$2
	%go$1 := active$1 = W ? setp.le.u32 %offset$1, %id$1 : %go$1
	%go$2 := active$2 = W ? setp.le.u32 %offset$2, %id$2 : %go$2
	next$1 := %go$1 ? W : Wend
	next$2 := %go$2 ? W : Wend
	active$1 := active$1 = W ? next$1 : active$1
	active$2 := active$2 = W ? next$2 : active$2
	goto W_back, W_exit
`,
	})
}

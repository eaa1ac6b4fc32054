package task

import (
	"io"
	"reflect"
	"slices"
	"testing"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/source"
	"heddle/internal/verify"
)

// elsewhereSame are the fields of options that do not decide what the examination of a kernel says,
// or that a request has in another form.
var elsewhereSame = []string{
	// Which kernels are examined, in which order, and where their results go.
	"driver.Kernel", "driver.Workers", "driver.Files", "driver.Progress", "driver.Decisions",
	"driver.Verdict", "driver.Known",
	// The request has the job's own launch and settings.
	"driver.Launch", "driver.Settings",
	// Set by package check for every run of its mode, and by the request's solver.
	"prove.OfLaunch", "prove.NoProcess",
	// How long compilations and queries take.
	"lower.CacheDir", "lower.NoCache",
}

// TestEveryOption: each field of the options is carried by a request, is known not to matter, or is
// a reason for examining kernels here. Nobody can add one that a worker ignores.
func TestEveryOption(t *testing.T) {
	plain, err := carry(new(Options))
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, part := range []struct {
		name string
		at   func(*Options) reflect.Value
	}{
		{"driver", func(o *Options) reflect.Value { return reflect.ValueOf(&o.Options).Elem() }},
		{"run", func(o *Options) reflect.Value { return reflect.ValueOf(&o.Run).Elem() }},
		{"prove", func(o *Options) reflect.Value { return reflect.ValueOf(&o.Prove).Elem() }},
		{"trace", func(o *Options) reflect.Value { return reflect.ValueOf(&o.Trace).Elem() }},
		{"lower", func(o *Options) reflect.Value { return reflect.ValueOf(&o.Lower).Elem() }},
	} {
		fields := part.at(new(Options)).Type()
		for i := range fields.NumField() {
			name := part.name + "." + fields.Field(i).Name
			if name == "driver.Lower" {
				continue // each of its fields
			}
			opt := new(Options)
			set(t, name, part.at(opt).Field(i))
			got, err := carry(opt)
			same := err == nil && reflect.DeepEqual(got, plain)
			if known := slices.Contains(elsewhereSame, name); same != known {
				t.Errorf("%s: carried or refused %v, listed as one that does not matter %v", name, !same, known)
			}
			used[name] = true
			if err == nil && !same {
				back := (&Request{Options: got}).options(source.NewSet(), nil)
				if !reflect.DeepEqual(part.at(back).Field(i).Interface(), part.at(opt).Field(i).Interface()) {
					t.Errorf("%s is carried and not set again", name)
				}
			}
		}
	}
	for _, name := range elsewhereSame {
		if !used[name] {
			t.Errorf("there is no option %s", name)
		}
	}
}

// set gives a field a value other than zero.
func set(t *testing.T, name string, v reflect.Value) {
	t.Helper()
	switch x := v.Addr().Interface().(type) {
	case *func(driver.Progress):
		*x = func(driver.Progress) {}
	case *func(driver.Decisions):
		*x = func(driver.Decisions) {}
	case *func(*diag.Verdict):
		*x = func(*diag.Verdict) {}
	case *func(string) bool:
		*x = func(string) bool { return false }
	case *func(string, *ir.Func) driver.Setting:
		*x = func(string, *ir.Func) driver.Setting { return driver.Setting{} }
	case *func(string, *ir.Func) []*launch.Saved:
		*x = func(string, *ir.Func) []*launch.Saved { return nil }
	case *func(*diag.Diagnostic) bool:
		*x = func(*diag.Diagnostic) bool { return false }
	case *func(*verify.Finding) bool:
		*x = func(*verify.Finding) bool { return false }
	case *io.Writer:
		*x = io.Discard
	default:
		fill(t, name, v)
	}
}

// fill gives a value of a plain type another value than zero.
func fill(t *testing.T, name string, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		v.SetUint(1)
	case reflect.String:
		v.SetString("x")
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
	case reflect.Func:
		v.Set(reflect.MakeFunc(v.Type(), func([]reflect.Value) []reflect.Value { return nil }))
	case reflect.Array:
		fill(t, name, v.Index(0))
	case reflect.Struct:
		fill(t, name, v.Field(0))
	default:
		t.Fatalf("%s: no value for %v", name, v.Type())
	}
}

// TestPreserved: what JSON does not preserve is an error.
func TestPreserved(t *testing.T) {
	none := func(p source.Pos) source.Pos { return p }
	for text, ok := range map[string]bool{"plain": true, "ärger <&>\u2028": true, "\xff": false} {
		r := &Result{Effects: driver.Effects{Verdicts: []diag.Verdict{{Reason: text}}}}
		if _, err := encode(r, none, func(*Result) {}); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestPositions: positions are renumbered wherever they are, once, and those of files that the
// other side does not have are errors.
func TestPositions(t *testing.T) {
	a, b := source.NewSet(), source.NewSet()
	for _, name := range []string{"unused", "k.cu", "h.h", "k.ptx"} {
		if _, err := a.Add(name, []byte("text\n")); err != nil {
			t.Fatal(err)
		}
	}
	ptx, err := b.Add("k.ptx", []byte("text\n"))
	if err != nil {
		t.Fatal(err)
	}
	at := func(s *source.Set, name string, line int) source.Pos {
		return source.MakePos(s.Lookup(name).ID, line, 3)
	}
	shared := &source.Frame{Func: "g", Pos: at(a, "h.h", 7)}
	g := diag.Diagnostic{Span: source.Span{Start: at(a, "k.cu", 1), End: at(a, "k.cu", 2)},
		Stack:   []source.Frame{{Pos: at(a, "k.ptx", 4), Parent: shared}, {Pos: at(a, "h.h", 5), Parent: shared}},
		Witness: &diag.Witness{Entry: source.Span{Start: at(a, "k.ptx", 9)}},
		Fixes:   []diag.Fix{{Edits: []diag.Edit{{Span: source.Span{Start: at(a, "h.h", 8)}}}}}}
	before := g
	n := newNumbers(a)
	out, err := encode(&Result{Format: format, Request: hash(nil),
		Effects: driver.Effects{Events: []driver.Effect{{Finding: &g}}}}, n.of,
		func(r *Result) { r.Names = n.names })
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(g, before) || shared.Pos != at(a, "h.h", 7) {
		t.Error("the positions of this side have changed")
	}
	r, err := new(Task).decode(out)
	if err != nil {
		t.Fatal(err)
	}
	p := newPlaces(b, r.Names, ptx)
	positions(reflect.ValueOf(r), p.of)
	got := r.Effects.Events[0].Finding
	for _, c := range []struct {
		got  source.Pos
		want string
	}{
		{got.Span.Start, "k.cu:1:3"}, {got.Span.End, "k.cu:2:3"}, {got.Stack[0].Pos, "k.ptx:4:3"},
		{got.Stack[0].Parent.Pos, "h.h:7:3"}, {got.Stack[1].Parent.Pos, "h.h:7:3"},
		{got.Stack[1].Pos, "h.h:5:3"}, {got.Witness.Entry.Start, "k.ptx:9:3"},
		{got.Fixes[0].Edits[0].Span.Start, "h.h:8:3"},
	} {
		if s := b.Format(c.got); s != c.want {
			t.Errorf("position %s, want %s", s, c.want)
		}
	}
	if p.err != nil {
		t.Error(p.err)
	}
	short := newPlaces(b, r.Names[:1], ptx)
	if short.of(source.MakePos(2, 1, 1)) != 0 || short.err == nil {
		t.Error("a position in a file without a name is accepted")
	}
}

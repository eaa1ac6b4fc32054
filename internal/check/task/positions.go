package task

import (
	"errors"
	"fmt"
	"reflect"

	"heddle/internal/diag"
	"heddle/internal/ir"
	"heddle/internal/source"
)

type (
	diagnostic = diag.Diagnostic
	kernel     = *ir.Func
)

// numbers replaces the files of positions by numbers in a table of names.
type numbers struct {
	files *source.Set
	names []string
	byID  map[source.FileID]int
}

func newNumbers(files *source.Set) *numbers {
	return &numbers{files: files, byID: map[source.FileID]int{}}
}

// of returns the position with the number of its file.
func (n *numbers) of(p source.Pos) source.Pos {
	f := n.files.File(p.File())
	if f == nil {
		return p // no position
	}
	number, ok := n.byID[f.ID]
	if !ok {
		n.names = append(n.names, f.Name)
		number = len(n.names)
		n.byID[f.ID] = number
	}
	return source.MakePos(source.FileID(number), p.Line(), p.Col())
}

// places is the reverse of numbers, for the files of another process.
type places struct {
	ids []source.FileID
	err error // the first position that has no place
}

// newPlaces returns the places for a table of names. ptx is the file of the module: a set may have
// several of its name.
func newPlaces(files *source.Set, names []string, ptx *source.File) *places {
	p := new(places)
	for _, name := range names {
		f := ptx
		if name != ptx.Name {
			f = files.Named(name)
		}
		if f == nil {
			p.err = errors.New("more source files in one run than heddle can number")
			break
		}
		p.ids = append(p.ids, f.ID)
	}
	return p
}

// of returns the position with the file of a number.
func (p *places) of(at source.Pos) source.Pos {
	n := int(at.File())
	switch {
	case n == 0:
		return at
	case n > len(p.ids):
		if p.err == nil {
			p.err = fmt.Errorf("a position in file %d of %d", n, len(p.ids))
		}
		return 0
	}
	return source.MakePos(p.ids[n-1], at.Line(), at.Col())
}

var posType = reflect.TypeFor[source.Pos]()

// positions replaces every position in a value by what f returns. The value is a pointer, and has
// been read from JSON: nothing in it is shared, and there are no positions in maps.
func positions(v reflect.Value, f func(source.Pos) source.Pos) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			positions(v.Elem(), f)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			positions(v.Field(i), f)
		}
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return
		}
		for i := range v.Len() {
			positions(v.Index(i), f)
		}
	default:
		if v.Type() == posType && v.CanSet() {
			v.SetUint(uint64(f(source.Pos(v.Uint()))))
		}
	}
}

// Package digest computes digests of data structures: equal content has equal digests, wherever it
// is in memory and in whatever order maps are walked. It is for caches of results that depend on
// many things: a new field of a structure changes the digest without anyone having to think of it.
package digest

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"math"
	"reflect"
	"slices"
)

// Sum is the digest of some values.
type Sum [sha256.Size]byte

// Digester computes digests.
type Digester struct {
	types  map[reflect.Type]bool
	fields map[field]bool
}

// field is a field of a structure.
type field struct {
	of   reflect.Type
	name string
}

// New returns a Digester that ignores values of the types of some examples.
func New(ignored ...any) *Digester {
	d := &Digester{types: map[reflect.Type]bool{}, fields: map[field]bool{}}
	for _, x := range ignored {
		d.types[reflect.TypeOf(x)] = true
	}
	return d
}

// Without ignores fields of the type of an example. It panics if there is no such field.
func (d *Digester) Without(example any, names ...string) *Digester {
	t := reflect.TypeOf(example)
	for _, n := range names {
		if _, ok := t.FieldByName(n); !ok {
			panic(fmt.Sprintf("digest: %v has no field %s", t, n))
		}
		d.fields[field{t, n}] = true
	}
	return d
}

// Of returns the digest of values. Unexported fields count. Pointers to one value are told from
// pointers to equal values, so that cyclic structures end. The error names a part that has no
// content: a function or a channel that is not nil.
func (d *Digester) Of(values ...any) (Sum, error) {
	w := &walk{Digester: d, hash: sha256.New(), seen: map[pointer]uint64{}}
	for _, v := range values {
		w.value(reflect.ValueOf(v))
	}
	return Sum(w.hash.Sum(nil)), w.err
}

// pointer is a place in memory. A structure and its first field are at one address.
type pointer struct {
	at uintptr
	of reflect.Type
}

// walk is the computation of one digest.
type walk struct {
	*Digester
	hash hash.Hash
	seen map[pointer]uint64 // the number of each pointer, in the order of the walk
	err  error
}

// number writes a number.
func (w *walk) number(n uint64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], n)
	w.hash.Write(b[:])
}

// text writes a string so that no other sequence of strings is written alike.
func (w *walk) text(s string) {
	w.number(uint64(len(s)))
	w.hash.Write([]byte(s))
}

// value writes a value, after its kind.
func (w *walk) value(v reflect.Value) {
	if !v.IsValid() {
		w.number(0)
		return
	}
	if w.types[v.Type()] {
		return
	}
	w.number(uint64(v.Kind()))
	switch v.Kind() {
	case reflect.Bool:
		b := uint64(0)
		if v.Bool() {
			b = 1
		}
		w.number(b)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		w.number(uint64(v.Int()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		w.number(v.Uint())
	case reflect.Float32, reflect.Float64:
		w.number(math.Float64bits(v.Float()))
	case reflect.String:
		w.text(v.String())
	case reflect.Pointer:
		w.pointer(v)
	case reflect.Interface:
		if !v.IsNil() {
			w.text(v.Elem().Type().String())
		}
		w.value(v.Elem())
	case reflect.Slice, reflect.Array:
		w.list(v)
	case reflect.Map:
		w.table(v)
	case reflect.Struct:
		w.text(v.Type().String())
		for i := range v.NumField() {
			if name := v.Type().Field(i).Name; !w.fields[field{v.Type(), name}] {
				w.value(v.Field(i))
			}
		}
	default:
		if v.IsNil() {
			return
		}
		w.err = fmt.Errorf("digest: a value of type %v has no content", v.Type())
	}
}

// pointer writes what a pointer leads to, or its number if that was written before.
func (w *walk) pointer(v reflect.Value) {
	if v.IsNil() {
		w.number(0)
		return
	}
	p := pointer{v.Pointer(), v.Type()}
	if n, ok := w.seen[p]; ok {
		w.number(n)
		return
	}
	w.seen[p] = uint64(len(w.seen)) + 1
	w.number(math.MaxUint64)
	w.value(v.Elem())
}

// list writes a slice or an array. An empty slice is written as a nil one.
func (w *walk) list(v reflect.Value) {
	w.number(uint64(v.Len()))
	if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8 {
		w.hash.Write(v.Bytes())
		return
	}
	for i := range v.Len() {
		w.value(v.Index(i))
	}
}

// table writes a map by the digests of its keys. A pointer in a key or in a value of a map is walked
// on its own.
func (w *walk) table(v reflect.Value) {
	type entry struct{ key, value []byte }
	var entries []entry
	sum := func(v reflect.Value) []byte {
		part := &walk{Digester: w.Digester, hash: sha256.New(), seen: map[pointer]uint64{}}
		part.value(v)
		if part.err != nil {
			w.err = part.err
		}
		return part.hash.Sum(nil)
	}
	for it := v.MapRange(); it.Next(); {
		entries = append(entries, entry{sum(it.Key()), sum(it.Value())})
	}
	slices.SortFunc(entries, func(a, b entry) int { return bytes.Compare(a.key, b.key) })
	w.number(uint64(len(entries)))
	for _, e := range entries {
		w.hash.Write(e.key)
		w.hash.Write(e.value)
	}
}

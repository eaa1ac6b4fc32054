package ptx

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"heddle/internal/source"
)

// newFile makes a source file of its own set.
func newFile(t testing.TB, name string, text []byte) *source.File {
	t.Helper()
	f, err := source.NewSet().Add(name, text)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// mustParse parses text that must be right.
func mustParse(t testing.TB, name string, text []byte) *File {
	t.Helper()
	file, errs := Parse(newFile(t, name, text))
	if len(errs) > 0 {
		t.Fatalf("%s: %s", name, errorList(errs))
	}
	return file
}

// errorList formats errors as line:col-line:col: message.
func errorList(errs []*Error) string {
	var b strings.Builder
	for _, e := range errs {
		fmt.Fprintf(&b, "%v-%v: %s\n", e.Span.Start, e.Span.End, e.Msg)
	}
	return b.String()
}

func printed(t testing.TB, f *File) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Print(&b, f); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// roundTrip checks that printing and parsing give the tree and the text again.
func roundTrip(t testing.TB, name string, f *File) {
	t.Helper()
	text := printed(t, f)
	again, errs := Parse(newFile(t, name, text))
	if len(errs) > 0 {
		t.Fatalf("%s: the printed text does not parse:\n%s\n%s", name, errorList(errs), text)
	}
	if diff := treeDiff(f, again); diff != "" {
		t.Fatalf("%s: printing changed the tree: %s\n%s", name, diff, text)
	}
	if text2 := printed(t, again); !bytes.Equal(text, text2) {
		t.Fatalf("%s: printing twice differs:\n%s\n%s", name, text, text2)
	}
}

var (
	spanType = reflect.TypeFor[source.Span]()
	fileType = reflect.TypeFor[*source.File]()
)

// treeDiff compares all fields of two trees but spans and the source file, and returns the path of the
// first difference.
func treeDiff(a, b *File) string { return diff("file", reflect.ValueOf(a), reflect.ValueOf(b)) }

func diff(path string, a, b reflect.Value) string {
	if a.Kind() != b.Kind() || a.Type() != b.Type() {
		return fmt.Sprintf("%s: %v and %v", path, a, b)
	}
	if a.Type() == spanType || a.Type() == fileType {
		return ""
	}
	switch a.Kind() {
	case reflect.Pointer, reflect.Interface:
		if a.IsNil() != b.IsNil() {
			return fmt.Sprintf("%s: one is nil", path)
		}
		if a.IsNil() {
			return ""
		}
		return diff(path, a.Elem(), b.Elem())
	case reflect.Struct:
		for i := range a.NumField() {
			if d := diff(path+"."+a.Type().Field(i).Name, a.Field(i), b.Field(i)); d != "" {
				return d
			}
		}
	case reflect.Slice:
		for i := range min(a.Len(), b.Len()) {
			if d := diff(fmt.Sprintf("%s[%d]", path, i), a.Index(i), b.Index(i)); d != "" {
				return d
			}
		}
		if a.Len() != b.Len() {
			return fmt.Sprintf("%s: %d and %d elements", path, a.Len(), b.Len())
		}
	default:
		if !a.Equal(b) {
			return fmt.Sprintf("%s: %v and %v", path, a, b)
		}
	}
	return ""
}

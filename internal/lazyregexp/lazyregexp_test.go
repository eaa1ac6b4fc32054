package lazyregexp

import (
	"reflect"
	"regexp"
	"testing"
)

// TestMethods calls each method and that of the expression itself, with the same arguments.
func TestMethods(t *testing.T) {
	const text = `(a)(b*)`
	const in = "xabby ab a"
	lazy, own := reflect.ValueOf(New(text)), reflect.ValueOf(regexp.MustCompile(text))
	for i := range lazy.NumMethod() {
		name := lazy.Type().Method(i).Name
		var args []reflect.Value
		for j := range lazy.Method(i).Type().NumIn() {
			switch in0 := lazy.Method(i).Type().In(j); {
			case in0.Kind() == reflect.Int:
				args = append(args, reflect.ValueOf(2))
			case in0.Kind() == reflect.String && j > 0:
				args = append(args, reflect.ValueOf("<$2>"))
			case in0.Kind() == reflect.String:
				args = append(args, reflect.ValueOf(in))
			case in0.Kind() == reflect.Slice:
				args = append(args, reflect.ValueOf([]byte(in)))
			default:
				args = append(args, reflect.ValueOf(func(s string) string { return "<" + s + ">" }))
			}
		}
		got := lazy.Method(i).Call(args)[0].Interface()
		want := own.MethodByName(name).Call(args)[0].Interface()
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// TestBadText expects a mistake in an expression to fail in tests at once.
func TestBadText(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	New("(")
}

package ptx
import "testing"
func checkSpans(t *testing.T, f *File, text string) {}

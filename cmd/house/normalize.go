package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// texts are the fields of heddle's JSON that hold sentences. Their wording may change; that they
// are present must not, and nor must the length of lists of results.
var texts = []string{
	"message", "label", "reason", "scope", "why", "what", "ptx_only", "at", "place", "justification",
	"stuck", "races_between_blocks", "with_other_arguments",
}

// advice are fields whose sentences may also become more or fewer.
var advice = []string{"notes", "help"}

// measured are fields that differ between two runs of one program.
var measured = []string{"total_ms", "time_ms"}

// normalize returns the JSON objects of an output, one a line with sorted keys, without wording and
// times. What is not JSON is kept as it is.
func normalize(out []byte) string {
	var b strings.Builder
	// An output is a sequence of objects; what follows a syntax error is kept as text.
	dec := json.NewDecoder(bytes.NewReader(out))
	// Numbers stay text: a float64 would make large counters equal.
	dec.UseNumber()
	for {
		var v any
		at := dec.InputOffset()
		if err := dec.Decode(&v); errors.Is(err, io.EOF) {
			return b.String()
		} else if err != nil {
			return b.String() + string(out[at:])
		}
		line, err := json.Marshal(plain(v)) // sorts keys
		if err != nil {
			return string(out)
		}
		fmt.Fprintf(&b, "%s\n", line)
	}
}

// plain drops wording and times from a decoded value.
func plain(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	case map[string]any:
		// The fingerprint of a finding without a witness is a hash over its message.
		if _, ok := v["witness"]; !ok {
			delete(v, "fingerprint")
		}
		maps.DeleteFunc(v, func(k string, _ any) bool {
			return slices.Contains(advice, k) || slices.Contains(measured, k)
		})
		for k := range v {
			if slices.Contains(texts, k) {
				v[k] = wordless(v[k])
			} else {
				v[k] = plain(v[k])
			}
		}
	}
	return v
}

// wordless replaces each string of a value by the same mark.
func wordless(v any) any {
	switch v := v.(type) {
	case string:
		return "..."
	case []any:
		for i := range v {
			v[i] = wordless(v[i])
		}
	}
	return v
}

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"heddle/internal/testing/jsonschema"
)

// What fix, sync, trace and exec write as JSON is what the schema and the page say, and so is all that heddle writes for the
// examples.
func TestJSONSchema(t *testing.T) {
	docs, err := jsonschema.Read("../../docs/schema/heddle-1.schema.json", "../../docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, typ := range map[string]reflect.Type{
		"fix": reflect.TypeFor[fixObject](), "sync": reflect.TypeFor[syncObject](), "trace": reflect.TypeFor[traceObject](),
		"exec": reflect.TypeFor[execObject](), "optimize": reflect.TypeFor[optimizeObject](),
		"explore": reflect.TypeFor[exploreObject](),
	} {
		for _, wrong := range docs.Struct(name, typ) {
			t.Error(wrong)
		}
	}
	example, err := os.ReadFile("../../docs/examples/check.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	valid(t, docs, "docs/examples/check.jsonl", example, "finding", "verdict")
	if testing.Short() {
		t.Skip("compiles kernels")
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"t.litmus":     "PTX t\n{x=0;}\nP0@cta 0,gpu 0|P1@cta 0,gpu 0;\nst.weak x,1|ld.weak r0,x;\nexists P1:r0=1\n",
		"proxy.litmus": "PTX t\n{x=0;}\nP0@cta 0,gpu 0;\nfence.proxy.alias;\nexists x=1\n",
		"race.cu":      "// heddle: grid=1 block=64\n__global__ void k(int *A) {\n\tint x = A[threadIdx.x + 1];\n\tA[threadIdx.x] = x;\n}\n",
		"hang.cu":      "// heddle: grid=1 block=64\n__global__ void k(void) {\n\tif (threadIdx.x < 40) __syncthreads();\n}\n",
		"stuck.cu":     "// heddle: grid=1 block=64\n__global__ void k(int *A) {\n\tA[0] = threadIdx.x;\n}\n",
		"wrong.cu":     "__global__ void k(int *A) { A[0] = ; }\n",
		"spare.cu":     "// heddle: grid=1 block=64\n__global__ void k(int *A) {\n\tint x = A[threadIdx.x + 1];\n\t__syncthreads();\n\t__syncthreads();\n\tA[threadIdx.x] = x;\n}\n",
		"silent.cu":    "// heddle: grid=1 block=64\n__global__ void k(int *A) {\n\tA[0] = threadIdx.x; // heddle:ignore RACE-GLOBAL wanted\n}\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for line, types := range map[string]string{
		"fix race.cu": "fix", "fix stuck.cu": "fix", "fix --redundant spare.cu": "fix",
		"sync race.cu": "sync", "sync stuck.cu": "sync", "sync spare.cu": "sync",
		"sync --explain race.cu": "sync", "sync --explain --verify-only spare.cu": "sync", "sync --explain spare.cu": "sync",
		"sync --optimize spare.cu": "optimize", "sync --optimize -v stuck.cu": "optimize",
		"trace --stats race.cu hang.cu": "trace finding verdict", "check hang.cu": "finding verdict", "check wrong.cu": "finding", "check silent.cu": "finding verdict",
		"check race.cu":                 "finding verdict",
		"explore t.litmus proxy.litmus": "explore",
	} {
		var out, log bytes.Buffer
		run(append(strings.Fields(line), "--format", "json"), strings.NewReader(""), &out, &log)
		valid(t, docs, line, out.Bytes(), strings.Fields(types)...)
	}
}

// valid holds each line of an output against the schema; each of the types must be there.
func valid(t *testing.T, docs *jsonschema.Documents, name string, text []byte, types ...string) {
	t.Helper()
	for line := range bytes.Lines(text) {
		if wrong := docs.Validate(line); len(wrong) > 0 {
			t.Errorf("%s: %s\n%s", filepath.Base(name), strings.Join(wrong, "\n"), line)
		}
	}
	for _, typ := range types {
		if !bytes.Contains(text, []byte(`"type":"`+typ+`"`)) {
			t.Errorf("%s: no %s in %.300s", name, typ, text)
		}
	}
}

package remote

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"heddle/internal/remote/rpc"
)

// Messages of build.bazel.remote.execution.v2 (github.com/bazelbuild/remote-apis), each with the
// fields that this client writes or reads. Numbers of fields are those of the .proto file.

// digest names a blob: the SHA-256 of its bytes in hexadecimal, and their number.
type digest struct {
	hash string
	size int64
}

// digestOf returns the name of a blob.
func digestOf(blob []byte) digest {
	sum := sha256.Sum256(blob)
	return digest{hex.EncodeToString(sum[:]), int64(len(blob))}
}

// String is the digest as resource names have it.
func (d digest) String() string { return fmt.Sprintf("%s/%d", d.hash, d.size) }

func (d digest) marshal() []byte {
	var w writer
	w.text(1, d.hash)
	w.uint(2, uint64(d.size))
	return w
}

func readDigest(message []byte) (d digest, err error) {
	err = read(message, func(field protowire.Number, v value) error {
		switch field {
		case 1:
			d.hash = string(v.b)
		case 2:
			d.size = int64(v.n)
		}
		return nil
	})
	return d, err
}

// file is a FileNode, or a directory of the input root if dir is set.
type file struct {
	name       string
	digest     digest
	executable bool
}

// directory returns a Directory, whose files and directories must be sorted by name.
func directory(files, dirs []file) []byte {
	byName := func(a, b file) int { return strings.Compare(a.name, b.name) }
	var w writer
	for _, f := range slices.SortedFunc(slices.Values(files), byName) {
		var node writer
		node.text(1, f.name)
		node.message(2, f.digest.marshal())
		node.bool(4, f.executable)
		w.message(1, node)
	}
	for _, d := range slices.SortedFunc(slices.Values(dirs), byName) {
		var node writer
		node.text(1, d.name)
		node.message(2, d.digest.marshal())
		w.message(2, node)
	}
	return w
}

// Property is a property of the platform that a worker must have, such as OSFamily=linux.
type Property struct{ Name, Value string }

// platform returns a Platform. Its properties must be sorted by name and value.
func platform(properties []Property) []byte {
	var w writer
	for _, p := range sortedByName(properties) {
		w.message(1, p.marshal())
	}
	return w
}

// sortedByName returns properties in the order that messages must have them in.
func sortedByName(properties []Property) []Property {
	return slices.SortedFunc(slices.Values(properties), func(a, b Property) int {
		if c := strings.Compare(a.Name, b.Name); c != 0 {
			return c
		}
		return strings.Compare(a.Value, b.Value)
	})
}

// marshal returns a Property, or a variable of the environment.
func (p Property) marshal() []byte {
	var w writer
	w.text(1, p.Name)
	w.text(2, p.Value)
	return w
}

// command returns a Command with one output. Servers of before version 2.1 read the deprecated
// fields for outputs and the platform.
func command(arguments []string, environment []Property, output string,
	properties []Property) []byte {
	var w writer
	for _, a := range arguments {
		w.each(1, a)
	}
	for _, v := range sortedByName(environment) {
		w.message(2, v.marshal())
	}
	w.each(3, output)
	if len(properties) > 0 {
		w.message(5, platform(properties))
	}
	w.each(7, output)
	return w
}

// action returns an Action.
func action(command, root digest, properties []Property) []byte {
	var w writer
	w.message(1, command.marshal())
	w.message(2, root.marshal())
	if len(properties) > 0 {
		w.message(10, platform(properties))
	}
	return w
}

// outcome is an ActionResult.
type outcome struct {
	files  []outputFile
	exit   int32
	stderr []byte
}

// outputFile is an OutputFile.
type outputFile struct {
	path     string
	digest   digest
	contents []byte // if the server has sent them along
}

func (o *outcome) marshal() []byte {
	var w writer
	for _, f := range o.files {
		var one writer
		one.text(1, f.path)
		one.message(2, f.digest.marshal())
		w.message(2, one)
	}
	w.uint(4, uint64(uint32(o.exit)))
	return w
}

func readOutcome(message []byte) (*outcome, error) {
	o := new(outcome)
	err := read(message, func(field protowire.Number, v value) error {
		switch field {
		case 2:
			var f outputFile
			err := read(v.b, func(field protowire.Number, v value) (err error) {
				switch field {
				case 1:
					f.path = string(v.b)
				case 2:
					f.digest, err = readDigest(v.b)
				case 5:
					f.contents = v.b
				}
				return err
			})
			o.files = append(o.files, f)
			return err
		case 4:
			o.exit = int32(v.n)
		case 7:
			o.stderr = v.b
		}
		return nil
	})
	return o, err
}

// output returns the output with a path.
func (o *outcome) output(path string) (outputFile, bool) {
	for _, f := range o.files {
		if f.path == path {
			return f, true
		}
	}
	return outputFile{}, false
}

// readStatus reads a google.rpc.Status; nil for OK.
func readStatus(message []byte) error {
	var e rpc.Error
	err := read(message, func(field protowire.Number, v value) error {
		switch field {
		case 1:
			e.Code = rpc.Code(v.n)
		case 2:
			e.Message = string(v.b)
		}
		return nil
	})
	if err == nil && e.Code != rpc.OK {
		return &e
	}
	return err
}

// operation is a google.longrunning.Operation of Execute.
type operation struct {
	name     string
	done     bool
	failure  error  // Operation.error
	response []byte // the ExecuteResponse; nil: none yet
}

func readOperation(message []byte) (op operation, err error) {
	err = read(message, func(field protowire.Number, v value) error {
		switch field {
		case 1:
			op.name = string(v.b)
		case 3:
			op.done = v.n != 0
		case 4:
			op.failure = readStatus(v.b)
		case 5: // an Any
			return read(v.b, func(field protowire.Number, v value) error {
				if field == 2 {
					op.response = v.b
				}
				return nil
			})
		}
		return nil
	})
	return op, err
}

// response is an ExecuteResponse.
type response struct {
	result *outcome
	cached bool
	status error // nil: the command ran, with any exit code
}

func readResponse(message []byte) (r response, err error) {
	err = read(message, func(field protowire.Number, v value) (err error) {
		switch field {
		case 1:
			r.result, err = readOutcome(v.b)
		case 2:
			r.cached = v.n != 0
		case 3:
			r.status = readStatus(v.b)
		}
		return err
	})
	return r, err
}

// capabilities are the ServerCapabilities.
type capabilities struct {
	cache    bool // there is a cache
	update   bool // results may be written
	execute  bool
	sha256   bool
	maxBatch int64 // bytes of a batch; 0: unlimited by the server
}

const sha256Function = 1 // DigestFunction.SHA256

func readCapabilities(message []byte) (c capabilities, err error) {
	functions := func(v value) {
		if v.b == nil {
			c.sha256 = c.sha256 || v.n == sha256Function
		}
		for packed := v.b; len(packed) > 0; {
			n, size := protowire.ConsumeVarint(packed)
			if size < 0 {
				return
			}
			c.sha256, packed = c.sha256 || n == sha256Function, packed[size:]
		}
	}
	err = read(message, func(field protowire.Number, v value) error {
		switch field {
		case 1:
			c.cache = true
			return read(v.b, func(field protowire.Number, v value) error {
				switch field {
				case 1:
					functions(v)
				case 2:
					return read(v.b, func(field protowire.Number, v value) error {
						c.update = c.update || field == 1 && v.n != 0
						return nil
					})
				case 4:
					c.maxBatch = int64(v.n)
				}
				return nil
			})
		case 2:
			return read(v.b, func(field protowire.Number, v value) error {
				c.execute = c.execute || field == 2 && v.n != 0
				return nil
			})
		}
		return nil
	})
	return c, err
}

// metadata returns a RequestMetadata, by which servers show who asks.
func metadata(version, invocation string) []byte {
	var tool, w writer
	tool.text(1, "heddle")
	tool.text(2, version)
	w.message(1, tool)
	w.text(3, invocation)
	return w
}

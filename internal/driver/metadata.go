package driver

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"heddle/internal/diag"
	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/lower"
	"heddle/internal/source"
	"heddle/internal/triton"
)

// metadata reads what a compiler has written about a launch beside a PTX file, NAME.json beside
// NAME.ptx, into the facts of its module. What it cannot use is reported as a warning, because the
// launch is guessed then; a file that is something else is ignored.
func (d *Driver) metadata(in Input, m *Module) {
	ext := filepath.Ext(m.Name)
	if m.Lowered.Lang != lower.PTX || !strings.EqualFold(ext, ".ptx") || m.Facts == nil {
		return
	}
	if _, err := os.Stat(m.Name); in.Content != nil && err != nil { // a text that is no file
		return
	}
	path := strings.TrimSuffix(m.Name, ext) + ".json"
	if !d.mayRead(path) {
		return
	}
	text, err := d.readFile(m, path, triton.MaxSize)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		d.unusable(source.Span{}, err.Error())
		return
	}
	file := d.opt.Files.Fill(path, text)
	if file == nil {
		return
	}
	data, wrong := triton.Read(file)
	switch {
	case wrong != nil:
		d.unusable(wrong.Span, wrong.Msg)
		return
	case data == nil:
		return
	case data.Foreign != "":
		d.unusable(source.Span{Start: source.MakePos(file.ID, 1, 1)},
			fmt.Sprintf("%s is for %s", path, data.Foreign))
		return
	}
	k := described(m, data.Kernel)
	if k == nil {
		what := "does not name its kernel"
		if data.Kernel != "" {
			what = fmt.Sprintf("is about kernel %q", data.Kernel)
		}
		d.unusable(source.Span{Start: source.MakePos(file.ID, 1, 1)},
			fmt.Sprintf("%s %s; the kernels of %s are: %s", path, what, m.Name, kernelNames(m)))
		return
	}
	data.Kernel = k.Name
	nameHidden(k, data.Hidden)
	m.Facts.Metadata = data
}

// unusable reports that the launch is not taken from a file of metadata.
func (d *Driver) unusable(at source.Span, why string) {
	d.report(diag.Diagnostic{Code: diag.CodeLaunch, Severity: diag.Warning, Span: at,
		Message: "the launch is not taken from the file beside the PTX: " + why})
}

// described returns the kernel that metadata is about: of that name, or without a name the only one
// of the module; nil if there is none.
func described(m *Module, name string) *ir.Func {
	all := m.Kernels()
	if name == "" && len(all) == 1 {
		return all[0]
	}
	for _, k := range all {
		if name != "" && k.Name == name {
			return k
		}
	}
	return nil
}

// kernelNames lists the kernels of a module, for a message.
func kernelNames(m *Module) string {
	var names []string
	for _, k := range m.Kernels() {
		names = append(names, k.Name)
	}
	if n := len(names) - mostNames; n > 0 {
		names = append(names[:mostNames], fmt.Sprintf("and %d more", n))
	}
	return strings.Join(names, ", ")
}

// nameHidden names the last parameters of a kernel, which the launcher adds, if they are pointers
// without a name of their own.
func nameHidden(k *ir.Func, names []string) {
	first := len(k.Params) - len(names)
	if first < 0 {
		return
	}
	for _, v := range k.Params[first:] {
		if v.Size != 8 || v.Source != "" {
			return
		}
	}
	for i, name := range names {
		k.Params[first+i].Source = name
	}
}

// Box returns the bytes of the boxes of the tensor map that parameter v of the kernel is, as a flag
// says them, which named recognizes, or else the metadata of the module; 0 if neither does.
func (j *Job) Box(v *ir.Var, named func(launch.Box) bool) uint64 {
	for _, b := range j.d.opt.Boxes {
		if named(b) {
			return b.Bytes
		}
	}
	if f := j.Module.Facts; f != nil {
		return f.Metadata.Box(j.Kernel, v)
	}
	return 0
}

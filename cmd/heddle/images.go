package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"heddle/internal/lower"
	"heddle/internal/lower/fatbin"
	"heddle/internal/source"
	"heddle/internal/table"
)

// openImages opens an input as an ELF file or a fatbin, for ptx --list and --image. Other files are
// rejected: they have no images to list.
func openImages(in lower.Input) (*fatbin.File, error) {
	content := in.Content
	if content == nil {
		var err error
		if content, err = source.ReadRegular(in.Name, maxStdin); err != nil {
			return nil, err
		}
	}
	if !fatbin.Is(content) {
		return nil, fmt.Errorf("%s is neither an ELF file nor a fatbin: it contains no images", in.Name)
	}
	f, err := fatbin.Open(content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", in.Name, err)
	}
	return f, nil
}

// listImages prints a table of the images of a file for a terminal of width columns (0: any). The
// column "checked" marks the images that `heddle check` would analyze. An image that cannot be
// decompressed gets a row with its error, since the others are still of use.
func listImages(w io.Writer, in lower.Input, width int) error {
	f, err := openImages(in)
	if err != nil {
		return err
	}
	if len(f.Images) == 0 {
		return fmt.Errorf("%s: the file contains no device code: it has no section .nv_fatbin "+
			"or __nv_relfatbin", in.Name)
	}
	// An error of Select means that check would reject the file; the table is most useful then, so it
	// is printed without marks.
	checked := make(map[*fatbin.Image]bool)
	if sel, err := f.Select(); err == nil { // an error is shown in its row below
		for _, im := range sel.Images {
			checked[im] = true
		}
	}
	var t table.Table
	t.Add("image", "region", "kind", "arch", "bytes", "stored", "compression", "checked", "name",
		"kernels")
	for _, im := range f.Images {
		// The size is that of the decompressed image, in bytes.
		size, kernels := "?", ""
		data, err := im.Data()
		if err == nil {
			size = fmt.Sprint(len(data))
			var names []string
			names, err = im.Kernels()
			kernels = strings.Join(names, " ")
		}
		if err != nil {
			kernels = "error: " + err.Error()
		}
		mark := "-"
		if checked[im] {
			mark = "yes"
		}
		t.Add(fmt.Sprint(im.Number), fmt.Sprint(im.Region), fmt.Sprint(im.Kind), archText(im), size,
			fmt.Sprint(im.Stored),
			fmt.Sprint(im.Compression), mark, cmp.Or(im.Name, "-"), cmp.Or(kernels, "-"))
	}
	return t.Write(w, width)
}

// archText names an architecture as nvcc does: compute_80 is virtual (PTX), sm_80 real (machine
// code). Fatbins store the number alone.
func archText(im *fatbin.Image) string {
	switch {
	case im.Arch == 0:
		return "-"
	case im.Kind == fatbin.PTX:
		return fmt.Sprintf("compute_%d", im.Arch)
	}
	return fmt.Sprintf("sm_%d", im.Arch)
}

// imageText returns the PTX of image number, counted from 1 as --list prints it. Machine code
// (cubin) is rejected: heddle cannot disassemble it.
func imageText(in lower.Input, number int) ([]byte, error) {
	f, err := openImages(in)
	if err != nil {
		return nil, err
	}
	if number < 1 || number > len(f.Images) {
		return nil, fmt.Errorf("%s has no image %d; heddle ptx --list %s shows its %d images", in.Name,
			number, in.Name, len(f.Images))
	}
	im := f.Images[number-1]
	if im.Kind != fatbin.PTX {
		return nil, fmt.Errorf("image %d of %s is a %v, not PTX", number, in.Name, im.Kind)
	}
	return im.Data()
}

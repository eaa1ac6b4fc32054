package between

import (
	"bytes"

	"heddle/internal/edit"
)

// Cooperative completes barriers of the grid, which edits insert into the kernel: it adds their
// header and makes all launches cooperative.
func (k *Kernel) Cooperative(edits []edit.Edit, changes []Change) (*Candidate, error) {
	p := k.patch()
	p.Add(edits)
	p.Include(Header)
	for i := range k.Launches {
		if err := p.Cooperative(&k.Launches[i], k.params); err != nil {
			return nil, err
		}
	}
	text, err := p.Text()
	if err != nil {
		return nil, err
	}
	changes = append(changes, Change{k.named(len(k.Launches)) + " becomes cooperative",
		k.Launches[0].Whole.From})
	return &Candidate{Means: GridSync, Text: merged(text), Kernels: []string{k.Func.Name},
		Changes: changes, Notes: []string{
			"a cooperative launch fails unless all of its blocks are resident at once: " +
				"at most the blocks per multiprocessor (cudaOccupancyMaxActiveBlocksPerMultiprocessor) " +
				"times the multiprocessors"}}, nil
}

// Synced is the file with barriers of the grid in the kernel and their header, which is only to be
// read: the launches are as before. header is the line that was added for it.
func (k *Kernel) Synced(edits []edit.Edit) (text []byte, header string, err error) {
	p := k.patch()
	p.Add(edits)
	header = p.Include(Header)
	text, err = p.Text()
	return merged(text), header, err
}

// merged drops a block barrier on the line before or after a barrier of the grid, which does more.
func merged(text []byte) []byte {
	lines := bytes.SplitAfter(text, []byte("\n"))
	is := func(i int, statement string) bool {
		return i >= 0 && i < len(lines) && string(bytes.TrimSpace(lines[i])) == statement
	}
	indent := func(i int) int { return len(lines[i]) - len(bytes.TrimLeft(lines[i], " \t")) }
	var out [][]byte
	for i := range lines {
		drop := false
		for _, j := range []int{i - 1, i + 1} {
			drop = drop || is(i, "__syncthreads();") && is(j, Barrier) && indent(i) == indent(j)
		}
		if !drop {
			out = append(out, lines[i])
		}
	}
	return bytes.Join(out, nil)
}

package driver

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"heddle/internal/event"
	"heddle/internal/launch"
	"heddle/internal/lower"
)

// Reproduce is the command line that shows a finding again, for a seed and the launch of cfg. An
// empty command stands for the subcommand of the options. Flags with their default values are left
// out.
func (j *Job) Reproduce(command string, seed uint64, cfg *launch.Config) string {
	opt := j.Options()
	var b strings.Builder
	fmt.Fprintf(&b, "heddle %s", cmp.Or(command, opt.Command, "check"))
	if j.Module.Several {
		fmt.Fprintf(&b, " --kernel %s", launch.Quote(j.Kernel.Name))
	}
	if seed != 0 {
		fmt.Fprintf(&b, " --seed %d", seed)
	}
	if opt.Warp != event.Independent {
		fmt.Fprintf(&b, " --warp %s", opt.Warp)
	}
	if opt.Benign != event.BenignWarp {
		fmt.Fprintf(&b, " --benign %s", opt.Benign)
	}
	if opt.FenceOfWriter {
		b.WriteString(" --proxy-fence writer")
	}
	if opt.IgnoreProxyReads {
		b.WriteString(" --proxy-war ignore")
	}
	if opt.StrictScopes {
		b.WriteString(" --mbar-scope strict")
	}
	if flags := cfg.Flags(); flags != "" {
		b.WriteString(" " + flags)
	}
	if name := cmp.Or(command, opt.Command, "check"); name == "check" || name == "trace" {
		for _, box := range opt.Boxes {
			b.WriteString(" --tmap " + launch.Quote(box.String()))
		}
	}
	j.compiling(&b)
	name := j.Module.Name
	if name == Stdin {
		name = "-"
	}
	b.WriteString(" " + launch.Quote(name))
	return b.String()
}

// compiling writes the flags with which the file was compiled; PTX and binaries have none.
func (j *Job) compiling(b *strings.Builder) {
	flag := func(name string, values ...string) {
		for _, v := range values {
			if v != "" {
				fmt.Fprintf(b, " %s %s", name, launch.Quote(v))
			}
		}
	}
	if l := j.Module.Lowered.Lang; l == lower.PTX || l == lower.Binary {
		return
	}
	low := &j.Options().Lower
	flag("-p", j.Options().Database)
	flag("-I", low.Includes...)
	flag("-D", low.Defines...)
	flag("--std", low.Std)
	if low.AddressBits != 0 {
		flag("--address-bits", strconv.Itoa(low.AddressBits))
	}
	flag("--arch", low.Arch)
	flag("-O", low.OptLevel)
	flag("--compiler", low.Compiler)
	flag("--cuda-path", low.CUDAPath)
	flag("--cccl", low.CCCL)
}

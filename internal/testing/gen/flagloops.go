package gen

// FlagLoops returns a kernel of Flags whose threads wait for flags and set them in a loop over
// tiles, as a scan with look-back does: each block takes every so many tiles, or a row of them, or
// each thread does. The flag that an iteration sets and the one for which it waits are drawn. Some
// kernels set a flag in several iterations or from several blocks. The parameters are those of
// Phases.
func FlagLoops(src Source) Kernel {
	g := &flags{protocol: protocol{random{src: src}, 8, 10}, blocks: true}
	return protocolOf(src, 1, [4]uint32{1, 2, 4, 33}, g.loop, flagsText)
}

// loop writes the parts of the kernel. %k counts the iterations, or the tiles, and %m is the number
// of blocks, or of threads.
func (g *flags) loop() string {
	g.emit(".reg .b32 %%k, %%m, %%c;\n\tmov.u32 %%m, %%nctaid.x;\n\tmov.u32 %%k, 0;")
	rounds := g.mostly("3", "2", "%n")
	scheme := g.n(5)
	if scheme == 4 {
		g.blocks = false
		g.emit("mul.lo.u32 %%m, %%m, %%s;")
	}
	if scheme == 0 {
		g.emit("mov.u32 %%k, %s;\n\tmul.lo.u32 %%c, %%m, 3;", g.mostly("%b", "0"))
		rounds = g.mostly("%c", "5", "7")
	}
	again, end := g.label(), g.label()
	g.out.WriteString(again + ":\n")
	if g.n(2) == 0 { // the test is at the start
		g.emit("setp.ge.u32 %%q, %%k, %s;\n\t@%%q bra %s;", rounds, end)
	}
	step := "1"
	switch scheme {
	case 0: // the tiles of a block are as far apart as there are blocks
		step = g.mostly("%m", "1", "2")
		g.emit("mov.u32 %%w, %s;", g.mostly("%k", "%b"))
	case 1: // the same by rounds
		g.emit("mad.lo.u32 %%w, %%k, %s, %%b;", g.mostly("%m", "1", "2"))
	case 2: // a row of tiles for each block
		g.emit("mad.lo.u32 %%w, %%b, %s, %%k;", g.mostly("4", "3", "2"))
	case 3: // the number of the tile loses a bit
		g.emit("%s", g.mostly("xor.b32 %c, %k, 1;", "and.b32 %c, %k, 1;", "shr.u32 %c, %k, 1;"))
		g.emit("mad.lo.u32 %%w, %%c, %%m, %%b;")
	case 4: // the tiles of a thread
		g.emit("mad.lo.u32 %%w, %%k, %%m, %s;", g.mostly("%i", "%t"))
	}
	back := []string{"1", "1", "%m", "2"}[g.n(4)]
	g.emit("sub.u32 %%v, %%w, %s;", back)
	g.emit("setp.ge.u32 %%p1, %%w, 0;\n\tsetp.ge.u32 %%p2, %%w, %s;", back)
	if g.n(6) == 0 { // a block sets its flag before it waits for another one
		g.produce()
		g.consume()
	} else {
		g.consume()
		g.produce()
	}
	if g.n(3) == 0 {
		g.barrier()
	}
	g.emit("add.u32 %%k, %%k, %s;", step)
	g.emit("setp.lt.u32 %%q, %%k, %s;\n\t@%%q bra %s;", rounds, again)
	g.out.WriteString(end + ":\n")
	if g.n(8) == 0 {
		g.use("%v", "")
	}
	return g.out.String()
}

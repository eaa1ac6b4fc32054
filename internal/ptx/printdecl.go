package ptx

// linkageText is the directive of each linkage, with a space.
var linkageText = [...]string{Visible: ".visible ", Extern: ".extern ", Weak: ".weak ",
	Common: ".common ", NoLinkage: ""}

// function prints a function, with each directive of its header on a line of its own.
func (p *printer) function(f *Func) {
	p.text(linkageText[f.Linkage])
	if f.Entry {
		p.text(".entry ")
	} else {
		p.text(".func ")
	}
	p.attributes(f.Attrs)
	if len(f.Results) > 0 {
		p.params(f.Results, false)
		p.text(" ")
	}
	p.text(f.Name)
	if f.HasParens {
		p.params(f.Params, f.Variadic)
	}
	for _, d := range f.Dirs {
		p.text("\n")
		p.directive(d)
	}
	if f.Body == nil {
		p.text(";\n")
		return
	}
	p.text("\n")
	p.block(f.Body)
}

// prototype prints a .callprototype with its label.
func (p *printer) prototype(d *Prototype) {
	p.text(d.Name, ": .callprototype ")
	if len(d.Results) > 0 {
		p.params(d.Results, false)
		p.text(" ")
	}
	p.text("_")
	if len(d.Params) > 0 || d.Variadic {
		p.text(" ")
		p.params(d.Params, d.Variadic)
	}
	for _, dir := range d.Dirs {
		p.text(" ")
		p.directive(dir)
	}
	p.text(";\n")
}

// params prints a single parameter on the same line, and several on a line each.
func (p *printer) params(list []*Var, variadic bool) {
	n := len(list)
	if variadic {
		n++
	}
	sep, end := "", ")"
	if n > 1 {
		sep, end = "\n\t", "\n)"
	}
	p.text("(")
	for i, v := range list {
		p.text(sep)
		p.variable(v)
		if i+1 < n {
			p.text(",")
		}
	}
	if variadic {
		p.text(sep, "...")
	}
	p.text(end)
}

// variable prints a declaration without its end, since parameters end with a comma or parenthesis.
func (p *printer) variable(v *Var) {
	p.text(linkageText[v.Linkage], ".", v.Space, v.Bank, " ")
	if v.Align != 0 {
		p.text(".align ")
		p.int(v.Align)
		p.text(" ")
	}
	p.attributes(v.Attrs)
	switch v.Vec {
	case 2:
		p.text(".v2 ")
	case 4:
		p.text(".v4 ")
	}
	p.text(".", v.Type, " ")
	if v.Ptr != nil {
		p.text(".ptr ")
		if v.Ptr.Space != "" {
			p.text(".", v.Ptr.Space, " ")
		}
		if v.Ptr.Align != 0 {
			p.text(".align ")
			p.int(v.Ptr.Align)
			p.text(" ")
		}
	}
	for i := range v.Names {
		if i > 0 {
			p.text(", ")
		}
		p.varName(&v.Names[i])
	}
}

// attributes prints .attribute(...) if there are any.
func (p *printer) attributes(list []string) {
	for i, a := range list {
		if i == 0 {
			p.text(".attribute(")
		} else {
			p.text(", ")
		}
		p.text(a)
	}
	if len(list) > 0 {
		p.text(") ")
	}
}

// varName prints a declared name with its range or dimensions and its initialiser.
func (p *printer) varName(n *VarName) {
	p.text(n.Name)
	if n.Range > 0 {
		p.text("<")
		p.int(n.Range)
		p.text(">")
	}
	for _, d := range n.Dims {
		p.text("[")
		if d >= 0 {
			p.int(d)
		}
		p.text("]")
	}
	if n.Init != nil {
		p.text(" = ")
		p.init(n.Init)
	}
}

// init prints an initialiser.
func (p *printer) init(in *Init) {
	if !in.Braces {
		if in.Member != "" {
			p.text(in.Member, " = ")
		}
		p.expr(in.Value)
		return
	}
	p.text("{")
	for i, x := range in.List {
		if i > 0 {
			p.text(", ")
		}
		p.init(x)
	}
	p.text("}")
}

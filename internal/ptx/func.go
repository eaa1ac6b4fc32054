package ptx

// The grammar of functions and prototypes (ISA 11.2 and 11.3.3):
//
//	function  = [ linkage ] ( ".entry" | ".func" ) [ ".attribute" ... ] [ params ] ident
//	            [ params ] { directive } ( block | ";" ) .
//	params    = "(" [ param { "," param } ] [ "..." ] ")" .
//	param     = ( ".param" | ".reg" ) { attribute } name .
//	prototype = [ params ] "_" [ params ] { directive } ";" .

// function parses .entry or .func with its linkage (ISA 11.2). After an invalid header it still
// parses the body, so that errors in it are reported in the same run.
func (p *parser) function() *Func {
	f := &Func{Linkage: linkage(p.text())}
	start := p.pos()
	if f.Linkage != NoLinkage {
		p.next()
	}
	f.Entry = p.is(".entry")
	p.next()
	ok := p.header(f)
	if !ok {
		p.recoverHeader()
	}
	switch p.kind {
	case tLBrace:
		f.Body = p.block()
	case tSemi:
		p.next()
	default:
		if ok && !p.declFollows() {
			p.unexpected("\"{\" or \";\" after the header of " + f.Name)
			return nil
		}
	}
	f.Sp = p.since(start)
	if f.Name == "" {
		return nil
	}
	return f
}

// declFollows reports whether the current token, the first of its line, starts a definition that
// cannot be between the header of a function and its body. The header before it is then a
// declaration without ';': compilers of the time of PTX 2 omitted it, and ISA 11.2.2 does not
// mention one.
func (p *parser) declFollows() bool {
	if p.kind != tDot || !p.firstOnLine() {
		return false
	}
	text := p.text()
	return text == ".file" || text == ".global" || text == ".const" || linkage(text) != NoLinkage ||
		p.funcFollows()
}

// header parses the part of a function from .attribute to the directives before its body. It sets
// the name as soon as it is known, so that a function with invalid parameters keeps its name and
// body.
func (p *parser) header(f *Func) (ok bool) {
	if p.is(".attribute") {
		if f.Attrs, ok = p.attributes(); !ok {
			return false
		}
	}
	if p.kind == tLParen && !f.Entry {
		if f.Results, _, ok = p.params(); !ok {
			return false
		}
	}
	f.NameSpan = p.span()
	if f.Name, ok = p.ident("the name of a function"); !ok {
		return false
	}
	if p.kind == tLParen {
		f.HasParens = true
		if f.Params, f.Variadic, ok = p.params(); !ok {
			return false
		}
	}
	f.Dirs, ok = p.funcDirs()
	return ok
}

// recoverHeader skips to the body of a function with an invalid header.
func (p *parser) recoverHeader() {
	p.inInit, p.stack = false, p.stack[:0]
	for p.kind != tLBrace && p.kind != tSemi && p.kind != tEOF &&
		!(p.kind == tDot && p.firstOnLine() && p.funcFollows()) {
		p.next()
	}
}

// params parses a list of parameters in parentheses. "..." at its end makes the function variadic.
// An empty list is valid.
func (p *parser) params() (list []*Var, variadic, ok bool) {
	p.next()
	for p.kind != tRParen {
		if p.got(tEllip) {
			variadic = true
			break
		}
		v := p.param()
		if v == nil {
			return nil, false, false
		}
		list = append(list, v)
		if p.kind != tComma {
			break
		}
		if p.next(); p.kind == tRParen {
			p.unexpected("a parameter after \",\"")
			return nil, false, false
		}
	}
	if p.kind != tRParen {
		p.unexpected("\",\" or \")\" in a parameter list")
		return nil, false, false
	}
	p.next()
	return list, variadic, true
}

// param parses one parameter; nil after an error.
func (p *parser) param() *Var {
	v := p.vars.alloc()
	start := p.pos()
	if !p.is(".param") && !p.is(".reg") {
		p.unexpected("\".param\" or \".reg\"")
		return nil
	}
	if !p.varHead(v) {
		return nil
	}
	name, ok := p.varName()
	if !ok {
		return nil
	}
	v.Names = p.names.one(name)
	v.Sp = p.since(start)
	return v
}

package launch

// A cooperative launch in host code passes the addresses of its arguments in an array, and so does
// a launch by the function of the runtime that <<<>>> stands for:
//
//	void *args[] = {&a, &n};
//	cudaLaunchCooperativeKernel((void *)k, grid, block, args, shared, stream);
//	cudaLaunchKernel((void *)k, grid, block, args, shared, stream);
//
// It is read as k<<<grid, block, shared, stream>>>(a, n), which it equals: the runtime copies what
// the addresses lead to at the launch. Only an array that is initialized like this and used by such
// launches alone is understood. What is not is left as it is, and its launch stays unknown.

// isLaunchCall reports whether a token is the name of such a function.
func isLaunchCall(t token) bool {
	return t.is("cudaLaunchCooperativeKernel") || t.is("cudaLaunchKernel")
}

// launchArray is the array of arguments of such a launch.
type launchArray struct {
	from, to int // its declaration, with the semicolon
	args     [][]token
}

// withLaunches returns tokens in which calls that launch a kernel have the form of other launches.
func withLaunches(toks []token) []token {
	var out []token
	from := 0
	arrays := make(map[string]*launchArray)
	var last *launchArray // whose declaration is dropped once a launch uses it
	for i := 0; i < len(toks); i++ {
		if a, name := readArray(toks, i); a != nil {
			arrays[name] = a
			i = a.to - 1
			continue
		}
		if !isLaunchCall(toks[i]) || i+1 >= len(toks) || !toks[i+1].is("(") {
			continue
		}
		parts, end := listAt(toks, i+1)
		if end < 0 || len(parts) < 4 || len(parts) > 6 || len(parts[3]) != 1 {
			continue
		}
		a, kernel := arrays[parts[3][0].text], launchedName(parts[0])
		if a == nil || kernel == nil || usedBetween(toks[a.to:i], parts[3][0].text) {
			continue
		}
		if a != last && a.from >= from {
			out = append(out, toks[from:a.from]...)
			from = a.to
		}
		last = a
		out = append(out, toks[from:i]...)
		out = append(out, asLaunch(toks[i], toks[end], kernel, parts, a.args)...)
		from, i = end+1, end
	}
	if from == 0 {
		return toks
	}
	return append(out, toks[from:]...)
}

// usedBetween reports whether an array may have changed since its declaration: it is named other
// than as the argument of an earlier launch.
func usedBetween(toks []token, name string) bool {
	for i, t := range toks {
		if t.is(name) && (i+1 >= len(toks) || !toks[i+1].is(",") && !toks[i+1].is(")")) {
			return true
		}
	}
	return false
}

// readArray reads void *NAME[] = {&a, (void *)&b}; at i.
func readArray(toks []token, i int) (*launchArray, string) {
	if i+7 >= len(toks) || !toks[i].is("void") || !toks[i+1].is("*") || toks[i+2].kind != tokIdent ||
		!toks[i+3].is("[") {
		return nil, ""
	}
	open := i + 4
	for open < len(toks) && open < i+8 && !toks[open].is("{") {
		open++
	}
	if open >= len(toks) || !toks[open].is("{") {
		return nil, ""
	}
	parts, end := listAt(toks, open)
	if end < 0 || end+1 >= len(toks) || !toks[end+1].is(";") {
		return nil, ""
	}
	a := &launchArray{from: i, to: end + 2}
	for _, p := range parts {
		if len(p) > 4 && p[0].is("(") && p[1].is("void") && p[2].is("*") && p[3].is(")") {
			p = p[4:]
		}
		if len(p) < 2 || !p[0].is("&") {
			return nil, ""
		}
		a.args = append(a.args, p[1:])
	}
	return a, toks[i+2].text
}

// launchedName returns the tokens of the kernel in (void *)k or k, with its template arguments.
func launchedName(toks []token) []token {
	if len(toks) > 1 && toks[0].is("(") {
		i := 1
		for i < len(toks) && !toks[i].is(")") {
			i++
		}
		toks = toks[min(i+1, len(toks)):]
	}
	if len(toks) > 0 && toks[0].is("&") {
		toks = toks[1:]
	}
	if len(toks) == 0 || toks[0].kind != tokIdent {
		return nil
	}
	return toks
}

// listAt splits the list in the brackets at open at its commas. end is the index of the closing
// bracket; -1 if there is none.
func listAt(toks []token, open int) (parts [][]token, end int) {
	depth, start := 0, open+1
	for i := open; i < len(toks) && i < open+maxListTokens; i++ {
		switch t := toks[i]; {
		case t.is("("), t.is("["), t.is("{"):
			depth++
		case t.is(")"), t.is("]"), t.is("}"):
			if depth--; depth == 0 {
				if i > start {
					parts = append(parts, toks[start:i])
				}
				return parts, i
			}
		case t.is(",") && depth == 1:
			parts = append(parts, toks[start:i])
			start = i + 1
		}
	}
	return nil, -1
}

// asLaunch writes the tokens of a launch by a call, whose first token is the name of the function.
// Brackets have the position of the call.
func asLaunch(call, shut token, kernel []token, parts, args [][]token) []token {
	at := func(text string, of token) token {
		of.kind, of.text = tokPunct, text
		return of
	}
	out := append([]token(nil), kernel...)
	open := at("<<<", call)
	open.cooperative = call.is("cudaLaunchCooperativeKernel")
	out = append(out, open)
	out = append(append(append(out, parts[1]...), at(",", call)), parts[2]...)
	for _, p := range parts[4:] {
		out = append(append(out, at(",", call)), p...)
	}
	out = append(out, at(">>>", shut), at("(", shut))
	for i, a := range args {
		if i > 0 {
			out = append(out, at(",", shut))
		}
		out = append(out, a...)
	}
	return append(out, at(")", shut))
}

package isa

import "strconv"

// pointRow is a place for a barrier. It is not an instruction of the ISA, so that no text
// can spell it and Lookup does not find it: it comes of .pragma "heddle.point N", which a PTX
// reader takes for a hint (PTX ISA 11.4.7).
var pointRow = Row{Opcode: "heddle.point", Action: ActNothing, src: all(b32Type), Category: Point, Roles: []Role{Src}, Section: "11.4.7", Executable: true}

// PointDesc describes a point: it does nothing. Its source operand is the number of the point.
// standing says that it belongs to the barrier that comes next (.pragma "heddle.barrier N"), which
// can be taken away.
func PointDesc(n int, standing bool) Desc {
	kind := "point"
	if standing {
		kind = "barrier"
	}
	return Desc{Row: &pointRow, Section: pointRow.Section, Vec: 1,
		Mods: []string{kind, strconv.Itoa(n)}}
}

// IsPoint reports whether the instruction is a point, and whether it is one of a barrier that
// stands.
func (d *Desc) IsPoint() (point, standing bool) {
	if d.Row != &pointRow {
		return false, false
	}
	return true, d.Mods[0] == "barrier"
}

package isa

import "strconv"

// pointRow is a place for a barrier. It is not an instruction of the ISA: no text can spell it and
// Lookup does not find it. It is made from .pragma "heddle.point N", which other readers of PTX
// treat as a hint (PTX ISA 11.4.7).
var pointRow = Row{Opcode: "heddle.point", Action: ActNothing, src: all(b32Type), Category: Point, Roles: []Role{Src}, Section: "11.4.7", Executable: true}

// PointDesc describes a point, which does nothing. Its source operand is its number. standing says
// that the point marks the next barrier in the text (.pragma "heddle.barrier N"), which can be
// removed, and not a place where one can be added.
func PointDesc(n int, standing bool) Desc {
	kind := "point"
	if standing {
		kind = "barrier"
	}
	return Desc{Row: &pointRow, Section: pointRow.Section, Vec: 1,
		Mods: []string{kind, strconv.Itoa(n)}}
}

// IsPoint reports whether the instruction is a point, and whether it marks an existing barrier.
func (d *Desc) IsPoint() (point, standing bool) {
	if d.Row != &pointRow {
		return false, false
	}
	return true, d.Mods[0] == "barrier"
}

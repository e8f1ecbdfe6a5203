package sreport

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/vc-batch/vc/internal/usererror"
)

// Unit is the unit of time in which use is printed.
type Unit struct {
	// name selects the unit, and title is printed in the heading.
	name, title string
	// seconds is the length of the unit. It is 0 if only shares of the capacity are printed.
	seconds int64
	// share adds the share of the capacity.
	share bool
}

// units lists the units of time, with Slurm's names. The first that matches an abbreviation is used.
var units = []Unit{
	{"Seconds", "Seconds", 1, false},
	{"Minutes", "Minutes", 60, false},
	{"Hours", "Hours", 3600, false},
	{"Percent", "Percentage of Total", 0, true},
	{"SecPer", "Seconds/Percentage of Total", 1, true},
	{"MinPer", "Minutes/Percentage of Total", 60, true},
	{"HourPer", "Hours/Percentage of Total", 3600, true},
}

// Minutes is the default unit.
var Minutes = units[1]

// ParseUnit parses the value of -t. It may be abbreviated.
func ParseUnit(text string) (Unit, error) {
	for _, unit := range units {
		if isPrefixOf(strings.ToLower(text), strings.ToLower(unit.name), 1) {
			return unit, nil
		}
	}
	return Unit{}, usererror.Errorf("use seconds, minutes, hours, percent, secper, minper or hourper", "Invalid time format: %s", text)
}

// amount is an amount of a resource over time, in the unit of the accounting database.
type amount struct {
	value int64
	// capacity is the capacity of the cluster in the same period. It is 0 if it is not known.
	capacity int64
	known    bool
}

// format returns the text of an amount.
func (u Unit) format(a amount, tres TRES) string {
	if !a.known {
		return "N/A"
	}
	share := "N/A"
	if a.capacity > 0 {
		share = fmt.Sprintf("%.2f%%", 100*float64(a.value)/float64(a.capacity))
	}
	if u.seconds == 0 {
		return share
	}
	count := strconv.FormatInt(a.value/(tres.amount*u.seconds), 10)
	if u.share {
		return count + "(" + share + ")"
	}
	return count
}

// width returns the width of a column of amounts, which is wider if shares are added.
func (u Unit) width(width int) int {
	if u.share && u.seconds > 0 {
		return width + len("(100.00%)")
	}
	return width
}

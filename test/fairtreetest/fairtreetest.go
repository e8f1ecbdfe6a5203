// Package fairtreetest compares package fairtree with the output of Slurm's sshare.
package fairtreetest

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/vc-batch/vc/internal/fairtree"
)

// tolerance is the largest difference to Slurm's numbers, which have six decimal places.
const tolerance = 1e-6

// Compare reports the differences between the associations of a tree and the output of `sshare -l -a -P` for it.
func Compare(t *testing.T, root *fairtree.Account, output string) {
	t.Helper()
	rows := parse(t, output)
	for _, a := range fairtree.Compute(root) {
		name := a.Account + "/" + a.User
		row, ok := rows[name]
		if !ok {
			t.Errorf("%s: sshare does not print it", name)
			continue
		}
		delete(rows, name)
		values := map[string]float64{
			"RawShares": float64(a.RawShares), "NormShares": a.NormShares, "RawUsage": a.RawUsage, "NormUsage": a.NormUsage, "EffectvUsage": a.EffectiveUsage,
			"FairShare": a.FairShare, "LevelFS": a.LevelFS,
		}
		for column, ours := range values {
			compareCell(t, name, column, row[column], ours)
		}
	}
	for name := range rows {
		t.Errorf("%s: only sshare prints it", name)
	}
}

// compareCell compares a number with a cell. Slurm leaves cells empty that have no meaning, for example the FairShare of
// an account.
func compareCell(t *testing.T, name, column, cell string, ours float64) {
	t.Helper()
	if cell == "" {
		return
	}
	theirs, err := strconv.ParseFloat(cell, 64)
	if err != nil {
		t.Errorf("%s: %s: %v", name, column, err)
		return
	}
	if theirs != ours && !(math.Abs(theirs-ours) <= tolerance) {
		t.Errorf("%s: %s is %v, in Slurm %s", name, column, ours, cell)
	}
}

// parse returns the cells of each association by column.
func parse(t *testing.T, output string) map[string]map[string]string {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(output), "\n")
	header := strings.Split(lines[0], "|")
	for _, column := range []string{"Account", "User", "FairShare", "LevelFS"} {
		if !slices.Contains(header, column) {
			t.Fatalf("sshare prints no column %s: %s", column, lines[0])
		}
	}
	rows := map[string]map[string]string{}
	for _, line := range lines[1:] {
		cells := map[string]string{}
		for i, cell := range strings.Split(line, "|") {
			cells[header[i]] = strings.TrimSpace(cell)
		}
		rows[cells["Account"]+"/"+cells["User"]] = cells
	}
	return rows
}

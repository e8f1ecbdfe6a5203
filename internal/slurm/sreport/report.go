package sreport

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vc-batch/vc/internal/accounting"
	"github.com/vc-batch/vc/internal/slurm/tableformat"
	"github.com/vc-batch/vc/internal/usererror"
)

// periodFormat is the format of the times in the heading.
const periodFormat = "2006-01-02T15:04:05"

// Unit is the unit of time in which use is printed.
type Unit struct {
	name    string
	seconds int64
}

// units lists the units of time, with Slurm's names.
var units = []Unit{{"Seconds", 1}, {"Minutes", 60}, {"Hours", 3600}}

// Minutes is the default unit.
var Minutes = units[1]

// ParseUnit parses the value of -t. It may be abbreviated.
func ParseUnit(text string) (Unit, error) {
	for _, unit := range units {
		if isPrefixOf(strings.ToLower(text), strings.ToLower(unit.name), 1) {
			return unit, nil
		}
	}
	return Unit{}, usererror.Errorf("use seconds, minutes or hours; the capacity of the cluster is not recorded, so shares of it are not available", "Invalid time format: %s", text)
}

// TRES is a resource under the name that Slurm has for it.
type TRES struct {
	Name, resource string
	// amount is the amount of the resource that counts as one.
	amount int64
}

// CPU is the default resource.
var CPU = TRES{Name: "cpu", resource: accounting.CPU, amount: 1000}

// ParseTRES parses the value of -T: a list such as cpu,mem,node,gres/gpu. A resource of Kubernetes, such as
// nvidia.com/gpu, may also be named as such.
func ParseTRES(text string) ([]TRES, error) {
	var all []TRES
	for _, name := range splitList(text) {
		switch lower := strings.ToLower(name); {
		case lower == "cpu":
			all = append(all, CPU)
		case lower == "mem":
			all = append(all, TRES{"mem", accounting.Memory, 1})
		case lower == "node":
			all = append(all, TRES{"node", accounting.Nodes, 1})
		case lower == "gres/gpu" || lower == "gpu":
			all = append(all, TRES{"gres/gpu", "nvidia.com/gpu", 1})
		case strings.Contains(name, "/"):
			all = append(all, TRES{name, name, 1})
		default:
			return nil, usererror.Errorf("use cpu, mem, node, gres/gpu, or the name of a resource of Kubernetes", "Invalid TRES: %s", name)
		}
	}
	if len(all) == 0 {
		return []TRES{CPU}, nil
	}
	return all, nil
}

// Query returns the query for the use of some resources.
func (r *Request) Query(resources []TRES) accounting.UsageQuery {
	q := accounting.UsageQuery{
		Clusters: r.Clusters, Users: r.Users, Accounts: r.Accounts, From: r.From.UTC(), To: r.To.UTC(),
		By: []accounting.Dimension{accounting.ByCluster, accounting.ByAccount, accounting.ByUser},
	}
	for _, tres := range resources {
		q.Resources = append(q.Resources, tres.resource)
	}
	return q
}

// Line is a line of a report.
type Line struct {
	Cluster, Account, Login, TRES string
	// Used is in the unit of the report.
	Used int64
}

// Lines returns the lines of the report for the use of some resources.
func (r *Request) Lines(usage []accounting.Usage, resources []TRES, unit Unit) []Line {
	var lines []Line
	for _, tres := range resources {
		lines = append(lines, r.linesOfResource(usage, tres, unit)...)
	}
	switch {
	case r.byAccount:
		slices.SortStableFunc(lines, func(a, b Line) int {
			return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.Account, b.Account), cmp.Compare(a.Login, b.Login))
		})
	case r.byUser:
		slices.SortStableFunc(lines, func(a, b Line) int {
			return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.Login, b.Login), cmp.Compare(a.Account, b.Account))
		})
	}
	return lines
}

// linesOfResource returns the lines for one resource. For TopUsage, these are the lines with the highest use.
func (r *Request) linesOfResource(usage []accounting.Usage, tres TRES, unit Unit) []Line {
	seconds := map[Line]int64{}
	for i := range usage {
		u := &usage[i]
		if u.Resource != tres.resource {
			continue
		}
		line := Line{Cluster: u.Cluster, Account: u.Account, Login: u.User, TRES: tres.Name}
		seconds[line] += u.Seconds
		if r.byAccount {
			line.Login = ""
			seconds[line] += u.Seconds
		}
	}
	lines := make([]Line, 0, len(seconds))
	for line, used := range seconds {
		line.Used = used / (tres.amount * unit.seconds)
		lines = append(lines, line)
	}
	slices.SortFunc(lines, func(a, b Line) int {
		return cmp.Or(cmp.Compare(b.Used, a.Used), cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.Login, b.Login), cmp.Compare(a.Account, b.Account))
	})
	isLimited := !r.byAccount && !r.byUser
	if isLimited {
		lines = lines[:min(len(lines), r.TopCount)]
	}
	return lines
}

// Heading returns the text above the table.
func (r *Request) Heading(resources []TRES, unit Unit) string {
	title := r.Title
	if strings.Contains(title, "%d") {
		title = fmt.Sprintf(title, r.TopCount)
	}
	kind := "CPU"
	if len(resources) != 1 || resources[0] != CPU {
		kind = "TRES"
	}
	rule := strings.Repeat("-", 80) + "\n"
	return rule + fmt.Sprintf("%s %s - %s (%d secs)\n", title, r.From.Format(periodFormat), r.To.Add(-time.Second).Format(periodFormat), int64(r.To.Sub(r.From).Seconds())) +
		fmt.Sprintf("Usage reported in %s %s\n", kind, unit.name) + rule
}

// DefaultColumns returns the default format of the report. If several resources were requested, it names each.
func (r *Request) DefaultColumns(resources []TRES) string {
	isDefault := len(resources) == 1 && resources[0] == CPU
	if isDefault {
		return r.Format
	}
	return strings.Replace(strings.TrimSuffix(r.Format, ",Energy"), ",Used", ",TresName,Used", 1)
}

// ColumnFields returns all columns.
func ColumnFields() []tableformat.Field[Line] {
	return []tableformat.Field[Line]{
		tableformat.NewField(0, "Cluster", "Cluster", 9, func(l Line) string { return l.Cluster }),
		tableformat.NewField(0, "Account", "Account", 15, func(l Line) string { return l.Account }),
		tableformat.NewField(0, "Login", "Login", 9, func(l Line) string { return l.Login }),
		tableformat.NewField(0, "Proper", "Proper Name", 15, func(l Line) string { return l.Login }),
		tableformat.NewField(0, "TresName", "TRES Name", 14, func(l Line) string { return l.TRES }),
		tableformat.NewField(0, "Used", "Used", 10, func(l Line) string { return strconv.FormatInt(l.Used, 10) }),
		tableformat.NewField(0, "Energy", "Energy", 10, func(Line) string { return "0" }),
	}
}

package sreport

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vc-batch/vc/internal/accounting"
	"github.com/vc-batch/vc/internal/slurm/listrow"
	"github.com/vc-batch/vc/internal/slurm/tableformat"
	"github.com/vc-batch/vc/internal/usererror"
)

// periodFormat is the format of the times in the heading.
const periodFormat = "2006-01-02T15:04:05"

// TRES is a resource with its name in Slurm.
type TRES struct {
	// Name is the name in Slurm, and resource the name in the accounting database. gres/gpu has no resource: it stands for
	// the GPUs of all vendors.
	Name, resource string
	// amount is the amount of the resource that counts as one.
	amount int64
}

// gpuName is the name of GPUs among the generic resources.
const gpuName = "gpu"

// includes reports whether amounts of a resource in the accounting database count.
func (t *TRES) includes(resource string) bool {
	if t.resource == "" {
		return listrow.GresName(resource) == gpuName
	}
	return t.resource == resource
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
		case lower == "gres/gpu" || lower == gpuName:
			all = append(all, TRES{"gres/gpu", "", 1})
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

// Facts holds the data from which a report is computed.
type Facts struct {
	// Usage is the answer to Query.
	Usage []accounting.Usage
	// Waiting is the answer to WaitingQuery. It is needed for the use of clusters only.
	Waiting []accounting.Usage
	// Capacity is the answer to CapacityQuery. It is needed if NeedsCapacity is true.
	Capacity []accounting.Capacity
	// Parents holds the parent of each account that has one. It is needed if Tree is true.
	Parents map[string]string
}

// NeedsCapacity reports whether the report needs the capacity of the cluster.
func (r *Request) NeedsCapacity(unit Unit) bool {
	return r.IsAboutClusters() || (unit.share && !r.PrintJobCount)
}

// CapacityQuery returns the query for the capacity of some resources.
func (r *Request) CapacityQuery(resources []TRES) accounting.CapacityQuery {
	return accounting.CapacityQuery{Clusters: r.Clusters, Resources: resourceNames(resources), From: r.From.UTC(), To: r.To.UTC()}
}

// resourceNames returns the names of resources in the accounting database. It returns nil, which selects all, if GPUs are
// among them, because their names are not known.
func resourceNames(resources []TRES) []string {
	var names []string
	for _, tres := range resources {
		if tres.resource == "" {
			return nil
		}
		names = append(names, tres.resource)
	}
	return names
}

// IsAboutClusters reports whether the report compares the use of all users with the capacity of the cluster.
func (r *Request) IsAboutClusters() bool { return r.layout == clusters }

// Query returns the query for the use of some resources.
func (r *Request) Query(resources []TRES) accounting.UsageQuery {
	q := accounting.UsageQuery{
		Clusters: r.Clusters, Users: r.Users, Accounts: r.Accounts, Queues: r.Partitions, From: r.From.UTC(), To: r.To.UTC(),
	}
	switch r.layout {
	case clusters:
		q.By = []accounting.Dimension{accounting.ByCluster}
	case sizes:
		q.By = []accounting.Dimension{accounting.ByCluster, accounting.ByAccount, accounting.BySize}
	case accountsAndQOS:
		q.By = []accounting.Dimension{accounting.ByCluster, accounting.ByAccount, accounting.ByQOS}
	default:
		q.By = []accounting.Dimension{accounting.ByCluster, accounting.ByAccount, accounting.ByUser}
	}
	if r.PrintJobCount {
		q.Resources = []string{accounting.Nodes} // every attempt that ran has nodes
		return q
	}
	q.Resources = resourceNames(resources)
	return q
}

// WaitingQuery returns the query for the time during which jobs waited for some resources.
func (r *Request) WaitingQuery(resources []TRES) accounting.UsageQuery {
	q := r.Query(resources)
	q.Waiting = true
	return q
}

// Line is a line of a report.
type Line struct {
	Cluster, Account, Login, QOS string
	tres                         TRES
	unit                         Unit
	used                         amount
	// The other amounts are for reports about clusters. waiting is the amount that jobs waited for in excess of the idle
	// capacity.
	down, idle, planned, waiting amount
	// sizes are the amounts, or the numbers of jobs, by size. share is the fraction of all use in the cluster, from 0 to 1.
	sizes []amount
	share float64
	// depth is the number of accounts above the line in the tree.
	depth int
}

// Lines returns the lines of the report for the use of some resources.
func (r *Request) Lines(facts *Facts, resources []TRES, unit Unit) []Line {
	if r.PrintJobCount {
		resources, unit = []TRES{{"", accounting.Nodes, 1}}, units[0]
	}
	var lines []Line
	for _, tres := range resources {
		lines = append(lines, r.linesOfResource(facts, tres, unit)...)
	}
	if r.Tree {
		return orderAsTree(lines, facts.Parents)
	}
	if r.layout != topUsers {
		slices.SortStableFunc(lines, r.compareLines)
	}
	return lines
}

// Merge orders and limits the lines of several clusters.
func (r *Request) Merge(lines []Line) []Line {
	if r.layout != topUsers {
		slices.SortStableFunc(lines, func(a, b Line) int { return cmp.Compare(a.Cluster, b.Cluster) })
		return lines
	}
	var merged []Line
	printed := map[string]int{}
	slices.SortStableFunc(lines, compareUse)
	for _, line := range lines {
		if printed[line.tres.Name]++; printed[line.tres.Name] <= r.TopCount {
			merged = append(merged, line)
		}
	}
	return merged
}

// compareUse orders lines by resource, the highest use first.
func compareUse(a, b Line) int {
	return cmp.Or(cmp.Compare(a.tres.Name, b.tres.Name), cmp.Compare(b.used.value, a.used.value),
		cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.Login, b.Login), cmp.Compare(a.Account, b.Account))
}

// compareLines compares the names of lines in the order in which the report lists them.
func (r *Request) compareLines(a, b Line) int {
	byAccount, byLogin := cmp.Compare(a.Account, b.Account), cmp.Compare(a.Login, b.Login)
	if r.layout == usersAndAccounts {
		byAccount, byLogin = byLogin, byAccount
	}
	return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), byAccount, byLogin, cmp.Compare(a.QOS, b.QOS))
}

// lineKey identifies a line.
type lineKey struct{ cluster, account, login, qos string }

// linesOfResource returns the lines for one resource. For TopUsage, these are the lines with the highest use.
func (r *Request) linesOfResource(facts *Facts, tres TRES, unit Unit) []Line {
	usage := slices.DeleteFunc(slices.Clone(facts.Usage), func(u accounting.Usage) bool { return !tres.includes(u.Resource) })
	switch r.layout {
	case clusters:
		return r.linesOfClusters(usage, facts, tres, unit)
	case sizes:
		return r.linesOfSizes(usage, facts, tres, unit)
	}
	seconds := map[lineKey]int64{}
	accounts := map[lineKey][]string{}
	for i := range usage {
		u := &usage[i]
		at := lineKey{u.Cluster, u.Account, u.User, u.QOS}
		if r.Group {
			at.account = ""
			if !slices.Contains(accounts[at], u.Account) {
				accounts[at] = append(accounts[at], u.Account)
			}
		}
		if isAccountLine := r.layout == accountsAndUsers && u.User == ""; !isAccountLine {
			seconds[at] += u.Seconds
		}
		if r.layout == accountsAndUsers {
			for _, account := range r.accountsAbove(u.Account, facts.Parents) {
				seconds[lineKey{cluster: u.Cluster, account: account}] += u.Seconds
			}
		}
	}
	lines := make([]Line, 0, len(seconds))
	for at, used := range seconds {
		line := Line{Cluster: at.cluster, Account: at.account, Login: at.login, QOS: at.qos, tres: tres, unit: unit}
		line.used = r.amountOf(used, facts, at.cluster, tres)
		if r.Group {
			slices.Sort(accounts[at])
			line.Account = strings.Join(accounts[at], ",")
		}
		lines = append(lines, line)
	}
	slices.SortFunc(lines, compareUse)
	if r.layout == topUsers {
		lines = lines[:min(len(lines), r.TopCount)]
	}
	return lines
}

// amountOf returns an amount of a resource in a cluster.
func (r *Request) amountOf(value int64, facts *Facts, cluster string, tres TRES) amount {
	recorded, _ := facts.capacityOf(cluster, tres)
	return amount{value: value, capacity: recorded, known: true}
}

// capacityOf returns the recorded capacity of a cluster over the period, and the part of nodes that were down or drained.
func (f *Facts) capacityOf(cluster string, tres TRES) (recorded, down int64) {
	for i := range f.Capacity {
		sum := &f.Capacity[i]
		if sum.Cluster != cluster || !tres.includes(sum.Resource) {
			continue
		}
		recorded += sum.Seconds
		if sum.State != accounting.NodeUp {
			down += sum.Seconds
		}
	}
	return recorded, down
}

// linesOfClusters returns a line for each cluster. Capacity that is not allocated is down, idle or, if jobs waited for it,
// planned. Jobs may still run on drained nodes, so only the rest of their capacity is down.
func (r *Request) linesOfClusters(usage []accounting.Usage, facts *Facts, tres TRES, unit Unit) []Line {
	allocated, waiting := map[string]int64{}, map[string]int64{}
	for i := range facts.Capacity {
		allocated[facts.Capacity[i].Cluster] = 0 // a cluster without use is idle
	}
	for i := range usage {
		allocated[usage[i].Cluster] += usage[i].Seconds
	}
	for i := range facts.Waiting {
		if u := &facts.Waiting[i]; tres.includes(u.Resource) {
			waiting[u.Cluster] += u.Seconds
		}
	}
	var lines []Line
	for _, cluster := range slices.Sorted(maps.Keys(allocated)) {
		recorded, down := facts.capacityOf(cluster, tres)
		free := max(0, recorded-allocated[cluster])
		down = min(down, free)
		free -= down
		planned := min(free, waiting[cluster])
		lines = append(lines, Line{
			Cluster: cluster, tres: tres, unit: unit,
			used:    r.amountOf(allocated[cluster], facts, cluster, tres),
			down:    r.amountOf(down, facts, cluster, tres),
			idle:    r.amountOf(free-planned, facts, cluster, tres),
			planned: r.amountOf(planned, facts, cluster, tres),
			waiting: r.amountOf(waiting[cluster]-planned, facts, cluster, tres),
		})
	}
	return lines
}

// linesOfSizes returns a line for each account, with the use or the number of jobs by the number of allocated CPUs.
func (r *Request) linesOfSizes(usage []accounting.Usage, facts *Facts, tres TRES, unit Unit) []Line {
	lines, all := map[lineKey]*Line{}, map[string]int64{}
	for i := range usage {
		u := &usage[i]
		at := lineKey{cluster: u.Cluster, account: u.Account}
		line := lines[at]
		if line == nil {
			line = &Line{Cluster: u.Cluster, Account: u.Account, tres: tres, unit: unit, used: r.amountOf(0, facts, u.Cluster, tres)}
			for range len(r.Grouping) + 1 {
				line.sizes = append(line.sizes, line.used)
			}
			lines[at] = line
		}
		value := u.Seconds
		if r.PrintJobCount {
			value = u.Attempts
		}
		column, _ := slices.BinarySearch(r.Grouping, u.MilliCPUs/CPU.amount+1)
		line.sizes[column].value += value
		line.used.value += value
		all[u.Cluster] += value
	}
	var list []Line
	for _, line := range lines {
		line.share = float64(line.used.value) / float64(max(1, all[line.Cluster]))
		list = append(list, *line)
	}
	return list
}

// Heading returns the text above the table.
func (r *Request) Heading(resources []TRES, unit Unit) string {
	title := r.Title
	if strings.Contains(title, "%d") {
		title = fmt.Sprintf(title, r.TopCount)
	}
	kind := "CPU"
	if !isDefault(resources) {
		kind = "TRES"
	}
	reported := fmt.Sprintf("Usage reported in %s %s", kind, unit.title)
	if r.PrintJobCount {
		reported = "Units are in number of jobs ran"
	}
	rule := strings.Repeat("-", 80) + "\n"
	return rule + fmt.Sprintf("%s %s - %s (%d secs)\n", title, r.From.Format(periodFormat), r.To.Add(-time.Second).Format(periodFormat), int64(r.To.Sub(r.From).Seconds())) +
		reported + "\n" + rule
}

func isDefault(resources []TRES) bool { return len(resources) == 1 && resources[0] == CPU }

// ParseColumns returns the columns of the report: the requested ones, or those of its default format. If several resources
// were requested, the default format names each.
func (r *Request) ParseColumns(resources []TRES, unit Unit) (tableformat.Columns[Line], error) {
	format := r.Columns
	if format == "" {
		format = r.Format
		if !isDefault(resources) && !r.PrintJobCount {
			format = withResource(format)
		}
	}
	fields := r.fields(unit)
	if r.layout == sizes { // as in Slurm, the sizes follow the requested columns
		for i := range len(r.Grouping) + 1 {
			format += fmt.Sprintf(",Size%d", i+1)
		}
		format += ",Percent"
	}
	columns, err := tableformat.ParseSized(format, fields)
	if err != nil {
		return nil, usererror.Errorf("columns of this report are "+columnNames(fields), "%s", err)
	}
	return columns, nil
}

// withResource adds the column TresName to a default format, and removes the column Energy.
func withResource(format string) string {
	format = strings.TrimSuffix(format, ",Energy")
	if before, found := strings.CutSuffix(format, ",Used"); found {
		return before + ",TresName,Used"
	}
	if rest, found := strings.CutPrefix(format, "Cluster,Allocated"); found {
		return "Cluster,TresName,Allocated" + rest
	}
	return format + ",TresName"
}

// columnNames lists columns for a hint.
func columnNames(fields []tableformat.Field[Line]) string {
	var names []string
	for i := range fields {
		if name := fields[i].Names[0]; !strings.HasPrefix(name, "Size") && name != "Percent" {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// fields returns all columns of the report.
func (r *Request) fields(unit Unit) []tableformat.Field[Line] {
	cluster := tableformat.NewField(0, "Cluster", "Cluster", 9, func(l Line) string { return l.Cluster })
	tres := tableformat.NewField(0, "TresName", "TRES Name", 14, func(l Line) string { return l.tres.Name })
	energy := tableformat.NewField(0, "Energy", "Energy", 10, func(Line) string { return "0" })
	accountWidth := 15
	if r.Tree {
		accountWidth = -accountWidth // so that the tree can be seen
	}
	account := tableformat.NewField(0, "Account", "Account", accountWidth, func(l Line) string { return strings.Repeat(" ", l.depth) + l.Account })
	newAmount := func(names, title string, width int, of func(Line) amount) tableformat.Field[Line] {
		return tableformat.NewField(0, names, title, unit.width(width), func(l Line) string { return l.unit.format(of(l), l.tres) })
	}
	switch r.layout {
	case clusters:
		// Kubernetes has no reservations for maintenance.
		plannedDown := func(l Line) amount { return amount{0, l.used.capacity, true} }
		return []tableformat.Field[Line]{
			cluster, tres, energy,
			newAmount("Allocated", "Allocated", 12, func(l Line) amount { return l.used }),
			newAmount("Down", "Down", 10, func(l Line) amount { return l.down }),
			newAmount("PlannedDown|PLNDDown", "PLND Down", 10, plannedDown),
			newAmount("Idle", "Idle", 12, func(l Line) amount { return l.idle }),
			newAmount("Planned|Reserved", "Planned", 10, func(l Line) amount { return l.planned }),
			newAmount("OverCommitted|OverCommited", "Over Comm", 10, func(l Line) amount { return l.waiting }),
			newAmount("Reported", "Reported", 12, func(l Line) amount { return amount{l.used.capacity, l.used.capacity, l.used.known} }),
			tableformat.NewField(0, "TresCount|CPUCount", "TRES Count", 11, func(l Line) string {
				return strconv.FormatInt(l.used.capacity/(l.tres.amount*int64(r.To.Sub(r.From).Seconds())), 10)
			}),
		}
	case sizes:
		fields := []tableformat.Field[Line]{cluster, account, tres, tableformat.NewField(0, "Percent", "% of cluster", 12, func(l Line) string {
			return fmt.Sprintf("%.2f%%", 100*l.share)
		})}
		for i := range len(r.Grouping) + 1 {
			fields = append(fields, newAmount(fmt.Sprintf("Size%d", i+1), r.sizeTitle(i), 13, func(l Line) amount { return l.sizes[i] }))
		}
		return fields
	}
	used := newAmount("Used", "Used", 10, func(l Line) amount { return l.used })
	if r.layout == accountsAndQOS {
		return []tableformat.Field[Line]{cluster, account, tableformat.NewField(0, "QOS", "QOS Name", 9, func(l Line) string { return l.QOS }), tres, used, energy}
	}
	return []tableformat.Field[Line]{
		cluster, account,
		tableformat.NewField(0, "Login", "Login", 9, func(l Line) string { return l.Login }),
		tableformat.NewField(0, "Proper", "Proper Name", 15, func(l Line) string { return l.Login }),
		tres, used, energy,
	}
}

// sizeTitle returns the heading of a column of sizes.
func (r *Request) sizeTitle(i int) string {
	if i == len(r.Grouping) {
		return fmt.Sprintf(">= %d CPUs", r.Grouping[i-1])
	}
	first := int64(0)
	if i > 0 {
		first = r.Grouping[i-1]
	}
	return fmt.Sprintf("%d-%d CPUs", first, r.Grouping[i]-1)
}

package top

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/resource"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/render"
)

// maxNodeColumns is up to how many nodes get a column each; more get a row each.
const maxNodeColumns = 8

// nodeGap is the number of blanks between the columns of the node table.
const nodeGap = 5

// write prints the three blocks.
func (p *frame) write(out io.Writer, now time.Time, width int, namespaces bool) error {
	var text strings.Builder
	text.WriteString("Nodes:\n")
	nodes := p.nodeTable(width)
	if p.hidden != "" {
		text.WriteString("not shown: " + p.hidden + "\n")
	} else if len(p.nodes) == 0 {
		text.WriteString("No resources found\n")
	} else if err := nodes.Fprint(&text); err != nil {
		return err
	}
	for _, block := range []struct {
		title string
		table render.Table
	}{
		{"Pods", p.podTable(now, namespaces)},
		{"Volcano Jobs", p.jobTable(namespaces)},
	} {
		fmt.Fprintf(&text, "\n%s:\n", block.title)
		if len(block.table.Rows) == 0 {
			text.WriteString("No resources found\n")
			continue
		}
		if err := block.table.Fprint(&text); err != nil {
			return err
		}
	}
	_, err := io.WriteString(out, text.String())
	return err
}

// room is what a node has and what of it nobody has asked for.
type room struct {
	name                   string
	milliCPU, idleMilliCPU int64
	memoryBytes, idleBytes int64
	extended, idleExtended map[corev1.ResourceName]int64
	ready, schedulable     bool
}

// rooms computes Idle for every node: allocatable minus the requests of the pods
// on it that have not ended. Nodes are in the order of their names.
func (p *frame) rooms() []room {
	used := map[string]*[2]int64{}
	extended := map[string]map[corev1.ResourceName]int64{}
	for _, pod := range p.all {
		node := pod.Spec.NodeName
		if node == "" || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
			continue
		}
		if used[node] == nil {
			used[node], extended[node] = &[2]int64{}, map[corev1.ResourceName]int64{}
		}
		for name, amount := range resource.PodRequests(pod, resource.PodResourcesOptions{}) {
			switch name {
			case corev1.ResourceCPU:
				used[node][0] += amount.MilliValue()
			case corev1.ResourceMemory:
				used[node][1] += amount.Value()
			default:
				extended[node][name] += amount.Value()
			}
		}
	}
	rooms := make([]room, 0, len(p.nodes))
	for _, node := range p.nodes {
		rooms = append(rooms, roomOf(node, used[node.Name], extended[node.Name]))
	}
	slices.SortFunc(rooms, func(a, b room) int { return cmp.Compare(a.name, b.name) })
	return rooms
}

func roomOf(node *corev1.Node, used *[2]int64, extended map[corev1.ResourceName]int64) room {
	if used == nil {
		used = &[2]int64{}
	}
	r := room{name: node.Name, schedulable: !node.Spec.Unschedulable, extended: map[corev1.ResourceName]int64{}, idleExtended: map[corev1.ResourceName]int64{}}
	r.milliCPU = node.Status.Allocatable.Cpu().MilliValue()
	r.memoryBytes = node.Status.Allocatable.Memory().Value()
	r.idleMilliCPU, r.idleBytes = r.milliCPU-used[0], r.memoryBytes-used[1]
	for name, amount := range node.Status.Allocatable {
		if strings.Contains(string(name), "/") && !strings.HasPrefix(string(name), "hugepages") {
			r.extended[name] = amount.Value()
			r.idleExtended[name] = amount.Value() - extended[name]
		}
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			r.ready = condition.Status == corev1.ConditionTrue
		}
	}
	return r
}

// nodeTable is the demo's: a column a node, or a row a node when there are many
// or the terminal is too narrow.
func (p *frame) nodeTable(width int) render.Table {
	rooms := p.rooms()
	if len(rooms) <= maxNodeColumns {
		table := nodeColumns(rooms)
		total := 0
		for _, column := range table.Widths() {
			total += column + nodeGap
		}
		if width == 0 || total-nodeGap <= width {
			return table
		}
	}
	return nodeRows(rooms)
}

func nodeColumns(rooms []room) render.Table {
	names := extendedNames(rooms)
	table := render.Table{Header: []string{""}, Gap: nodeGap, FirstGap: render.DefaultGap}
	lines := func(title string, cpu, memory func(room) int64, extended func(room) map[corev1.ResourceName]int64) {
		first, second := []string{title}, []string{""}
		for _, r := range rooms {
			first = append(first, "cpu: "+milliText(cpu(r)))
			second = append(second, "mem: "+kibText(memory(r)))
		}
		table.Rows = append(table.Rows, first, second)
		for _, name := range names {
			row := []string{""}
			for _, r := range rooms {
				row = append(row, fmt.Sprintf("%s: %d", shortResource(name), extended(r)[name]))
			}
			table.Rows = append(table.Rows, row)
		}
	}
	widest := 0
	for _, r := range rooms {
		table.Header = append(table.Header, r.name)
	}
	lines("Allocatable", func(r room) int64 { return r.milliCPU }, func(r room) int64 { return r.memoryBytes },
		func(r room) map[corev1.ResourceName]int64 { return r.extended })
	lines("Idle", func(r room) int64 { return r.idleMilliCPU }, func(r room) int64 { return r.idleBytes },
		func(r room) map[corev1.ResourceName]int64 { return r.idleExtended })
	for _, column := range table.Widths()[1:] {
		widest = max(widest, column)
	}
	table.MinWidths = []int{0}
	for range rooms {
		table.MinWidths = append(table.MinWidths, widest)
	}
	return table
}

func nodeRows(rooms []room) render.Table {
	names := extendedNames(rooms)
	table := render.Table{Header: []string{"NAME", "STATUS", "CPU", "IDLE CPU", "MEMORY", "IDLE MEMORY"}}
	for _, name := range names {
		title := strings.ToUpper(shortResource(name))
		table.Header = append(table.Header, title, "IDLE "+title)
	}
	for _, r := range rooms {
		row := []string{r.name, r.status(), milliText(r.milliCPU), milliText(r.idleMilliCPU), kibText(r.memoryBytes), kibText(r.idleBytes)}
		for _, name := range names {
			row = append(row, strconv.FormatInt(r.extended[name], 10), strconv.FormatInt(r.idleExtended[name], 10))
		}
		table.Rows = append(table.Rows, row)
	}
	return table
}

func (r room) status() string {
	status := "NotReady"
	if r.ready {
		status = "Ready"
	}
	if !r.schedulable {
		status += ",SchedulingDisabled"
	}
	return status
}

// extendedNames are the resources that any node has besides cpu and memory.
func extendedNames(rooms []room) []corev1.ResourceName {
	var names []corev1.ResourceName
	for _, r := range rooms {
		for name := range r.extended {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

func shortResource(name corev1.ResourceName) string {
	text := string(name)
	return text[strings.LastIndex(text, "/")+1:]
}

func milliText(milli int64) string { return strconv.FormatInt(milli, 10) + "m" }

func kibText(bytes int64) string {
	kib := bytes / 1024
	return strconv.FormatInt(kib, 10) + "Ki"
}

func (p *frame) podTable(now time.Time, namespaces bool) render.Table {
	table := render.Table{Header: []string{"NAME", "READY", "STATUS", "RESTARTS", "AGE"}, FirstGap: 2}
	if namespaces {
		table.Header = append([]string{"NAMESPACE"}, table.Header...)
		table.FirstGap = 0
	}
	for _, pod := range p.pods {
		restarts := int32(0)
		for _, status := range pod.Status.ContainerStatuses {
			restarts += status.RestartCount
		}
		row := []string{pod.Name, cli.PodReady(pod), cli.PodStatus(pod), strconv.Itoa(int(restarts)), render.Age(now, pod.CreationTimestamp.Time)}
		if namespaces {
			row = append([]string{pod.Namespace}, row...)
		}
		table.Rows = append(table.Rows, row)
	}
	return table
}

func (p *frame) jobTable(namespaces bool) render.Table {
	table := render.Table{Header: []string{"Name", "Creation", "Phase", "JobType", "Replicas", "Min", "Pending", "Running", "Succeeded", "Failed", "RetryCount"}}
	if namespaces {
		table.Header = append([]string{"Namespace"}, table.Header...)
	}
	for _, job := range p.jobs {
		row := []string{job.Name, job.CreationTimestamp.Format(time.DateTime), phaseText(job), cli.JobType(job.Labels[keys.JobType])}
		var replicas int32
		for i := range job.Spec.Tasks {
			replicas += job.Spec.Tasks[i].Replicas
		}
		s := &job.Status
		for _, n := range []int32{replicas, job.Spec.MinAvailable, s.Pending, s.Running, s.Succeeded, s.Failed, s.RetryCount} {
			row = append(row, strconv.Itoa(int(n)))
		}
		if namespaces {
			row = append([]string{job.Namespace}, row...)
		}
		table.Rows = append(table.Rows, row)
	}
	return table
}

func phaseText(job *batchv1alpha1.Job) string {
	if job.Status.State.Phase == "" {
		return string(batchv1alpha1.Pending)
	}
	return string(job.Status.State.Phase)
}

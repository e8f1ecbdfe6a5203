package listrow

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/jobstatus"
	"github.com/vc-batch/vc/internal/slurm/hostlist"
	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/state"
)

// Nobody is the user name for a job whose user is unknown.
const Nobody = "nobody"

// JobTitle returns the name that the user has given to the job.
func (s *Source) JobTitle() string { return batchv1alpha1.Title(s.Job) }

// UserName returns the user of the job.
func (s *Source) UserName() string { return cmp.Or(batchv1alpha1.UserOf(s.Job), Nobody) }

// QueueName returns the name of the job's queue.
func (s *Source) QueueName() string { return cmp.Or(s.Job.Spec.Queue, keys.DefaultQueue) }

// PartitionName returns the site's name for the queue if the job was submitted with that name. Otherwise, it returns
// the name of the queue.
func (r *Row) PartitionName() string { return cmp.Or(r.Asked.Partition, r.QueueName()) }

// AccountName returns the account to which admission charges the job or, if there is none, the namespace, whose quota the job
// uses. The account in the options of sbatch does not count, because users can write any name there.
func (r *Row) AccountName() string { return cmp.Or(r.Job.Labels[keys.Account], r.Job.Namespace) }

// QOSName returns the QOS that admission has assigned. In a cluster without QOS, it returns the requested name or, if none was
// requested, the priority class. If there is neither, it returns "normal".
func (r *Row) QOSName() string {
	return cmp.Or(r.Job.Labels[keys.QOS], r.Asked.QOS, r.Job.Spec.PriorityClassName, "normal")
}

// NodeList returns the names of the nodes in Slurm's notation.
func (r *Row) NodeList() string { return hostlist.CompressNames(slices.Clone(r.NodeNames())) }

// CancelledBy returns the user who cancelled the row, or "" if the user was not recorded.
func (r *Row) CancelledBy() string {
	if r.IsArray() {
		return state.ElementCancelledBy(r.Job, r.Elements[0].First)
	}
	return state.CancelledBy(r.Job)
}

// NominatedNodes returns, in Slurm's notation, the nodes on which the scheduler is freeing resources for the row. The
// result is empty if the row is not waiting for specific nodes.
func (r *Row) NominatedNodes() string {
	var nodes []string
	for _, pod := range r.Mine {
		if node := state.NominatedNode(pod); node != "" {
			nodes = append(nodes, node)
		}
	}
	slices.Sort(nodes)
	return hostlist.CompressNames(slices.Compact(nodes))
}

// NodeListOrReason returns the reason in parentheses if the row is pending or suspended, or if it failed by itself.
// Otherwise, it returns the nodes of the row. If these are not known yet, it returns (None), because programs such as rslurm
// split lines at spaces and need a word in each column.
func (r *Row) NodeListOrReason() string {
	switch r.State.Code {
	case state.Pending, state.Requeued, state.Suspended, state.Timeout, state.OutOfMemory, state.Failed:
		return "(" + r.State.Reason + ")"
	}
	if nodes := r.NodeList(); nodes != "" || r.State.Code.HasEnded() {
		return nodes
	}
	return "(None)"
}

// NodeCount returns the number of pods that the row has or had. For a pending or suspended row, it returns the minimum
// number.
func (r *Row) NodeCount() int {
	if _, size, ok := batchv1alpha1.ElementsOf(r.Job); ok && r.IsArray() {
		return int(size)
	}
	if r.State.Code.BaseCode() == state.Pending || r.State.Code == state.Suspended {
		return int(jobstatus.MinimumPods(r.Job))
	}
	nodes := max(jobstatus.MinimumPods(r.Job), r.Job.Status.Running)
	if r.Sum != nil {
		nodes = max(nodes, int32(r.Sum.Live+r.Sum.Ended))
	}
	return max(int(nodes), len(r.recordedNodes())) // most pods of an ended job have been deleted
}

// Ask holds the resources that the pods of a job request.
type Ask struct {
	CPUs   int
	Memory int64 // bytes
	// Devices contains amounts by resource name.
	Devices map[string]int64
}

// LargestRequest returns, for each resource, the largest amount that any pod of the job requests.
func (r *Row) LargestRequest() Ask {
	var most Ask
	for i := range r.Job.Spec.Tasks {
		one := requestOf(&r.Job.Spec.Tasks[i].Template.Spec)
		most.CPUs, most.Memory = max(most.CPUs, one.CPUs), max(most.Memory, one.Memory)
		for name, n := range one.Devices {
			if most.Devices == nil {
				most.Devices = map[string]int64{}
			}
			most.Devices[name] = max(most.Devices[name], n)
		}
	}
	return most
}

// MinimumCPUs returns the number of processors that a node must have for the row. If a number of tasks was requested,
// this is the number of processors for the tasks on one node.
func (r *Row) MinimumCPUs() int {
	if r.Asked.Tasks == 0 {
		return r.LargestRequest().CPUs
	}
	return max(r.Asked.TasksPerNode, 1) * max(r.Asked.CPUsPerTask, 1)
}

// TotalRequest returns the sum of the resources that all pods of the row request.
func (r *Row) TotalRequest() Ask {
	total := Ask{Devices: map[string]int64{}}
	left := r.NodeCount()
	for i := range r.Job.Spec.Tasks {
		task := &r.Job.Spec.Tasks[i]
		pods := int(task.Replicas)
		if r.IsArray() {
			pods = left
		}
		pods = min(pods, left)
		left -= pods
		one := requestOf(&task.Template.Spec)
		total.CPUs += pods * one.CPUs
		total.Memory += int64(pods) * one.Memory
		for name, n := range one.Devices {
			total.Devices[name] += int64(pods) * n
		}
	}
	return total
}

func requestOf(pod *corev1.PodSpec) Ask {
	a := Ask{Devices: map[string]int64{}}
	milli := int64(0)
	for i := range pod.Containers {
		requests, limits := pod.Containers[i].Resources.Requests, pod.Containers[i].Resources.Limits
		for name := range resourceNames(requests, limits) {
			amount, ok := requests[name]
			if !ok {
				amount = limits[name]
			}
			switch {
			case name == corev1.ResourceCPU:
				milli += amount.MilliValue()
			case name == corev1.ResourceMemory:
				a.Memory += amount.Value()
			case strings.Contains(string(name), "/"):
				a.Devices[string(name)] += amount.Value()
			}
		}
	}
	a.CPUs = int(math.Ceil(float64(milli) / 1000))
	if a.CPUs == 0 {
		a.CPUs = 1 // in Slurm, every job has at least one processor
	}
	return a
}

func resourceNames(a, b corev1.ResourceList) map[corev1.ResourceName]bool {
	names := make(map[corev1.ResourceName]bool, len(a)+len(b))
	for name := range a {
		names[name] = true
	}
	for name := range b {
		names[name] = true
	}
	return names
}

// FormatMemory formats bytes as Slurm does: 0, 4000M, 4G, 2T.
func FormatMemory(bytes int64) string {
	const mega = 1 << 20
	n, unit := (bytes+mega-1)/mega, 0
	units := "MGTP"
	for n >= 1024 && n%1024 == 0 && unit < len(units)-1 {
		n, unit = n/1024, unit+1
	}
	if n == 0 {
		return "0"
	}
	return strconv.FormatInt(n, 10) + units[unit:unit+1]
}

// GresName returns Slurm's name for a Kubernetes resource: gpu for nvidia.com/gpu, otherwise the part after the
// slash.
func GresName(resource string) string {
	_, name, _ := strings.Cut(resource, "/")
	switch {
	case name == "gpu" || name == "gpu-number":
		return "gpu"
	case name == "vgpu-number":
		return "shard"
	case strings.HasPrefix(name, "Ascend"):
		return "npu"
	}
	return name
}

// GresText returns the requested devices, such as gres/gpu:2, or N/A if none exist.
func (r *Row) GresText() string {
	if r.Asked.Gres != "" {
		return "gres/" + r.Asked.Gres
	}
	var parts []string
	for name, n := range r.LargestRequest().Devices {
		parts = append(parts, fmt.Sprintf("gres/%s:%d", GresName(name), n))
	}
	slices.Sort(parts)
	if len(parts) == 0 {
		return "N/A"
	}
	return strings.Join(parts, ",")
}

// TRESText lists the requested resources: cpu=4,mem=8G,node=1,billing=4,gres/gpu=2.
func (r *Row) TRESText() string {
	a := r.TotalRequest()
	parts := []string{"cpu=" + strconv.Itoa(a.CPUs)}
	if a.Memory > 0 {
		parts = append(parts, "mem="+FormatMemory(a.Memory))
	}
	parts = append(parts, "node="+strconv.Itoa(r.NodeCount()), "billing="+strconv.Itoa(a.CPUs))
	var devices []string
	for name, n := range a.Devices {
		devices = append(devices, fmt.Sprintf("gres/%s=%d", GresName(name), n))
	}
	slices.Sort(devices)
	return strings.Join(append(parts, devices...), ",")
}

// TaskCount returns the number of tasks that srun starts by default.
func (r *Row) TaskCount() int {
	switch {
	case r.Asked.Tasks > 0:
		return r.Asked.Tasks
	case r.Asked.TasksPerNode > 0:
		return r.Asked.TasksPerNode * r.NodeCount()
	}
	return r.NodeCount()
}

// UsedTime returns how long the row has been running, or how long it ran.
func (r *Row) UsedTime() time.Duration { return r.Times.ElapsedTime(r.Now) }

// TimeLimit returns the time limit, or 0 if there is no limit.
func (r *Row) TimeLimit() time.Duration {
	if r.Asked.TimeLimit > 0 && r.Asked.TimeLimitRestarts == state.CountRestarts(r.Job) {
		return time.Duration(r.Asked.TimeLimit) * time.Second
	}
	return state.TimeLimit(r.Job)
}

// StartAndEnd returns the time when the row started or is expected to start, and the time when it ended or will reach
// its time limit. Unknown times are zero.
func (r *Row) StartAndEnd() (start, end time.Time) {
	start, end = r.Times.Start, r.Times.End
	if start.IsZero() && r.State.Code.BaseCode() == state.Pending {
		start = r.estimateStart()
	}
	willEnd := end.IsZero() && !start.IsZero() && !r.State.Code.HasEnded()
	if limit := r.TimeLimit(); willEnd && limit > 0 {
		end = start.Add(limit)
	}
	return start, end
}

// estimateStart returns the time when a pending row is expected to start, or the zero time if it is unknown.
func (r *Row) estimateStart() time.Time {
	if r.Group != nil {
		if e := r.Group.Status.Explanation; e != nil && e.EstimatedStart != nil {
			return e.EstimatedStart.Time
		}
	}
	if begin, err := batchv1alpha1.BeginOf(r.Job); err == nil && begin.After(r.Now) {
		return begin
	}
	return time.Time{}
}

// QueuePlace returns the row's place among the pending jobs in its queue, starting at 1. It returns 0 if the place is
// unknown.
func (r *Row) QueuePlace() int {
	if r.Group == nil || r.Group.Status.Explanation == nil || r.Group.Status.Explanation.Queue == nil {
		return 0
	}
	return int(r.Group.Status.Explanation.Queue.Position)
}

// OpenDependency returns the conditions of the dependency that are not met yet or will never be met. The result is
// empty if all conditions are met.
func (r *Row) OpenDependency() string {
	if phase := r.Job.Status.State.Phase; phase != "" && !batchv1alpha1.AtGate(r.Job) {
		return "" // the dependency was met
	}
	d, err := batchv1alpha1.DependencyOf(r.Job)
	if err != nil {
		return r.Job.Annotations[keys.Dependency]
	}
	gate := r.Job.Status.Gate
	if gate == nil {
		gate = &batchv1alpha1.JobGate{}
	}
	var left []string
	for _, term := range d.Terms {
		switch text := term.String(); {
		case slices.Contains(gate.Met, text):
		case slices.Contains(gate.Failed, text):
			left = append(left, text+"(failed)")
		default:
			left = append(left, text+"(unfulfilled)")
		}
	}
	if d.Any {
		return strings.Join(left, "?")
	}
	return strings.Join(left, ",")
}

// noUser is the number that Slurm prints for an unknown user.
const noUser = "4294967294"

// UserID returns the numeric ID of the user who runs the row's processes if the job specifies one. Otherwise, it
// returns the ID of the user who submitted the job.
func (r *Row) UserID() string {
	for i := range r.Job.Spec.Tasks {
		if s := r.Job.Spec.Tasks[i].Template.Spec.SecurityContext; s != nil && s.RunAsUser != nil {
			return strconv.FormatInt(*s.RunAsUser, 10)
		}
	}
	return cmp.Or(r.Asked.UID, noUser)
}

// headPodName returns the name of the pod that runs the script. It is also the pod's host name, which replaces %N.
func (r *Row) headPodName() string {
	index := 0
	if r.IsArray() {
		index = r.Position
		if _, size, ok := batchv1alpha1.ElementsOf(r.Job); ok {
			index *= int(size)
		}
	}
	return r.Job.Name + "-" + launchconfig.HeadTask + "-" + strconv.Itoa(index)
}

// ExpandFile expands a pattern to a file name. It returns the pattern itself if the row is folded or the pattern is
// invalid.
func (r *Row) ExpandFile(pattern string) string {
	if r.Folded || pattern == "" {
		return pattern
	}
	names := launchconfig.Names{JobID: r.RawID(), ArrayID: r.NumberOrName(), ArrayIndex: -1, JobName: r.JobTitle(), User: r.UserName(), Step: "batch", Restarts: state.CountRestarts(r.Job)}
	if r.IsArray() {
		names.ArrayIndex = int(r.Elements[0].First)
	}
	names.Host = r.headPodName()
	text, err := names.ExpandPattern(pattern)
	if err != nil {
		return pattern
	}
	return text
}

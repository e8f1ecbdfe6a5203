package sim

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/controllers/job/plan"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/test/apiserver"
)

// checks checks the invariants of the system after each change.
type checks struct {
	world *World
	// partial holds the PodGroups of which only a part is bound.
	partial map[types.UID]*partialGang
	// members counts the pods of each PodGroup after countedChanges changes of pods and PodGroups.
	members        map[types.NamespacedName]memberCount
	countedChanges int
	// leader is the process that leads the schedulers without a fault, if any. disturbed is when this was last not so.
	leader    string
	disturbed time.Time
	// whole holds the PodGroups that were completely bound once.
	whole map[types.UID]bool
	// renewed holds the time of the last renewal of each lease, as the API server has received it. Other candidates see
	// it later, so they wait for at least the duration of the lease from then on.
	renewed map[string]time.Time
	// admitted holds the PodGroups that a scheduler has admitted.
	admitted map[types.UID]bool
	// validated holds the time since when no object of a kind is stored without a check by a webhook.
	validated map[string]time.Time
	// numbers holds the job to which each number was given.
	numbers map[int64]types.UID
	// decided holds the phases of PodGroups that schedulers have decided.
	decided map[decidedPhase]bool
	// binds holds the nodes that schedulers have chosen for pods.
	binds map[decidedBind]bool
	// started holds the tasks of which a pod has started.
	started map[taskOf]bool
	// outdatedUntil is the time up to which binds may follow from an outdated first list of a scheduler.
	outdatedUntil time.Time
	// shrunk holds the nodes that have lost capacity.
	shrunk map[string]shrunkNode
	// foreignBinds maps each node to the time of the last bind to it by another scheduler, or by a late request.
	foreignBinds map[string]time.Time
	// cronRuns maps each CronJob and scheduled time to the job that was created for it.
	cronRuns map[string]string
	// lastRuns maps each CronJob to the latest scheduled time for which a job was created.
	lastRuns map[types.UID]time.Time
	// owing maps each CronJob that should have created a job to the time when this was first seen.
	owing map[types.UID]time.Time
	// histories holds what has happened to each job.
	histories map[types.UID]*jobHistory
	// waiting holds, for each job and each condition that should let it start, the time since which the condition is true.
	waiting map[waitKey]time.Time
	// lowered maps each queue to its capability before it was last lowered.
	lowered map[string]loweredQueue
	// surplus maps each pod that exceeds the replicas of its task to the time when it was first seen.
	surplus map[types.UID]time.Time
	// gates holds what decides whether jobs may start.
	gates gateRecords
	// refusedCreates holds, for each create that a program has sent to a namespace without success because the namespace is
	// being deleted or does not exist, when it was sent.
	refusedCreates map[string][]time.Time
	// lateCreates contains the objects of late creates and binds; the keys are results of describeObject.
	lateCreates map[string]bool
}

// shrunkNode is a node that has lost capacity.
type shrunkNode struct {
	at       time.Time
	milliCPU int64 // before
}

// longestBind is the time that a bind may take, with all its attempts.
const longestBind = 45 * time.Second

// maxNodeChangeDelay is the time after which the leading scheduler knows that a node has shrunk. Watches may be late, and the
// leader may have no connection for a while.
const maxNodeChangeDelay = 3 * time.Minute

// fittedBefore reports whether the pods of a node fit according to what the scheduler may know, because the node has lost
// capacity a short time ago.
func (c *checks) fittedBefore(node string) bool {
	shrunk, ok := c.shrunk[node]
	return ok && c.world.now.Sub(shrunk.at) < maxNodeChangeDelay && c.world.requestedOn(node) <= shrunk.milliCPU
}

func newChecks(w *World) checks {
	return checks{world: w, partial: map[types.UID]*partialGang{}, whole: map[types.UID]bool{}, renewed: map[string]time.Time{},
		admitted: map[types.UID]bool{}, validated: map[string]time.Time{}, numbers: map[int64]types.UID{},
		foreignBinds: map[string]time.Time{}, cronRuns: map[string]string{}, lastRuns: map[types.UID]time.Time{}, owing: map[types.UID]time.Time{}, histories: map[types.UID]*jobHistory{}, waiting: map[waitKey]time.Time{}, surplus: map[types.UID]time.Time{},
		shrunk: map[string]shrunkNode{}, lowered: map[string]loweredQueue{},
		decided: map[decidedPhase]bool{}, binds: map[decidedBind]bool{}, started: map[taskOf]bool{}, gates: newGateRecords(),
		refusedCreates: map[string][]time.Time{}, lateCreates: map[string]bool{}}
}

// observe checks the invariants that a change may violate.
func (c *checks) observe(change apiserver.Change) {
	c.checkConfigurationChange(change)
	c.checkValid(change)
	c.checkUserObject(change)
	switch o := cmp.Or(change.Object, change.Old).(type) {
	case *corev1.Pod:
		c.recordPod(change, o)
		c.checkPod(change, o)
	case *batchv1alpha1.Job:
		c.recordForGates(o)
		c.checkJob(change, o)
	case *busv1alpha1.Command:
		c.recordCommand(change, o)
	case *schedulingv1beta1.PodGroup:
		c.recordGroup(o)
		if change.Old == nil {
			c.checkGate(o)
		}
		if old, ok := change.Old.(*schedulingv1beta1.PodGroup); ok && change.Object != nil {
			c.checkPhaseOfGroup(old, o)
		}
	case *schedulingv1beta1.Queue:
		if old, ok := change.Old.(*schedulingv1beta1.Queue); ok && change.Object != nil {
			c.recordCapability(old, o)
		}
	case *coordinationv1.Lease:
		c.renewed[o.Name] = c.world.now
	}
}

func (c *checks) checkPod(change apiserver.Change, pod *corev1.Pod) {
	old, _ := change.Old.(*corev1.Pod)
	if old == nil {
		c.checkPlace(pod)
		c.checkQuota(change, pod)
		c.checkDependencies(pod)
		c.checkGate(pod)
	}
	c.recordStarted(pod)
	isSameNode := old != nil && old.Spec.NodeName == pod.Spec.NodeName
	if change.Object == nil || pod.Spec.NodeName == "" || isSameNode {
		return
	}
	if old != nil && old.Spec.NodeName != "" {
		c.world.fail("pod %s moved from %s to %s", pod.Name, old.Spec.NodeName, pod.Spec.NodeName)
	}
	if old != nil {
		c.checkBindDecided(pod)
	}
	c.recordWholeGang(pod)
	c.recordForeignBind(pod)
	if c.world.now.Before(c.outdatedUntil) {
		return
	}
	c.checkNodeFits(pod)
	c.checkCapability(pod)
}

// recordWholeGang records that a gang has all the pods that it needs. From then on, lost pods do not make it partial.
func (c *checks) recordWholeGang(pod *corev1.Pod) {
	name := types.NamespacedName{Namespace: pod.Namespace, Name: keys.PodGroupOf(pod.Annotations)}
	group := c.world.state.groups[name]
	if group == nil {
		return
	}
	bound := int32(0)
	for _, other := range c.world.state.pods {
		if other.Spec.NodeName != "" && other.Namespace == name.Namespace && keys.PodGroupOf(other.Annotations) == name.Name {
			bound++
		}
	}
	if bound >= group.Spec.MinMember {
		c.whole[group.UID] = true
	}
}

// heldBy returns the CPU that the pods of a queue and of its descendants hold, in thousandths.
func (c *checks) heldBy(queue string) int64 {
	var sum int64
	for _, pod := range c.world.state.pods {
		if pod.Spec.NodeName == "" || isFinished(pod) {
			continue
		}
		for name := c.queueOf(pod); name != ""; name = c.world.parentOf(name) {
			if name == queue {
				sum += milliCPU(pod)
			}
		}
	}
	return sum
}

// parentOf returns the parent of a queue, or "".
func (w *World) parentOf(name string) string {
	if queue := w.state.queues[name]; queue != nil {
		return queue.Spec.Parent
	}
	return ""
}

// queueOf returns the queue of a pod's PodGroup.
func (c *checks) queueOf(pod *corev1.Pod) string {
	group := c.world.state.groups[types.NamespacedName{Namespace: pod.Namespace, Name: keys.PodGroupOf(pod.Annotations)}]
	if group == nil {
		return pod.Labels[keys.QueueName]
	}
	return cmp.Or(group.Spec.Queue, keys.DefaultQueue)
}

// finalPhases are the phases that a job leaves only by a command.
var finalPhases = []batchv1alpha1.JobPhase{batchv1alpha1.Completed, batchv1alpha1.Failed, batchv1alpha1.Terminated}

func (c *checks) checkJob(change apiserver.Change, job *batchv1alpha1.Job) {
	old, _ := change.Old.(*batchv1alpha1.Job)
	if old == nil && change.Object != nil {
		c.recordNumber(job)
		c.checkNewCronJobRun(job)
	}
	if old == nil {
		c.checkStep(job)
	}
	if old == nil || change.Object == nil {
		return
	}
	before, after := old.Status.State.Phase, job.Status.State.Phase
	if slices.Contains(finalPhases, before) && before != after {
		c.world.fail("job %s was %s and is now %s", job.Name, before, after)
	}
	if job.Status.RetryCount < old.Status.RetryCount || job.Status.Version < old.Status.Version {
		c.world.fail("job %s: the counters went back: retries %d to %d, version %d to %d", job.Name,
			old.Status.RetryCount, job.Status.RetryCount, old.Status.Version, job.Status.Version)
	}
	c.checkNumber(old, job)
	c.checkRestarts(old, job)
	c.checkEnd(old, job)
	c.checkLife(old, job)
	c.checkOutcome(old, job)
	c.checkCommandOnce(old, job)
}

// checkSender checks that only the leader sends writes.
func (w *World) checkSender(l *link, r *apiserver.Request) {
	w.checkDeletion(l, r)
	replica := w.replicaOf(l.process)
	if !r.IsWrite() || r.Kind.Kind == "Lease" {
		return
	}
	if replica == nil || replica.lease == "" {
		return
	}
	lease := w.state.leases[replica.lease]
	if lease == nil {
		w.fail("%s sends %s without a lease", l.user, r)
		return
	}
	holder, renewed := ptr.Deref(lease.Spec.HolderIdentity, ""), w.checks.renewed[replica.lease]
	if holder != l.process.root().name {
		w.fail("%s sends %s while %s holds the lease", l.user, r, holder)
	} else if w.now.Sub(renewed) > leaseDuration {
		w.fail("%s sends %s %s after it renewed the lease", l.user, r, w.now.Sub(renewed))
	}
}

// checkDecisions checks the decisions of a cycle against the scheduler's own model, before they are carried out.
func (w *World) checkDecisions(d *decision.Decisions, c *model.Cluster) {
	w.checkBindTargets(d, c)
	w.checkGangBinds(d, c)
	w.checkEvictions(d, c)
	w.checkAdmissions(d, c)
	w.checkGuarantees(d, c)
	w.checks.recordDecisions(d)
	bound := map[types.UID]bool{}
	for i := range d.Binds {
		if uid := d.Binds[i].Pod.UID; bound[uid] {
			w.fail("pod %s is bound twice in one cycle", d.Binds[i].Pod.Name)
		} else {
			bound[uid] = true
		}
	}
}

func compareNames(x, y types.NamespacedName) int {
	return cmp.Or(strings.Compare(x.Namespace, y.Namespace), strings.Compare(x.Name, y.Name))
}

// checkRest checks the state after faults have stopped and enough time has passed: every job has ended or has a reason
// to wait, counters are equal to the pods, and no object remains whose owner is gone.
func (w *World) checkRest() {
	for _, name := range slices.SortedFunc(maps.Keys(w.state.jobs), compareNames) {
		w.checkSettled(w.state.jobs[name])
	}
	w.checkFlows()
	w.checkNextSteps()
	w.checkUserGroups()
	w.checkOrphans()
	w.checkStatuses()
	w.checkLeftovers()
	w.checkConfigurations()
	w.checkPlainPods()
	w.checkCronJobs()
	w.checkFlowStatuses()
	w.checkLifetimes()
	w.checkQueueStates()
	w.checkNamespaces()
}

func (w *World) checkSettled(job *batchv1alpha1.Job) {
	phase := job.Status.State.Phase
	counts := map[corev1.PodPhase]int32{}
	for _, pod := range w.pods() {
		if !metav1.IsControlledBy(pod, job) {
			continue
		}
		if isPlaceOf(pod, job) {
			counts[pod.Status.Phase]++
		}
		if !isFinished(pod) && slices.Contains(finalPhases, phase) {
			w.fail("job %s is %s, but pod %s is %s", job.Name, phase, pod.Name, pod.Status.Phase)
		}
	}
	s := &job.Status
	for _, count := range []struct {
		phase    corev1.PodPhase
		inStatus int32
	}{{corev1.PodPending, s.Pending}, {corev1.PodRunning, s.Running}, {corev1.PodSucceeded, s.Succeeded}, {corev1.PodFailed, s.Failed}} {
		if count.inStatus != counts[count.phase] && !batchv1alpha1.KeepsFinished(job) {
			w.fail("job %s: the status counts %d pods that are %s, but the pods are %v", job.Name, count.inStatus, count.phase, counts)
		}
	}
	switch {
	case slices.Contains(finalPhases, phase), phase == batchv1alpha1.Aborted:
	case job.DeletionTimestamp != nil:
		w.fail("job %s is still being deleted", job.Name)
	case slices.Contains(stoppingPhases, phase):
		w.fail("job %s is still %s, although none of its pods can run any longer", job.Name, phase)
	case w.mayStayUnfinished(job):
	default:
		w.fail("job %s is still %s (%s: %s); its PodGroup: %s", job.Name, cmp.Or(phase, "new"), job.Status.State.Reason, job.Status.State.Message,
			w.describeGroupOf(job))
	}
}

// stoppingPhases are the phases that a job leaves when its pods have stopped, whatever the state of the cluster.
var stoppingPhases = []batchv1alpha1.JobPhase{batchv1alpha1.Aborting, batchv1alpha1.Restarting, batchv1alpha1.Completing, batchv1alpha1.Terminating}

// describeGroupOf returns the state of a job's PodGroup, for failure messages.
func (w *World) describeGroupOf(job *batchv1alpha1.Job) string {
	group := w.state.groups[types.NamespacedName{Namespace: job.Namespace, Name: plan.GroupName(job)}]
	if group == nil {
		return "none"
	}
	return w.describeGroup(group)
}

// describeGroup returns the state of a PodGroup, for failure messages.
func (w *World) describeGroup(group *schedulingv1beta1.PodGroup) string {
	text := fmt.Sprintf("%s, minMember %d", group.Status.Phase, group.Spec.MinMember)
	if e := group.Status.Explanation; e != nil {
		text += ", " + e.Message
	}
	return text
}

// isPlaceOf reports whether a pod belongs to a replica that the job still has. Pods of an ended job stay when the job is
// scaled down.
func isPlaceOf(pod *corev1.Pod, job *batchv1alpha1.Job) bool {
	name, index, _, _ := plan.ParsePodIdentity(pod)
	return slices.ContainsFunc(job.Spec.Tasks, func(t batchv1alpha1.TaskSpec) bool { return t.Name == name && index < t.Replicas })
}

// capacity returns the CPU of all nodes, in thousandths.
func (w *World) capacity() int64 {
	var sum int64
	for _, node := range w.state.nodes {
		sum += node.Status.Allocatable.Cpu().MilliValue()
	}
	return sum
}

// guaranteedToOthers returns the CPU that is reserved for the other queues, in thousandths.
func (w *World) guaranteedToOthers(queue string) int64 {
	var sum int64
	for name, other := range w.state.queues {
		if name != queue {
			sum += other.Spec.Guarantee.Resource.Cpu().MilliValue()
		}
	}
	return sum
}

// checkOrphans checks that no object remains whose owner is gone.
func (w *World) checkOrphans() {
	owners := map[types.UID]bool{}
	for _, kind := range w.server.Kinds() {
		for _, o := range w.objectsAt(kind, len(w.changes[kind])) {
			owners[o.GetUID()] = true
		}
	}
	for _, kind := range w.server.Kinds() {
		for _, o := range w.objectsAt(kind, len(w.changes[kind])) {
			if ref := firstMissingOwner(o, owners); ref != nil {
				w.fail("%s %s belongs to %s %s, which is gone", kind.Kind, o.GetName(), ref.Kind, ref.Name)
			}
		}
	}
}

func firstMissingOwner(o client.Object, owners map[types.UID]bool) *metav1.OwnerReference {
	for _, ref := range o.GetOwnerReferences() {
		if !owners[ref.UID] {
			return &ref
		}
	}
	return nil
}

// summary returns the phases of all jobs, for traces.
func (w *World) summary() string {
	var b strings.Builder
	for _, name := range slices.SortedFunc(maps.Keys(w.state.jobs), compareNames) {
		job := w.state.jobs[name]
		fmt.Fprintf(&b, "%s %s; ", job.Name, cmp.Or(job.Status.State.Phase, "new"))
	}
	return b.String()
}

func isSettledPhase(phase batchv1alpha1.JobPhase) bool {
	return slices.Contains(finalPhases, phase) || phase == batchv1alpha1.Aborted
}

package plan

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	batch "github.com/vc-batch/vc/api/batch/v1alpha1"
	bus "github.com/vc-batch/vc/api/bus/v1alpha1"
	scheduling "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// Plan is what to do. If a write fails, those after it are not carried out; the next plan repeats what is still due.
type Plan struct {
	// Job is the job with its defaults filled in: the one that names and pods are made from.
	Job    *batch.Job
	Writes []Write
	// Array is what pods are told of the element that they are; nil when the job is no array.
	Array  *Array
	Events []Event
	// RequeueAfter is when to plan again though nothing changed; 0 means never.
	RequeueAfter time.Duration
	// Refresh asks for a plan on pods read past any cache. The plan is empty otherwise.
	Refresh bool
	// Answered are the lost pods that need not be given again.
	Answered []types.UID
	// Since is to be given to the next plan.
	Since map[string]time.Time
	// Entered is the phase that the job enters by this plan; empty when it stays in its phase.
	Entered batch.JobPhase
}

// Event is something to record on the job for people.
type Event struct {
	Type    string // corev1.EventTypeNormal or EventTypeWarning
	Reason  string
	Message string
}

// Write is one step of a plan.
type Write interface{ write() }

// The writes.
type (
	// WriteStatus replaces the status of the job, if the job is still the one the plan was made from.
	WriteStatus struct {
		Status batch.JobStatus
		// Lazy says that only counters changed and nothing depends on them: it may wait a moment.
		Lazy bool
		// First says that it is the first of a job of which nothing is to be told yet: it may wait too, while others do not.
		First bool
	}
	// NameClaims sets the claim names of the job's volumes.
	NameClaims struct{ Volumes []batch.VolumeSpec }
	// ForwardJob says on the job that it may run in other clusters.
	ForwardJob struct{}
	// CreateClaim makes a PersistentVolumeClaim unless it exists.
	CreateClaim struct{ Claim *corev1.PersistentVolumeClaim }
	// EnsureObjects makes and refreshes the objects of the job's plugins. Key changes when they could have changed.
	EnsureObjects struct{ Key string }
	// RemoveObjects deletes them.
	RemoveObjects struct{}
	// CreateGroup makes the PodGroup.
	CreateGroup struct{ Group *scheduling.PodGroup }
	// PatchGroup brings the spec of the PodGroup up to date.
	PatchGroup struct {
		Group *scheduling.PodGroup // as it is
		Spec  scheduling.PodGroupSpec
	}
	// DeleteGroup deletes the PodGroup.
	DeleteGroup struct{ Group *scheduling.PodGroup }
	// MarkPods annotates pods as stopped by us, so that their end is no event.
	MarkPods struct{ Pods []*corev1.Pod }
	// DeletePods deletes exactly these pods (by UID).
	DeletePods struct{ Pods []*corev1.Pod }
	// CreatePods makes the pods of these places with Pod.
	CreatePods struct{ Places []Place }
	// DeleteCommand deletes a command that was carried out.
	DeleteCommand struct{ Command *bus.Command }
	// DeleteJob deletes the finished job, which takes all it owns with it.
	DeleteJob struct{}
)

func (WriteStatus) write()   {}
func (NameClaims) write()    {}
func (ForwardJob) write()    {}
func (CreateClaim) write()   {}
func (EnsureObjects) write() {}
func (RemoveObjects) write() {}
func (CreateGroup) write()   {}
func (PatchGroup) write()    {}
func (DeleteGroup) write()   {}
func (MarkPods) write()      {}
func (DeletePods) write()    {}
func (CreatePods) write()    {}
func (DeleteCommand) write() {}
func (DeleteJob) write()     {}

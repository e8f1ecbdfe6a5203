package plan

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// Plan holds the decisions about a job. If a write fails, the writes after it are not carried out; the next plan
// contains the writes that are still needed.
type Plan struct {
	// Job is the job with its defaults filled in. Names and pods are derived from it.
	Job    *batchv1alpha1.Job
	Writes []Write
	// Array marks each pod with the element that it belongs to; nil if the job is not an array.
	Array  *Array
	Events []Event
	// RequeueAfter is the delay after which to compute the next plan if nothing changes before then; 0 means never.
	RequeueAfter time.Duration
	// Refresh requests a new plan with pods read from the API server. The rest of this plan is then empty.
	Refresh bool
	// Answered holds the lost pods that can be omitted from the next Input.
	Answered []types.UID
	// Reported holds the pods whose termination messages can be omitted from the next Input.
	Reported []types.UID
	// Since holds the value of Since for the next Input.
	Since map[string]time.Time
	// Entered is the phase that this plan enters; empty if the phase does not change.
	Entered batchv1alpha1.JobPhase
}

// Event is an event to record on the job.
type Event struct {
	Type    string // corev1.EventTypeNormal or EventTypeWarning
	Reason  string
	Message string
}

// Write is one step of a plan.
type Write interface{ write() }

// The writes.
type (
	// WriteStatus replaces the status of the job, if the job has not changed since the plan was made.
	WriteStatus struct {
		Status batchv1alpha1.JobStatus
		// Lazy is true if only counters have changed and nothing depends on them, so that the write may be delayed.
		Lazy bool
		// First is true if this is the first status of the job and it contains no reason or resources. The write may
		// be delayed then, too, unless the plan has other writes.
		First bool
	}
	// NameClaims sets the claim names of the job's volumes.
	NameClaims struct{ Volumes []batchv1alpha1.VolumeSpec }
	// ForwardJob sets the annotation that permits the pods of the job to run in other clusters.
	ForwardJob struct{}
	// CreateClaim creates a PersistentVolumeClaim unless it already exists.
	CreateClaim struct{ Claim *corev1.PersistentVolumeClaim }
	// EnsureObjects creates and updates the objects of the job's plugins. Key changes whenever the objects may have
	// changed.
	EnsureObjects struct{ Key string }
	// RemoveObjects deletes the objects of the job's plugins.
	RemoveObjects struct{}
	// CreateGroup creates the PodGroup.
	CreateGroup struct{ Group *schedulingv1beta1.PodGroup }
	// PatchGroup updates the spec of the PodGroup.
	PatchGroup struct {
		Group *schedulingv1beta1.PodGroup // the current PodGroup
		Spec  schedulingv1beta1.PodGroupSpec
	}
	// DeleteGroup deletes the PodGroup.
	DeleteGroup struct{ Group *schedulingv1beta1.PodGroup }
	// MarkPods annotates pods as stopped by the controller, so that their end is not treated as an event.
	MarkPods struct{ Pods []*corev1.Pod }
	// DeletePods deletes these pods, identified by UID.
	DeletePods struct{ Pods []*corev1.Pod }
	// CreatePods creates the pods for these places, as returned by NewPodForPlace.
	CreatePods struct{ Places []Place }
	// DeleteCommand deletes a command that was carried out.
	DeleteCommand struct{ Command *busv1alpha1.Command }
	// DeleteJob deletes the finished job and all objects that it owns.
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

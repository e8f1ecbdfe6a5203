package admission

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/check"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/api/textformat"
)

// acceptedJobLifetime is the time for which an accepted job counts if the watch does not report it. An example is a job
// that the API server rejected later for another reason.
const acceptedJobLifetime = 10 * time.Second

// errJobsUnknown means that the jobs cannot be counted yet.
var errJobsUnknown = errors.New("the jobs that have not ended are not known yet: try again in a few seconds; if this error persists, update the CRD of Jobs (vcctl crds apply)")

// acceptedJob is a job that a webhook of this process accepted and that the watch has not reported yet.
type acceptedJob struct {
	submitter

	until time.Time
}

// expiry is the time after which an accepted job no longer counts, unless the watch has reported it.
type expiry struct {
	uid types.UID
	at  time.Time
}

// SubmittedJobs counts the jobs that have not ended, by account, user and QOS. These are the jobs from a watch, for which it
// is the event handler, and the jobs that this process accepted a moment ago. Replicas do not see the jobs that other
// replicas accepted until the watch reports them, so jobs that are submitted at the same time may exceed a limit by a
// few.
type SubmittedJobs struct {
	isSynced func() bool
	now      func() time.Time

	mu       sync.Mutex
	watched  map[types.UID]submitter
	accepted map[types.UID]acceptedJob
	expiries []expiry  // of the accepted jobs, the earliest first; some of these jobs no longer are in accepted
	counts   jobCounts // of the watched and the accepted jobs
}

var _ cache.ResourceEventHandler = (*SubmittedJobs)(nil)

// NewSubmittedJobs returns a counter without jobs.
func NewSubmittedJobs(now func() time.Time) *SubmittedJobs {
	return &SubmittedJobs{
		isSynced: func() bool { return true }, now: now,
		watched: map[types.UID]submitter{}, accepted: map[types.UID]acceptedJob{}, counts: newJobCounts(),
	}
}

// OnAdd counts a job that the watch reports. If this process accepted the job, it is counted only once.
func (s *SubmittedJobs) OnAdd(object any, _ bool) {
	if job, err := meta.Accessor(object); err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.addJob(job)
	}
}

// OnUpdate replaces a job by its new version, which may have another account. The name may also belong to another job now.
// OnUpdate holds the lock during both steps, because a review between them would count too few jobs.
func (s *SubmittedJobs) OnUpdate(before, object any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if job, err := meta.Accessor(before); err == nil {
		s.removeJob(job.GetUID())
	}
	if job, err := meta.Accessor(object); err == nil {
		s.addJob(job)
	}
}

// OnDelete stops counting a job that has ended or was deleted.
func (s *SubmittedJobs) OnDelete(object any) {
	if deleted, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = deleted.Obj
	}
	job, err := meta.Accessor(object)
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.removeJob(job.GetUID())
}

// addJob adds a job that the watch reports, or replaces its earlier version. The caller must hold the lock.
func (s *SubmittedJobs) addJob(job metav1.Object) {
	s.removeAccepted(job.GetUID())
	s.removeJob(job.GetUID())
	by := submitterOf(job)
	s.watched[job.GetUID()] = by
	s.counts.add(by, 1)
}

// removeJob removes a watched job. The caller must hold the lock.
func (s *SubmittedJobs) removeJob(uid types.UID) {
	by, isWatched := s.watched[uid]
	if !isWatched {
		return
	}
	delete(s.watched, uid)
	s.counts.add(by, -1)
}

// removeAccepted removes a job that was accepted and not watched yet. The caller must hold the lock.
func (s *SubmittedJobs) removeAccepted(uid types.UID) {
	if job, isAccepted := s.accepted[uid]; isAccepted {
		delete(s.accepted, uid)
		s.counts.add(job.submitter, -1)
	}
}

// removeExpired removes the accepted jobs whose lifetime is over. The caller must hold the lock.
func (s *SubmittedJobs) removeExpired() {
	now := s.now()
	for len(s.expiries) > 0 && !now.Before(s.expiries[0].at) {
		uid := s.expiries[0].uid
		s.expiries = s.expiries[1:]
		if job, isAccepted := s.accepted[uid]; isAccepted && !now.Before(job.until) { // unless it was accepted again
			s.removeAccepted(uid)
		}
	}
}

// The label selectors of the jobs that count: jobs with an account, and jobs with a QOS only. A selector cannot express
// both conditions, and a job moves from one to the other only if an administrator removes its account.
const (
	jobsWithAccount = keys.Account
	jobsWithQOSOnly = keys.QOS + ",!" + keys.Account
)

// newJobInformer returns an informer of the metadata of all jobs that match a selector and have not ended. A job that
// ends no longer matches the selector, so the informer removes it. A suspended job has not ended.
func newJobInformer(config *rest.Config, selector string) (cache.SharedIndexInformer, error) {
	client, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("admission: client for the metadata of jobs: %w", err)
	}
	selectors := make([]fields.Selector, 0, 3)
	for _, phase := range []batchv1alpha1.JobPhase{batchv1alpha1.Completed, batchv1alpha1.Failed, batchv1alpha1.Terminated} {
		selectors = append(selectors, fields.OneTermNotEqualSelector("status.state.phase", string(phase)))
	}
	unfinished := fields.AndSelectors(selectors...).String()
	informer := metadatainformer.NewFilteredMetadataInformer(client, batchv1alpha1.GroupVersion.WithResource("jobs"), metav1.NamespaceAll, 0, nil,
		func(options *metav1.ListOptions) {
			options.FieldSelector, options.LabelSelector = unfinished, selector
		}).Informer()
	if err := informer.SetTransform(reduceJob); err != nil {
		return nil, fmt.Errorf("admission: jobs: %w", err)
	}
	return informer, nil
}

// reduceJob removes the metadata that the counts do not need.
func reduceJob(object any) (any, error) {
	job, ok := object.(*metav1.PartialObjectMetadata)
	if !ok {
		return object, nil
	}
	reduced := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Namespace: job.Namespace, Name: job.Name, UID: job.UID, ResourceVersion: job.ResourceVersion,
		Labels: map[string]string{keys.Account: job.Labels[keys.Account], keys.QOS: job.Labels[keys.QOS]},
	}}
	batchv1alpha1.SetUser(reduced, batchv1alpha1.UserOf(job))
	return reduced, nil
}

// submitLimit is one limit for the number of jobs that have not ended.
type submitLimit struct {
	most    int32
	account string // the account that has the limit
	user    string // the user whose jobs count; "" means that the jobs of all users in the account and below it count
	qos     string // the QOS that has the limit; account or user are then set if only their jobs count
}

// submitLimits returns the limits for a job: of its QOS, of its user in its account, of the account, and of its ancestors.
func submitLimits(tree *accountv1alpha1.Tree, job submitter) []submitLimit {
	limits := qosSubmitLimits(tree, job)
	if most := tree.EffectiveUserLimits(job.account, job.user).MaxSubmittedJobs; most != nil {
		limits = append(limits, submitLimit{most: *most, account: job.account, user: job.user})
	}
	for _, account := range tree.Path(job.account) {
		if own := account.Spec.Limits; own != nil && own.MaxSubmittedJobs != nil {
			limits = append(limits, submitLimit{most: *own.MaxSubmittedJobs, account: account.Name})
		}
	}
	return limits
}

// describeRejection returns the reason why a job is rejected while count jobs have not ended.
func (l *submitLimit) describeRejection(count int) string {
	whose := "account " + l.account + " with the accounts below it"
	switch {
	case l.qos != "":
		whose = l.describeQOS()
	case l.user != "":
		whose = fmt.Sprintf("user %q in account %s", l.user, l.account)
	}
	return fmt.Sprintf("%s has %s, and the limit is %d: wait until a job ends, or cancel one: %s",
		whose, textformat.CountWithNoun(int64(count), "unfinished job"), l.most, check.SlurmPolicyViolation)
}

// rejection is the label with the account or the QOS that has reached a limit, and the reason why a job is rejected. The
// reason is "" if the job is accepted.
type rejection struct{ label, reason string }

// acceptJob checks whether a new job exceeds a limit. If it does, acceptJob returns a rejection. Otherwise, it
// counts the job from now on, unless uid is "".
func (s *SubmittedJobs) acceptJob(tree *accountv1alpha1.Tree, job submitter, uid types.UID) (rejection, error) {
	limits := submitLimits(tree, job)
	if len(limits) == 0 {
		return rejection{}, nil // if a limit is set later, the watch will have reported the job
	}
	if !s.isSynced() {
		return rejection{}, errJobsUnknown
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.removeExpired()
	s.removeAccepted(uid) // the API server checks a job again if its generated name is in use
	for i := range limits {
		if total := s.counts.countToward(&limits[i], tree); total >= int(limits[i].most) {
			return rejection{limits[i].labelKey(), limits[i].describeRejection(total)}, nil
		}
	}
	if _, isWatched := s.watched[uid]; uid != "" && !isWatched {
		until := s.now().Add(acceptedJobLifetime)
		s.accepted[uid] = acceptedJob{submitter: job, until: until}
		s.expiries = append(s.expiries, expiry{uid, until})
		s.counts.add(job, 1)
	}
	return rejection{}, nil
}

func submitterOf(job metav1.Object) submitter {
	return submitter{account: job.GetLabels()[keys.Account], user: batchv1alpha1.UserOf(job), qos: job.GetLabels()[keys.QOS]}
}

// rejectBeyondSubmitLimits rejects a new job if its user, its account or its QOS has too many jobs that have not ended. It must be
// the last check of a job, because an accepted job counts immediately.
func (h *hooks) rejectBeyondSubmitLimits(request *admission.Request) (field.ErrorList, error) {
	if request.Operation != admissionv1.Create || h.accounts == nil || h.submitted == nil {
		return nil, nil
	}
	job := &metav1.PartialObjectMetadata{}
	if json.Unmarshal(request.Object.Raw, job) != nil {
		return nil, nil //nolint:nilerr // reported where the job is checked
	}
	uid := job.UID
	if request.DryRun != nil && *request.DryRun {
		uid = ""
	}
	rejected, err := h.submitted.acceptJob(h.accounts.Accounts(), submitterOf(job), uid)
	if err != nil || rejected.reason == "" {
		return nil, err
	}
	return field.ErrorList{field.Forbidden(field.NewPath("metadata", "labels").Key(rejected.label), rejected.reason)}, nil
}

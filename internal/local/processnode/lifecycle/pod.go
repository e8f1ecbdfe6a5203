package lifecycle

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Kind is the role of a container in its pod.
type Kind int

// The roles of containers.
const (
	Main    Kind = iota
	Init         // runs to completion before the next container
	Sidecar      // an init container with restartPolicy Always
)

// Stage is the stage of a container.
type Stage int

// The stages of a container.
const (
	Waiting  Stage = iota // not started, or waiting for a restart
	Starting              // a Start action is being carried out
	Running
	Stopping // a Stop action is being carried out
	Ended    // the last attempt is over
)

// Reasons of container states, as known from kubectl and controllers.
const (
	ReasonCompleted     = "Completed"
	ReasonError         = "Error"
	ReasonOOMKilled     = "OOMKilled"
	ReasonStartError    = "StartError"
	ReasonConfigError   = "CreateContainerConfigError"
	ReasonCreating      = "ContainerCreating"
	ReasonInitializing  = "PodInitializing"
	ReasonBackOff       = "CrashLoopBackOff"
	ReasonNodeStopped   = "NodeStopped"
	ReasonDeadline      = "DeadlineExceeded"
	messageDeadline     = "Pod was active on the node longer than the specified deadline"
	configRetry         = 2 * time.Second
	backOffForgiveAfter = 10 * time.Minute
)

// BackOff configures the delay before an ended container restarts. The first restart is immediate; after that, the
// delay starts at Base and doubles up to Max.
type BackOff struct {
	Base, Max time.Duration
}

// End describes how an attempt to run a container ended.
type End struct {
	Code       int
	Signal     int
	Reason     string
	Message    string
	StartedAt  time.Time
	FinishedAt time.Time
	ID         string // ID of the attempt
}

// Container is one container of a pod.
type Container struct {
	Spec    *corev1.Container
	Kind    Kind
	Stage   Stage
	Attempt int    // number of restarts
	ID      string // ID of the current attempt
	// Started is true once the startup probe has succeeded and the postStart hook has returned. Healthy is the result
	// of the readiness probe.
	Started   bool
	Healthy   bool
	StartedAt time.Time
	End       *End // how the current attempt ended; nil if it has not ended
	Last      *End // how the attempt before the current one ended

	waitReason  string
	waitMessage string
	notBefore   time.Time
	backOff     time.Duration
	stopBy      time.Time // time when StopGently becomes Kill
	killed      bool
	restarting  bool // Waiting after an attempt has ended: the next start is a new attempt
}

// Stop requests that the whole pod be stopped.
type Stop struct {
	By     time.Time // time when the remaining containers are killed
	Reason string    // reason for the pod's status; "" if the pod is deleted
}

// Pod is the state of a pod.
type Pod struct {
	API        *corev1.Pod // last object from the API: contains the spec, and conditions written by others
	Containers []*Container
	Prepared   bool // network and volumes exist
	StartedAt  time.Time
	HostIP     string
	PodIP      string
	stop       *Stop
	finished   bool // no container will be started again
	failed     bool // an init container failed and will not be retried
	ready      bool // init containers are done and no longer block the main containers
}

// New returns the state of a pod that has not started.
func New(pod *corev1.Pod, now time.Time) *Pod {
	p := &Pod{API: pod.DeepCopy(), StartedAt: now}
	if pod.Status.StartTime != nil {
		p.StartedAt = pod.Status.StartTime.Time
	}
	for i := range p.API.Spec.InitContainers {
		spec := &p.API.Spec.InitContainers[i]
		kind := Init
		if spec.RestartPolicy != nil && *spec.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			kind = Sidecar
		}
		p.Containers = append(p.Containers, &Container{Spec: spec, Kind: kind})
	}
	for i := range p.API.Spec.Containers {
		p.Containers = append(p.Containers, &Container{Spec: &p.API.Spec.Containers[i], Kind: Main})
	}
	return p
}

// Update stores a newer object from the API. Of the object's status, it uses only the conditions written by others,
// because the rest is older than this state.
func (p *Pod) Update(api *corev1.Pod) {
	fresh := api.DeepCopy()
	own := p.API.Status
	fresh.Status.Conditions = mergeConditions(own.Conditions, api.Status.Conditions)
	p.API = fresh
}

// OwnConditions returns the conditions that the node writes. It writes PodScheduled only if the API object lacks it,
// because a pod that is created with a node name is never handled by a scheduler.
func OwnConditions(all []corev1.PodCondition) []corev1.PodCondition {
	var own []corev1.PodCondition
	for _, condition := range all {
		if isOwnCondition(condition) {
			own = append(own, condition)
		}
	}
	return own
}

func isOwnCondition(condition corev1.PodCondition) bool {
	switch condition.Type {
	case corev1.PodReadyToStartContainers, corev1.PodInitialized, corev1.ContainersReady, corev1.PodReady, corev1.PodScheduled:
		return true
	}
	return false
}

// mergeConditions returns the node's conditions from own and all other conditions from api.
func mergeConditions(own, api []corev1.PodCondition) []corev1.PodCondition {
	foreign := slices.DeleteFunc(slices.Clone(api), isOwnCondition)
	return append(OwnConditions(own), foreign...)
}

// RecordAttemptStart records that the container has started.
func (c *Container) RecordAttemptStart(id string, now time.Time) {
	c.Stage, c.ID, c.StartedAt = Running, id, now
	c.waitReason, c.waitMessage = "", ""
	c.Started, c.Healthy = c.Spec.StartupProbe == nil && postStartHook(c.Spec) == nil, c.Spec.ReadinessProbe == nil
}

func postStartHook(spec *corev1.Container) *corev1.LifecycleHandler {
	if spec.Lifecycle == nil {
		return nil
	}
	return spec.Lifecycle.PostStart
}

// RecordAttemptEnd records that the current attempt has ended.
func (c *Container) RecordAttemptEnd(end End) {
	c.Stage, c.End = Ended, &end
	c.Started, c.Healthy, c.killed = false, false, false
}

// CannotConfigure records that the container's configuration refers to a missing object. Starting the container is
// retried.
func (c *Container) CannotConfigure(reason, message string, now time.Time) {
	c.Stage, c.waitReason, c.waitMessage = Waiting, reason, message
	c.notBefore = now.Add(configRetry)
}

// StopAll requests that the pod be stopped. Later calls can only make the deadline earlier.
func (p *Pod) StopAll(stop Stop) {
	if p.stop == nil {
		p.stop = &stop
		return
	}
	if stop.By.Before(p.stop.By) {
		p.stop.By = stop.By
	}
	for _, c := range p.Containers {
		if c.Stage == Stopping && stop.By.Before(c.stopBy) {
			c.stopBy = stop.By
		}
	}
}

// IsStopping reports whether a stop of the pod was requested.
func (p *Pod) IsStopping() bool { return p.stop != nil }

// HasActiveContainers reports whether any container of the pod is starting, running or stopping.
func (p *Pod) HasActiveContainers() bool {
	return slices.ContainsFunc(p.Containers, (*Container).isContainerActive)
}

// HasFinished reports whether the pod has ended: no container is running, and none will be started.
func (p *Pod) HasFinished() bool { return (p.finished || p.stop != nil) && !p.HasActiveContainers() }

func (c *Container) isContainerActive() bool {
	return c.Stage == Starting || c.Stage == Running || c.Stage == Stopping
}

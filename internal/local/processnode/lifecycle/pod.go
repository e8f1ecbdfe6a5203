package lifecycle

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Kind is the role of a container in its pod.
type Kind int

// Roles of containers.
const (
	Main    Kind = iota
	Init         // runs to its end before the next
	Sidecar      // an init container that is restarted always
)

// Stage is where a container is.
type Stage int

// Stages of a container.
const (
	Waiting  Stage = iota // not started, or to be started again
	Starting              // a Start action is being carried out
	Running
	Stopping // a Stop action is being carried out
	Ended    // the last attempt is over
)

// Reasons of container states, as kubectl and controllers know them.
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

// BackOff is the wait before a container that ended starts again: none the first time, then Base, doubling to Max.
type BackOff struct {
	Base, Max time.Duration
}

// End is how an attempt of a container ended.
type End struct {
	Code       int
	Signal     int
	Reason     string
	Message    string
	StartedAt  time.Time
	FinishedAt time.Time
	ID         string // of the attempt
}

// Container is one container of a pod.
type Container struct {
	Spec    *corev1.Container
	Kind    Kind
	Stage   Stage
	Attempt int    // how often it was started again
	ID      string // of the current attempt
	// Started is true once the start-up probe has passed and the postStart hook has returned; Healthy is the readiness
	// probe's word.
	Started   bool
	Healthy   bool
	StartedAt time.Time
	End       *End // of the attempt that is over; nil while none is
	Last      *End // of the attempt before the current one

	waitReason  string
	waitMessage string
	notBefore   time.Time
	backOff     time.Duration
	stopBy      time.Time // when a Stop becomes a Kill
	killed      bool
	restarting  bool // Waiting after an end: the next start is another attempt
}

// Stop says that the whole pod is to end.
type Stop struct {
	By     time.Time // when what still runs is killed
	Reason string    // of the pod's status; "" for a deletion
}

// Pod is the state of a pod.
type Pod struct {
	API        *corev1.Pod // as last seen; the spec's rules and the conditions of others come from it
	Containers []*Container
	Prepared   bool // network and volumes are there
	StartedAt  time.Time
	HostIP     string
	PodIP      string
	stop       *Stop
	finished   bool // no container will start again
	failed     bool // an init container failed for good
	ready      bool // init containers are through: they no longer gate the main ones
}

// New is a pod of which nothing has run.
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

// Update takes over a newer object from the API. Of its status only what others write is taken: the rest is older than what
// this state says.
func (p *Pod) Update(api *corev1.Pod) {
	fresh := api.DeepCopy()
	own := p.API.Status
	fresh.Status.Conditions = mergeConditions(own.Conditions, api.Status.Conditions)
	p.API = fresh
}

// OwnCondition tells whether a condition is the node's to write. PodScheduled is written only if the API has none: a pod that was
// made with a node's name has met no scheduler.
func OwnCondition(kind corev1.PodConditionType) bool {
	switch kind {
	case corev1.PodReadyToStartContainers, corev1.PodInitialized, corev1.ContainersReady, corev1.PodReady, corev1.PodScheduled:
		return true
	}
	return false
}

// mergeConditions takes the node's conditions from own and all others from api.
func mergeConditions(own, api []corev1.PodCondition) []corev1.PodCondition {
	var merged []corev1.PodCondition
	for _, condition := range own {
		if OwnCondition(condition.Type) {
			merged = append(merged, condition)
		}
	}
	for _, condition := range api {
		if !OwnCondition(condition.Type) {
			merged = append(merged, condition)
		}
	}
	return merged
}

// Find returns the container of a name, or nil.
func (p *Pod) Find(name string) *Container {
	for _, c := range p.Containers {
		if c.Spec.Name == name {
			return c
		}
	}
	return nil
}

// Began records that a start was carried out.
func (c *Container) Began(id string, now time.Time) {
	c.Stage, c.ID, c.StartedAt = Running, id, now
	c.waitReason, c.waitMessage = "", ""
	c.Started, c.Healthy = c.Spec.StartupProbe == nil && postStart(c.Spec) == nil, c.Spec.ReadinessProbe == nil
}

func postStart(spec *corev1.Container) *corev1.LifecycleHandler {
	if spec.Lifecycle == nil {
		return nil
	}
	return spec.Lifecycle.PostStart
}

// Over records that the current attempt is over.
func (c *Container) Over(end End) {
	c.Stage, c.End = Ended, &end
	c.Started, c.Healthy, c.killed = false, false, false
}

// CannotConfigure records that the container's configuration refers to something that is not there; it is tried again.
func (c *Container) CannotConfigure(reason, message string, now time.Time) {
	c.Stage, c.waitReason, c.waitMessage = Waiting, reason, message
	c.notBefore = now.Add(configRetry)
}

// StopAll asks for the end of the pod. A later call may only bring the end nearer.
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

// Stopping tells whether the pod's end was asked for.
func (p *Pod) Stopping() bool { return p.stop != nil }

// Active tells whether anything of the pod runs.
func (p *Pod) Active() bool {
	for _, c := range p.Containers {
		if c.active() {
			return true
		}
	}
	return false
}

// Finished tells that the pod is over: nothing runs and nothing will.
func (p *Pod) Finished() bool { return (p.finished || p.stop != nil) && !p.Active() }

func (c *Container) active() bool {
	return c.Stage == Starting || c.Stage == Running || c.Stage == Stopping
}

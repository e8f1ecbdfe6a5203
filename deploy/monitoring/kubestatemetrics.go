package monitoring

import (
	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// Path is the path of a field in an object, one name for each level.
type Path []string

// StateKind describes the metrics that kube-state-metrics computes from the objects of a kind.
type StateKind struct {
	Group, Version, Kind string
	// Prefix is the start of the names of all metrics, without the separator.
	Prefix string
	// Labels are the labels of all metrics, with the paths of their values.
	Labels map[string]Path
	// Metrics lists the metrics.
	Metrics []StateMetric
}

// StateType is the type of a metric, as kube-state-metrics spells it.
type StateType string

// The types of metrics of kube-state-metrics.
const (
	StateGauge StateType = "Gauge"    // a number, a time, or a quantity
	StateSet   StateType = "StateSet" // a series for each possible value, of which one has the value 1
	StateInfo  StateType = "Info"     // always 1; the labels hold the information
)

// StateMetric is a metric that kube-state-metrics computes from a field.
type StateMetric struct {
	// Name is the name without the prefix of the kind.
	Name, Help string
	Type       StateType
	// Path is the field. A gauge of an object or of a list has a series for each of its elements.
	Path Path
	// Value is the path of the value within each element of a list.
	Value Path
	// KeyLabel is the label for the key of each element of an object.
	KeyLabel string
	// IsZeroIfMissing lets a gauge be 0 if the field is missing.
	IsZeroIfMissing bool
	// ValueLabel and Values are the label of a state set and its possible values.
	ValueLabel string
	Values     []string
	// Labels are more labels, with paths within the field.
	Labels map[string]Path
}

// StateKinds returns the metrics of kube-state-metrics for jobs, PodGroups and queues.
func StateKinds() []StateKind {
	return []StateKind{jobState(), podGroupState(), queueState()}
}

// namespaced are the labels of the metrics of jobs and PodGroups.
func namespaced() map[string]Path {
	return map[string]Path{"namespace": {"metadata", "namespace"}, "name": {"metadata", "name"}, "queue": {"spec", "queue"}}
}

func jobState() StateKind {
	return StateKind{
		Group: batchv1alpha1.GroupVersion.Group, Version: batchv1alpha1.GroupVersion.Version, Kind: "Job",
		Prefix: "kube_vc_job", Labels: namespaced(),
		Metrics: []StateMetric{
			newInfo("info", "Information about a job.", nil, map[string]Path{
				"uid": {"metadata", "uid"}, "user": {"metadata", "annotations", keys.User},
				"priority_class": {"spec", "priorityClassName"}, "scheduler_name": {"spec", "schedulerName"},
			}),
			newTime("created", "Creation time of a job, in seconds since 1970.", Path{"metadata", "creationTimestamp"}),
			newStateSet("status_phase", "Phase of a job: 1 for the current phase, 0 for all others.", "phase", Path{"status", "state", "phase"},
				batchv1alpha1.Pending, batchv1alpha1.Running, batchv1alpha1.Restarting, batchv1alpha1.Completing, batchv1alpha1.Completed,
				batchv1alpha1.Aborting, batchv1alpha1.Aborted, batchv1alpha1.Terminating, batchv1alpha1.Terminated, batchv1alpha1.Failed),
			newTime("status_last_transition_time", "Time when the phase of a job last changed, in seconds since 1970.", Path{"status", "state", "lastTransitionTime"}),
			newNumber("spec_min_available", "Minimum number of pods that a job needs to run.", Path{"spec", "minAvailable"}),
			newNumber("spec_max_retry", "Number of restarts after failures at which a job fails.", Path{"spec", "maxRetry"}),
			newNumber("status_pending", "Number of pending pods of a job.", Path{"status", "pending"}),
			newNumber("status_running", "Number of running pods of a job.", Path{"status", "running"}),
			newNumber("status_succeeded", "Number of succeeded pods of a job.", Path{"status", "succeeded"}),
			newNumber("status_failed", "Number of failed pods of a job.", Path{"status", "failed"}),
			newNumber("status_terminating", "Number of pods of a job that are being deleted.", Path{"status", "terminating"}),
			newNumber("status_unknown", "Number of pods of a job whose phase is unknown.", Path{"status", "unknown"}),
			newNumber("status_retry_count", "Number of restarts of a job after failures.", Path{"status", "retryCount"}),
			newNumber("status_evicted_pods", "Number of pods of a job that were evicted since its creation.", Path{"status", "evictions", "pods"}),
		},
	}
}

func podGroupState() StateKind {
	return StateKind{
		Group: schedulingv1beta1.GroupVersion.Group, Version: schedulingv1beta1.GroupVersion.Version, Kind: "PodGroup",
		Prefix: "kube_vc_podgroup", Labels: namespaced(),
		Metrics: []StateMetric{
			newTime("created", "Creation time of a PodGroup, in seconds since 1970.", Path{"metadata", "creationTimestamp"}),
			newStateSet("status_phase", "Phase of a PodGroup: 1 for the current phase, 0 for all others.", "phase", Path{"status", "phase"},
				schedulingv1beta1.PodGroupPending, schedulingv1beta1.PodGroupInqueue, schedulingv1beta1.PodGroupRunning,
				schedulingv1beta1.PodGroupUnknown, schedulingv1beta1.PodGroupCompleted),
			{
				Name: "status_condition", Type: StateGauge, Path: Path{"status", "conditions"}, Value: Path{"status"},
				Help:   "Conditions of a PodGroup: 1 if the condition is true.",
				Labels: map[string]Path{"type": {"type"}},
			},
			newInfo("status_waiting_info", "Reason why a PodGroup waits. It has no series while the PodGroup does not wait.",
				Path{"status", "explanation"}, map[string]Path{"reason": {"reason"}}),
			newNumber("status_never_starts", "1 if a PodGroup cannot start without a change, however long it waits.", Path{"status", "explanation", "never"}),
			newNumber("spec_min_member", "Minimum number of pods of a PodGroup that start together.", Path{"spec", "minMember"}),
			newResources("spec_min_resources", "Total request of the minimum number of pods of a PodGroup.", Path{"spec", "minResources"}),
			newNumber("status_running", "Number of running pods of a PodGroup.", Path{"status", "running"}),
			newNumber("status_succeeded", "Number of succeeded pods of a PodGroup.", Path{"status", "succeeded"}),
			newNumber("status_failed", "Number of failed pods of a PodGroup.", Path{"status", "failed"}),
		},
	}
}

func queueState() StateKind {
	return StateKind{
		Group: schedulingv1beta1.GroupVersion.Group, Version: schedulingv1beta1.GroupVersion.Version, Kind: "Queue",
		Prefix: "kube_vc_queue", Labels: map[string]Path{"queue": {"metadata", "name"}},
		Metrics: []StateMetric{
			newInfo("info", "Information about a queue.", nil, map[string]Path{"parent": {"spec", "parent"}, "uid": {"metadata", "uid"}}),
			newTime("created", "Creation time of a queue, in seconds since 1970.", Path{"metadata", "creationTimestamp"}),
			newStateSet("status_state", "State of a queue: 1 for the current state, 0 for all others.", "state", Path{"status", "state"},
				schedulingv1beta1.QueueStateOpen, schedulingv1beta1.QueueStateClosed, schedulingv1beta1.QueueStateClosing, schedulingv1beta1.QueueStateUnknown),
			newNumber("spec_weight", "Weight of a queue.", Path{"spec", "weight"}),
			newNumber("spec_priority", "Priority of a queue.", Path{"spec", "priority"}),
			newResources("spec_capability", "Maximum amount of resources that a queue may use.", Path{"spec", "capability"}),
			newResources("spec_deserved", "Amount of resources that a queue deserves by its specification.", Path{"spec", "deserved"}),
			newResources("spec_guarantee", "Amount of resources that is reserved for a queue.", Path{"spec", "guarantee", "resource"}),
			newResources("status_allocated", "Amount of resources that the pods of a queue and its descendants hold.", Path{"status", "allocated"}),
			newResources("status_deserved", "Amount of resources that a queue may currently use without having to give them back.", Path{"status", "deserved"}),
			newNumber("status_pending", "Number of PodGroups of a queue that are not admitted yet.", Path{"status", "pending"}),
			newNumber("status_inqueue", "Number of PodGroups of a queue that are admitted and wait for nodes.", Path{"status", "inqueue"}),
			newNumber("status_running", "Number of running PodGroups of a queue.", Path{"status", "running"}),
			newNumber("status_unknown", "Number of PodGroups of a queue of which fewer pods run than the minimum.", Path{"status", "unknown"}),
			newNumber("status_completed", "Number of completed PodGroups of a queue.", Path{"status", "completed"}),
			newNumber("status_waiting", "Number of PodGroups of a queue that request more than they have.", Path{"status", "waiting"}),
		},
	}
}

// newNumber returns a gauge of a field that the API server omits if it is zero.
func newNumber(name, help string, path Path) StateMetric {
	return StateMetric{Name: name, Help: help, Type: StateGauge, Path: path, IsZeroIfMissing: true}
}

// newTime returns a gauge of a time. It has no series while the time is missing.
func newTime(name, help string, path Path) StateMetric {
	return StateMetric{Name: name, Help: help, Type: StateGauge, Path: path}
}

// newResources returns a gauge of amounts of resources, with a series for each resource. CPUs are in cores, and memory is
// in bytes.
func newResources(name, help string, path Path) StateMetric {
	return StateMetric{Name: name, Help: help, Type: StateGauge, Path: path, KeyLabel: "resource"}
}

func newStateSet[T ~string](name, help, label string, path Path, values ...T) StateMetric {
	m := StateMetric{Name: name, Help: help, Type: StateSet, Path: path, ValueLabel: label}
	for _, value := range values {
		m.Values = append(m.Values, string(value))
	}
	return m
}

func newInfo(name, help string, path Path, labels map[string]Path) StateMetric {
	return StateMetric{Name: name, Help: help, Type: StateInfo, Path: path, Labels: labels}
}

// CustomResourceStateMetrics returns the configuration of kube-state-metrics.
func CustomResourceStateMetrics() map[string]any {
	var resources []any
	for _, kind := range StateKinds() {
		var metrics []any
		for i := range kind.Metrics {
			metrics = append(metrics, kind.Metrics[i].configuration())
		}
		resources = append(resources, map[string]any{
			"groupVersionKind": map[string]any{"group": kind.Group, "version": kind.Version, "kind": kind.Kind},
			"metricNamePrefix": kind.Prefix,
			"labelsFromPath":   kind.Labels,
			// Errors are logged for fields that are still missing, such as the phase of a new job. They are not errors.
			"errorLogV": 5,
			"metrics":   metrics,
		})
	}
	return map[string]any{"kind": "CustomResourceStateMetrics", "spec": map[string]any{"resources": resources}}
}

// configuration returns a metric as kube-state-metrics reads it.
func (m *StateMetric) configuration() map[string]any {
	field := map[string]any{}
	set := func(key string, value any, isSet bool) {
		if isSet {
			field[key] = value
		}
	}
	set("path", m.Path, len(m.Path) > 0)
	set("valueFrom", m.Value, len(m.Value) > 0)
	set("labelFromKey", m.KeyLabel, m.KeyLabel != "")
	set("nilIsZero", true, m.IsZeroIfMissing)
	set("labelName", m.ValueLabel, m.ValueLabel != "")
	set("list", m.Values, len(m.Values) > 0)
	set("labelsFromPath", m.Labels, len(m.Labels) > 0)
	union := map[StateType]string{StateGauge: "gauge", StateSet: "stateSet", StateInfo: "info"}[m.Type]
	return map[string]any{"name": m.Name, "help": m.Help, "each": map[string]any{"type": string(m.Type), union: field}}
}

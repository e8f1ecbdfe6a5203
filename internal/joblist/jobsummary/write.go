package jobsummary

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batch "github.com/vc-batch/vc/api/batch/v1alpha1"
	scheduling "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// ContentType is the media type of a stream. Clients must accept it.
const ContentType = "application/vnd.vc-batch.jobs.v1"

// The fields of an entry.
const (
	fieldNamespace protowire.Number = iota + 1
	fieldName
	fieldUID
	fieldCreated
	fieldLabel
	fieldAnnotation
	fieldSpec
	fieldStatus
	fieldChanged
	fieldEntered
	fieldGroup
	fieldPlace
	fieldEstimate
	fieldPod
	fieldEnd  // in the last message only: the number of entries
	fieldSaid // after a pod with ended containers: their termination messages
)

// Job encodes the fields of an entry that come from a Job.
func Job(job *batch.Job) ([]byte, error) {
	b := text(nil, fieldNamespace, job.Namespace)
	b = text(b, fieldName, job.Name)
	b = text(b, fieldUID, string(job.UID))
	b = moment(b, fieldCreated, job.CreationTimestamp.Time)
	b = pairs(b, fieldLabel, job.Labels)
	b = pairs(b, fieldAnnotation, job.Annotations)
	b, err := asJSON(b, fieldSpec, slimSpec(&job.Spec))
	if err != nil {
		return nil, fmt.Errorf("job %s/%s: spec: %w", job.Namespace, job.Name, err)
	}
	b, err = asJSON(b, fieldStatus, slimStatus(&job.Status))
	if err != nil {
		return nil, fmt.Errorf("job %s/%s: status: %w", job.Namespace, job.Name, err)
	}
	b = moment(b, fieldChanged, job.Status.State.LastTransitionTime.Time)
	for _, c := range job.Status.Conditions {
		b = always(b, fieldEntered, seconds(c.LastTransitionTime))
	}
	return b, nil
}

// Group encodes the fields of an entry that come from a PodGroup.
func Group(group *scheduling.PodGroup) ([]byte, error) {
	b, err := asJSON(nil, fieldGroup, slimGroup(&group.Status))
	if err != nil {
		return nil, fmt.Errorf("podgroup %s/%s: %w", group.Namespace, group.Name, err)
	}
	e := group.Status.Explanation
	if e == nil {
		return b, nil
	}
	if e.Queue != nil {
		b = always(b, fieldPlace, int64(e.Queue.Position))
	}
	if e.EstimatedStart != nil {
		b = always(b, fieldEstimate, seconds(e.EstimatedStart))
	}
	return b, nil
}

// Pod encodes the fields of an entry that come from a pod.
func Pod(pod *corev1.Pod) ([]byte, error) {
	text, err := slimPod(pod).Marshal()
	if err != nil {
		return nil, fmt.Errorf("pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	return field(nil, fieldPod, text), nil
}

// Said encodes the termination messages of the preceding pod's containers; nil if no container has ended. The messages
// may be as long as the rest of the entry.
func Said(pod *corev1.Pod) []byte {
	var all []byte
	told, ended := 0, false
	for _, statuses := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range statuses {
			t := statuses[i].State.Terminated
			ended = ended || t != nil
			message := ""
			if t != nil && strings.HasPrefix(t.Message, reportMark) {
				message = t.Message
			}
			all = protowire.AppendString(all, message)
			if message != "" {
				told = len(all)
			}
		}
	}
	if !ended {
		return nil
	}
	return field(nil, fieldSaid, all[:told])
}

// reportMark is the prefix of the reports that launchers of Slurm jobs write as termination message, which are JSON.
// Other messages, such as log lines, are not sent.
const reportMark = "{"

// Parts encodes all parts of an entry.
func Parts(e Entry) ([][]byte, error) {
	job, err := Job(e.Job)
	if err != nil {
		return nil, err
	}
	parts := [][]byte{job}
	if e.Group != nil {
		group, err := Group(e.Group)
		if err != nil {
			return nil, err
		}
		parts = append(parts, group)
	}
	for _, pod := range e.Pods {
		text, err := Pod(pod)
		if err != nil {
			return nil, err
		}
		parts = append(parts, text, Said(pod))
	}
	return parts, nil
}

// AppendEntry appends a message that consists of the given parts.
func AppendEntry(stream []byte, parts ...[]byte) []byte {
	size := 0
	for _, part := range parts {
		size += len(part)
	}
	stream = protowire.AppendVarint(stream, uint64(size))
	for _, part := range parts {
		stream = append(stream, part...)
	}
	return stream
}

// AppendEnd appends the last message of a stream with this number of entries.
func AppendEnd(stream []byte, entries int) []byte {
	return AppendEntry(stream, always(nil, fieldEnd, int64(entries)))
}

func text(b []byte, number protowire.Number, value string) []byte {
	if value == "" {
		return b
	}
	return protowire.AppendString(protowire.AppendTag(b, number, protowire.BytesType), value)
}

func field(b []byte, number protowire.Number, value []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, number, protowire.BytesType), value)
}

func asJSON(b []byte, number protowire.Number, value any) ([]byte, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	return field(b, number, text), nil
}

// moment encodes a time with a precision of one second, like the API server. It omits the zero time.
func moment(b []byte, number protowire.Number, t time.Time) []byte {
	if t.IsZero() {
		return b
	}
	return always(b, number, t.Unix())
}

func always(b []byte, number protowire.Number, value int64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, number, protowire.VarintType), protowire.EncodeZigZag(value))
}

// never stands for a missing time in a field that is always written.
const never = -1 << 62

func seconds(t *metav1.Time) int64 {
	if t.IsZero() {
		return never
	}
	return t.Unix()
}

// pairs encodes the labels or annotations that lists need, each as a key followed by its value.
func pairs(b []byte, number protowire.Number, all map[string]string) []byte {
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if told(key) {
			b = protowire.AppendString(protowire.AppendTag(b, number, protowire.BytesType), key)
			b = protowire.AppendString(protowire.AppendTag(b, number, protowire.BytesType), all[key])
		}
	}
	return b
}

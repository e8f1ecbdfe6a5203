package jobsummary

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// ContentType is the media type of a stream. Clients must accept it.
const ContentType = "application/vnd.vc-batch.jobs.v2"

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
	fieldEnd // the number of entries; only in the last message
)

// EncodeJobFields encodes the fields of an entry that come from a Job.
func EncodeJobFields(job *batchv1alpha1.Job) ([]byte, error) {
	b := appendText(nil, fieldNamespace, job.Namespace)
	b = appendText(b, fieldName, job.Name)
	b = appendText(b, fieldUID, string(job.UID))
	b = appendTime(b, fieldCreated, job.CreationTimestamp.Time)
	b = appendPairs(b, fieldLabel, job.Labels)
	b = appendPairs(b, fieldAnnotation, job.Annotations)
	b, err := appendJSON(b, fieldSpec, reduceSpec(&job.Spec))
	if err != nil {
		return nil, fmt.Errorf("job %s/%s: spec: %w", job.Namespace, job.Name, err)
	}
	b, err = appendJSON(b, fieldStatus, reduceStatus(&job.Status))
	if err != nil {
		return nil, fmt.Errorf("job %s/%s: status: %w", job.Namespace, job.Name, err)
	}
	b = appendTime(b, fieldChanged, job.Status.State.LastTransitionTime.Time)
	for _, c := range job.Status.Conditions {
		b = appendNumber(b, fieldEntered, unixSeconds(c.LastTransitionTime))
	}
	return b, nil
}

// EncodeGroupFields encodes the fields of an entry that come from a PodGroup.
func EncodeGroupFields(group *schedulingv1beta1.PodGroup) ([]byte, error) {
	b, err := appendJSON(nil, fieldGroup, reduceGroupStatus(&group.Status))
	if err != nil {
		return nil, fmt.Errorf("podgroup %s/%s: %w", group.Namespace, group.Name, err)
	}
	e := group.Status.Explanation
	if e == nil {
		return b, nil
	}
	if e.Queue != nil {
		b = appendNumber(b, fieldPlace, int64(e.Queue.Position))
	}
	if e.EstimatedStart != nil {
		b = appendNumber(b, fieldEstimate, unixSeconds(e.EstimatedStart))
	}
	return b, nil
}

// EncodePodFields encodes the fields of an entry that come from a pod.
func EncodePodFields(pod *corev1.Pod) ([]byte, error) {
	text, err := reducePod(pod).Marshal()
	if err != nil {
		return nil, fmt.Errorf("pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	return appendField(nil, fieldPod, text), nil
}

// EncodeParts encodes all parts of an entry.
func EncodeParts(e Entry) ([][]byte, error) {
	job, err := EncodeJobFields(e.Job)
	if err != nil {
		return nil, err
	}
	parts := [][]byte{job}
	if e.Group != nil {
		group, err := EncodeGroupFields(e.Group)
		if err != nil {
			return nil, err
		}
		parts = append(parts, group)
	}
	for _, pod := range e.Pods {
		text, err := EncodePodFields(pod)
		if err != nil {
			return nil, err
		}
		parts = append(parts, text)
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
	return AppendEntry(stream, appendNumber(nil, fieldEnd, int64(entries)))
}

func appendText(b []byte, number protowire.Number, value string) []byte {
	if value == "" {
		return b
	}
	return protowire.AppendString(protowire.AppendTag(b, number, protowire.BytesType), value)
}

func appendField(b []byte, number protowire.Number, value []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, number, protowire.BytesType), value)
}

func appendJSON(b []byte, number protowire.Number, value any) ([]byte, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	return appendField(b, number, text), nil
}

// appendTime encodes a time with a precision of one second, like the API server. It omits the zero time.
func appendTime(b []byte, number protowire.Number, t time.Time) []byte {
	if t.IsZero() {
		return b
	}
	return appendNumber(b, number, t.Unix())
}

func appendNumber(b []byte, number protowire.Number, value int64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, number, protowire.VarintType), protowire.EncodeZigZag(value))
}

// never stands for a missing time in a field that is always written.
const never = -1 << 62

func unixSeconds(t *metav1.Time) int64 {
	if t.IsZero() {
		return never
	}
	return t.Unix()
}

// appendPairs encodes the labels or annotations that lists need, each as a key followed by its value.
func appendPairs(b []byte, number protowire.Number, all map[string]string) []byte {
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if isNeededKey(key) {
			b = protowire.AppendString(protowire.AppendTag(b, number, protowire.BytesType), key)
			b = protowire.AppendString(protowire.AppendTag(b, number, protowire.BytesType), all[key])
		}
	}
	return b
}

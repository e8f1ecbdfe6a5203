package extract

import (
	"encoding/json"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
)

// Document holds the objects that the records of an attempt were made from. It contains what commands such as sacct
// print, and neither scripts nor environments.
type Document struct {
	Job  *batchv1alpha1.Job `json:"job"`
	Pods []*corev1.Pod      `json:"pods,omitempty"`
}

// maxDocumentPods is the maximum number of pods in a document.
const maxDocumentPods = 1000

// encoder and decoder may be used by several goroutines.
var (
	encoder = sync.OnceValue(func() *zstd.Encoder {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
		if err != nil {
			panic(err) // the options are constant
		}
		return e
	})
	decoder = sync.OnceValue(func() *zstd.Decoder {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(64<<20))
		if err != nil {
			panic(err) // the options are constant
		}
		return d
	})
)

// Encode returns the document as compressed JSON, without what is not needed.
func (d Document) Encode() ([]byte, error) {
	reduced := Document{Job: reduceJob(d.Job)}
	for _, pod := range d.Pods[:min(len(d.Pods), maxDocumentPods)] {
		reduced.Pods = append(reduced.Pods, reducePod(pod))
	}
	text, err := json.Marshal(reduced)
	if err != nil {
		return nil, fmt.Errorf("document: %w", err)
	}
	return encoder().EncodeAll(text, nil), nil
}

// DecodeDocument returns the document that Encode has encoded.
func DecodeDocument(encoded []byte) (Document, error) {
	text, err := decoder().DecodeAll(encoded, nil)
	if err != nil {
		return Document{}, fmt.Errorf("document: %w", err)
	}
	var d Document
	if err := json.Unmarshal(text, &d); err != nil {
		return Document{}, fmt.Errorf("document: %w", err)
	}
	return d, nil
}

// reduceJob returns a copy of a job without scripts, environments and managed fields.
func reduceJob(job *batchv1alpha1.Job) *batchv1alpha1.Job {
	job = job.DeepCopy()
	job.ManagedFields, job.ResourceVersion = nil, ""
	delete(job.Annotations, corev1.LastAppliedConfigAnnotation)
	for i := range job.Spec.Tasks {
		template := &job.Spec.Tasks[i].Template
		template.ObjectMeta = metav1.ObjectMeta{}
		template.Spec = corev1.PodSpec{
			Containers:            reduceContainers(template.Spec.Containers),
			ActiveDeadlineSeconds: template.Spec.ActiveDeadlineSeconds,
		}
	}
	return job
}

// reduceContainers returns the names and resources of containers.
func reduceContainers(containers []corev1.Container) []corev1.Container {
	reduced := make([]corev1.Container, len(containers))
	for i := range containers {
		reduced[i] = corev1.Container{Name: containers[i].Name, Resources: containers[i].Resources}
	}
	return reduced
}

// podLabels lists the labels of pods that a document contains.
var podLabels = []string{keys.JobName, keys.TaskSpec, keys.TaskIndex, keys.ArrayIndex}

// reducePod returns a copy of a pod with its place in the job, its node, and how its containers ended.
func reducePod(pod *corev1.Pod) *corev1.Pod {
	reduced := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, CreationTimestamp: pod.CreationTimestamp, Labels: map[string]string{},
		},
		Spec: corev1.PodSpec{NodeName: pod.Spec.NodeName},
		Status: corev1.PodStatus{
			Phase: pod.Status.Phase, Reason: pod.Status.Reason, Message: pod.Status.Message, StartTime: pod.Status.StartTime,
			InitContainerStatuses: reduceStatuses(pod.Status.InitContainerStatuses),
			ContainerStatuses:     reduceStatuses(pod.Status.ContainerStatuses),
		},
	}
	if used, ok := pod.Annotations[keys.Used]; ok {
		reduced.Annotations = map[string]string{keys.Used: used}
	}
	for _, key := range podLabels {
		if value, ok := pod.Labels[key]; ok {
			reduced.Labels[key] = value
		}
	}
	return reduced
}

func reduceStatuses(statuses []corev1.ContainerStatus) []corev1.ContainerStatus {
	reduced := make([]corev1.ContainerStatus, len(statuses))
	for i := range statuses {
		s := &statuses[i]
		reduced[i] = corev1.ContainerStatus{Name: s.Name, State: s.State, LastTerminationState: s.LastTerminationState, RestartCount: s.RestartCount}
	}
	return reduced
}

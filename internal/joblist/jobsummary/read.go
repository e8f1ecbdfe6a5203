package jobsummary

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// Entry is a job with its PodGroup and pods.
type Entry struct {
	Job *batchv1alpha1.Job
	// Group is the PodGroup of the job, or nil.
	Group *schedulingv1beta1.PodGroup
	Pods  []*corev1.Pod
}

// longest is the maximum length of a message; a longer one is an error.
const longest = 64 << 20

// Reader reads a stream. Create it with NewReader.
type Reader struct {
	from    *bufio.Reader
	entries int64
	buffer  []byte

	specs    map[string]*batchv1alpha1.JobSpec
	statuses map[string]*batchv1alpha1.JobStatus
	groups   map[string]*schedulingv1beta1.PodGroupStatus
	words    map[string]string
}

// NewReader returns a Reader at the beginning of a stream.
func NewReader(from io.Reader) *Reader {
	return &Reader{from: bufio.NewReaderSize(from, 256<<10), specs: map[string]*batchv1alpha1.JobSpec{}, statuses: map[string]*batchv1alpha1.JobStatus{},
		groups: map[string]*schedulingv1beta1.PodGroupStatus{}, words: map[string]string{}}
}

// Next returns the next entry, or io.EOF after the last one. It returns another error if the stream is truncated or
// malformed.
func (r *Reader) Next() (*Entry, error) {
	size, err := binary.ReadUvarint(r.from)
	if err != nil {
		return nil, truncatedError(err)
	}
	if size > longest {
		return nil, fmt.Errorf("list of jobs: a message of %d bytes is too large", size)
	}
	if uint64(cap(r.buffer)) < size {
		r.buffer = make([]byte, size, 2*size)
	}
	message := r.buffer[:size]
	if _, err := io.ReadFull(r.from, message); err != nil {
		return nil, truncatedError(err)
	}
	d := &decoder{Reader: r, entry: &Entry{Job: &batchv1alpha1.Job{}}, end: -1}
	if err := d.decodeMessage(message); err != nil {
		return nil, fmt.Errorf("list of jobs: %w", err)
	}
	if d.end < 0 {
		r.entries++
		return d.entry, nil
	}
	if d.end != r.entries {
		return nil, fmt.Errorf("list of jobs: received only %d of %d entries", r.entries, d.end)
	}
	return nil, io.EOF
}

func truncatedError(err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("list of jobs: %w", err)
}

// decoder decodes one message.
type decoder struct {
	*Reader
	entry   *Entry
	end     int64
	key     string // key of a pair whose value follows
	entered int    // number of condition times so far
}

func (d *decoder) decodeMessage(message []byte) error {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return protowire.ParseError(n)
		}
		message = message[n:]
		var err error
		switch kind {
		case protowire.BytesType:
			var value []byte
			if value, n = protowire.ConsumeBytes(message); n >= 0 {
				err = d.decodeBytes(number, value)
			}
		case protowire.VarintType:
			var value uint64
			if value, n = protowire.ConsumeVarint(message); n >= 0 {
				d.decodeNumber(number, protowire.DecodeZigZag(value))
			}
		default:
			n = protowire.ConsumeFieldValue(number, kind, message)
		}
		if n < 0 {
			return protowire.ParseError(n)
		}
		if err != nil {
			return err
		}
		message = message[n:]
	}
	return nil
}

func (d *decoder) decodeBytes(number protowire.Number, value []byte) error {
	job := d.entry.Job
	switch number {
	case fieldNamespace:
		job.Namespace = d.internWord(value)
	case fieldName:
		job.Name = string(value)
	case fieldUID:
		job.UID = types.UID(value)
	case fieldLabel:
		d.decodePair(&job.Labels, value)
	case fieldAnnotation:
		d.decodePair(&job.Annotations, value)
	case fieldSpec:
		return useDecoded(d.specs, value, func(spec *batchv1alpha1.JobSpec) { job.Spec = *spec })
	case fieldStatus:
		return useDecoded(d.statuses, value, func(status *batchv1alpha1.JobStatus) { d.copyStatus(status) })
	case fieldGroup:
		return useDecoded(d.groups, value, func(status *schedulingv1beta1.PodGroupStatus) {
			d.entry.Group = &schedulingv1beta1.PodGroup{Status: *status}
		})
	case fieldPod:
		pod := &corev1.Pod{}
		if err := pod.Unmarshal(value); err != nil {
			return fmt.Errorf("pod: %w", err)
		}
		d.entry.Pods = append(d.entry.Pods, pod)
	}
	return nil
}

// useDecoded calls use with the decoded value of a JSON text. Equal texts are decoded only once.
func useDecoded[T any](all map[string]*T, text []byte, use func(*T)) error {
	value, ok := all[string(text)]
	if !ok {
		value = new(T)
		if err := json.Unmarshal(text, value); err != nil {
			return err
		}
		all[string(text)] = value
	}
	use(value)
	return nil
}

// internWord returns text as a string. For equal texts, it returns the same string.
func (r *Reader) internWord(text []byte) string {
	if word, ok := r.words[string(text)]; ok {
		return word
	}
	word := string(text)
	r.words[word] = word
	return word
}

// decodePair receives a key and, in the next call, the value of that key.
func (d *decoder) decodePair(into *map[string]string, text []byte) {
	if d.key == "" {
		d.key = d.internWord(text)
		return
	}
	if *into == nil {
		*into = map[string]string{}
	}
	(*into)[d.key] = d.internWord(text)
	d.key = ""
}

// copyStatus copies a status into the entry. It also copies the conditions, because their times are decoded later.
func (d *decoder) copyStatus(status *batchv1alpha1.JobStatus) {
	d.entry.Job.Status = *status
	d.entry.Job.Status.Conditions = append([]batchv1alpha1.JobCondition(nil), status.Conditions...)
}

func (d *decoder) decodeNumber(number protowire.Number, value int64) {
	status := &d.entry.Job.Status
	switch number {
	case fieldCreated:
		d.entry.Job.CreationTimestamp = metav1.NewTime(time.Unix(value, 0))
	case fieldChanged:
		status.State.LastTransitionTime = metav1.NewTime(time.Unix(value, 0))
	case fieldEntered:
		if d.entered < len(status.Conditions) && value != never {
			status.Conditions[d.entered].LastTransitionTime = new(metav1.NewTime(time.Unix(value, 0)))
		}
		d.entered++
	case fieldPlace, fieldEstimate:
		d.setForecast(number, value)
	case fieldEnd:
		d.end = value
	}
}

// setForecast stores the job's position or estimated start in an explanation. It copies the explanation first, because
// jobs share it.
func (d *decoder) setForecast(number protowire.Number, value int64) {
	if d.entry.Group == nil || d.entry.Group.Status.Explanation == nil {
		return
	}
	e := *d.entry.Group.Status.Explanation
	if number == fieldEstimate {
		e.EstimatedStart = new(metav1.NewTime(time.Unix(value, 0)))
	} else {
		queue := schedulingv1beta1.ExplainedQueue{}
		if e.Queue != nil {
			queue = *e.Queue
		}
		queue.Position = int32(value)
		e.Queue = &queue
	}
	d.entry.Group.Status.Explanation = &e
}

package processnode

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/local/processnode/lifecycle"
	"github.com/vc-batch/vc/internal/podusage"
)

// statusWriter writes the status of a pod. It always writes the latest status, performs one write at a time, and
// retries until the API server accepts the status.
type statusWriter struct {
	node      *Node
	namespace string
	name      string
	uid       types.UID

	mu      sync.Mutex
	wanted  *corev1.PodStatus
	use     *podusage.Use // the use to write with the next status
	useDue  bool          // the use is to be written even if the status is the same
	final   bool          // no further status will follow
	changed chan struct{} // capacity 1

	written corev1.PodStatus // last status that is known to be in the API server
}

func newStatusWriter(n *Node, api *corev1.Pod) *statusWriter {
	return &statusWriter{
		node: n, namespace: api.Namespace, name: api.Name, uid: api.UID, changed: make(chan struct{}, 1), written: withoutForeignConditions(api.Status),
	}
}

// withoutForeignConditions returns the status without the conditions that other components write, because the node must
// not change these.
func withoutForeignConditions(status corev1.PodStatus) corev1.PodStatus {
	own := *status.DeepCopy()
	own.Conditions = lifecycle.OwnConditions(status.Conditions)
	return own
}

func (s *statusWriter) setWantedStatus(status corev1.PodStatus) {
	own := withoutForeignConditions(status)
	s.mu.Lock()
	s.wanted = &own
	s.mu.Unlock()
	s.wakeWriter()
}

// setUse sets the use of the pod's containers, which is written with the next status.
func (s *statusWriter) setUse(use podusage.Use) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.use = &use
}

// publishUse writes the use of the pod's containers soon, unless it is the same as the last one.
func (s *statusWriter) publishUse(use podusage.Use) {
	s.mu.Lock()
	isSame := s.use != nil && *s.use == use
	s.use, s.useDue = &use, s.useDue || !isSame
	s.mu.Unlock()
	if !isSame {
		s.wakeWriter()
	}
}

// finishWriting makes writeStatuses return after the latest status has been written.
func (s *statusWriter) finishWriting() {
	s.mu.Lock()
	s.final = true
	s.mu.Unlock()
	s.wakeWriter()
}

func (s *statusWriter) wakeWriter() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// writeStatuses writes statuses until ctx is done or the pod is deleted. After a call to finishWriting, it returns as
// soon as the latest status has been written.
func (s *statusWriter) writeStatuses(ctx context.Context) {
	wait := 50 * time.Millisecond
	for {
		s.mu.Lock()
		wanted, final, useDue := s.wanted, s.final, s.useDue
		s.mu.Unlock()
		isDue := useDue || !apiequality.Semantic.DeepEqual(wanted, &s.written)
		if wanted != nil && isDue {
			err := s.writeStatus(ctx, *wanted)
			if ctx.Err() != nil || s.isGone(ctx, err) {
				return
			}
			if err != nil {
				s.node.config.Log.V(1).Info("Could not write the status of a pod; trying again", "pod", s.namespace+"/"+s.name, "err", err.Error())
				if !sleepContext(ctx, wait) {
					return
				}
				wait = min(2*wait, 5*time.Second)
				continue
			}
			wait = 50 * time.Millisecond
			continue
		}
		if final {
			return
		}
		select {
		case <-s.changed:
		case <-ctx.Done():
			return
		}
	}
}

// isGone reports whether an error means that the pod was deleted, or re-created with another UID.
func (s *statusWriter) isGone(ctx context.Context, err error) bool {
	if !apierrors.IsConflict(err) {
		return apierrors.IsNotFound(err)
	}
	now, err := s.node.client.CoreV1().Pods(s.namespace).Get(ctx, s.name, metav1.GetOptions{})
	return apierrors.IsNotFound(err) || (err == nil && now.UID != s.uid)
}

func (s *statusWriter) writeStatus(ctx context.Context, status corev1.PodStatus) error {
	s.mu.Lock()
	use := s.use
	s.mu.Unlock()
	patch, err := statusPatch(s.uid, s.written, status, use)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	if _, err := s.node.client.CoreV1().Pods(s.namespace).Patch(ctx, s.name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status"); err != nil {
		return err
	}
	s.written = status
	s.mu.Lock()
	defer s.mu.Unlock()
	s.useDue = s.useDue && s.use != use
	return nil
}

// statusPatch returns the difference between two statuses as a patch that applies only to the pod with the given UID. The
// patch also annotates the pod with its use, unless use is nil.
func statusPatch(uid types.UID, old, fresh corev1.PodStatus, use *podusage.Use) ([]byte, error) {
	before, err := json.Marshal(corev1.Pod{Status: old})
	if err != nil {
		return nil, err
	}
	changed := corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: uid}, Status: fresh}
	if use != nil {
		changed.Annotations = map[string]string{keys.Used: use.Encode()}
	}
	after, err := json.Marshal(changed)
	if err != nil {
		return nil, err
	}
	return strategicpatch.CreateTwoWayMergePatch(before, after, corev1.Pod{})
}

func sleepContext(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

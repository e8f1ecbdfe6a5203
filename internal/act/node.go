package act

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/internal/account"
)

// Cordon sets whether new pods may be scheduled on a node.
func (c *Cluster) Cordon(ctx context.Context, name string, cordoned bool) (said string, err error) {
	node := &corev1.Node{}
	if err := c.Client.Get(ctx, client.ObjectKey{Name: name}, node); err != nil {
		return "", err
	}
	done := "uncordoned"
	if cordoned {
		done = "cordoned"
	}
	if node.Spec.Unschedulable == cordoned {
		return fmt.Sprintf("node %s is %s already", name, done), nil
	}
	if err := c.Client.Patch(ctx, node, CordonPatch(cordoned)); err != nil {
		return "", err
	}
	return fmt.Sprintf("node %s %s", name, done), nil
}

// CordonPatch is what changes whether pods may be placed on a node.
func CordonPatch(cordoned bool) client.Patch {
	return client.RawPatch(mergePatch, fmt.Appendf(nil, `{"spec":{"unschedulable":%t}}`, cordoned))
}

// drainWithin is the time limit of a drain. Pods not evicted by then are reported.
const drainWithin = 30 * time.Second

// Drain cordons a node and evicts its pods. It reports the pods protected by a disruption budget and the pods for which
// there was no time; another drain can evict them. Even with an error, said describes what was done.
func (c *Cluster) Drain(ctx context.Context, name string) (said string, err error) {
	if _, err := c.Cordon(ctx, name, true); err != nil {
		return "", err
	}
	pods, err := c.Typed.CoreV1().Pods("").List(ctx, metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("spec.nodeName", name).String()})
	if err != nil {
		return fmt.Sprintf("node %s cordoned; no pod was asked to leave", name), err
	}
	var going []*corev1.Pod
	for i := range pods.Items {
		if pod := &pods.Items[i]; account.Stays(pod) == "" {
			going = append(going, pod)
		}
	}
	within, stop := context.WithTimeout(ctx, drainWithin)
	defer stop()
	answers := make([]error, len(going))
	slots, running := make(chan struct{}, atOnce), sync.WaitGroup{}
	for i, pod := range going {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			answers[i] = c.evict(within, pod)
		})
	}
	running.Wait()
	return drained(name, going, answers)
}

func (c *Cluster) evict(ctx context.Context, pod *corev1.Pod) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	err := c.Typed.CoreV1().Pods(pod.Namespace).EvictV1(ctx, &policyv1.Eviction{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name}, DeleteOptions: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &pod.UID}},
	})
	if ctx.Err() != nil {
		return ctx.Err() // independent of the error that the request made of it
	}
	return err
}

// drained describes the results of evicting the pods of a node.
func drained(node string, pods []*corev1.Pod, answers []error) (said string, err error) {
	var kept, late []string
	var problems []error
	left := 0
	for i, pod := range pods {
		name := pod.Namespace + "/" + pod.Name
		switch err := answers[i]; {
		case err == nil:
			left++
		case apierrors.IsNotFound(err), apierrors.IsConflict(err): // deleted in the meantime
		case apierrors.IsTooManyRequests(err):
			kept = append(kept, name)
		case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
			late = append(late, name)
		default:
			problems = append(problems, fmt.Errorf("pod %s: %w", name, err))
		}
	}
	text := fmt.Sprintf("node %s cordoned; ", node)
	switch {
	case left == 1:
		text += "1 pod is leaving"
	case left > 1:
		text += fmt.Sprintf("%d pods are leaving", left)
	case len(pods) == 0:
		text += "no pod had to leave"
	default:
		text += "no pod is leaving"
	}
	text += named("kept by disruption budgets", kept) + named("not asked in time", late)
	if len(kept)+len(late) > 0 {
		text += "; drain again later"
	}
	return text, errors.Join(problems...)
}

// named formats names as "; what: a, b, c and 4 more".
func named(what string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	text := "; " + what + ": " + strings.Join(names[:min(3, len(names))], ", ")
	if more := len(names) - 3; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

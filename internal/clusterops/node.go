package clusterops

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/api/textformat"
)

// SetCordoned sets whether new pods may be scheduled on a node.
func (c *Cluster) SetCordoned(ctx context.Context, name string, cordoned bool) (said string, err error) {
	node := &corev1.Node{}
	if err := c.Client.Get(ctx, client.ObjectKey{Name: name}, node); err != nil {
		return "", err
	}
	done := "uncordoned"
	if cordoned {
		done = "cordoned"
	}
	if node.Spec.Unschedulable == cordoned {
		return fmt.Sprintf("node %s is already %s", name, done), nil
	}
	if err := c.Client.Patch(ctx, node, CordonPatch(cordoned)); err != nil {
		return "", err
	}
	return fmt.Sprintf("node %s %s", name, done), nil
}

// CordonPatch returns the patch that cordons or uncordons a node.
func CordonPatch(cordoned bool) client.Patch {
	return client.RawPatch(mergePatch, fmt.Appendf(nil, `{"spec":{"unschedulable":%t}}`, cordoned))
}

// drainWithin is the time limit of a drain. Pods that are not gone by then are reported.
const drainWithin = 2 * time.Minute

// CordonAndDrain cordons a node, evicts its pods and waits until they are gone, as `vcctl node drain` does with all its
// flags. This means that pods without a controller and data in emptyDir volumes are lost. Even with an error, said
// describes what was done.
func (c *Cluster) CordonAndDrain(ctx context.Context, name string) (said string, err error) {
	if _, err := c.SetCordoned(ctx, name, true); err != nil {
		return "", err
	}
	gone := 0
	d := &Drain{
		Typed: c.Typed, IgnoreDaemonSets: true, DeleteEmptyDirData: true, Force: true, GracePeriod: -1, RetryAfter: RetryAfter, Timeout: drainWithin,
		Evicted: func(*corev1.Pod) { gone++ },
	}
	pods, _, err := d.PodsToEvict(ctx, name)
	if err != nil {
		return fmt.Sprintf("node %s cordoned; no pods were evicted", name), err
	}
	within, stop := context.WithTimeout(ctx, drainWithin)
	defer stop()
	err = d.EvictAndWait(within, name, pods)
	done := "drained"
	if err != nil {
		done = "cordoned"
	}
	return fmt.Sprintf("node %s %s; %s", name, done, describeEvicted(gone)), err
}

func describeEvicted(pods int) string {
	if pods == 0 {
		return "no pods were evicted"
	}
	return textformat.CountWithNoun(pods, "pod") + " evicted"
}

package simnode

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

func TestAWriteThatFailsIsRepeated(t *testing.T) {
	withFleet(t, Config{Count: 1}, func(t *testing.T, client *fake.Clientset, _ *Fleet) {
		failures := 5
		client.PrependReactor("patch", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
			failures--
			return failures >= 0, nil, apierrors.NewServiceUnavailable("try later")
		})
		create(t, client, testPod(corev1.RestartPolicyNever, nil))
		want(t, client, "p", "Pending")
		pass(10 * time.Second)
		want(t, client, "p", "Running")
	})
}

func TestAWriteThatWasCarriedOutAndTimedOutIsRepeatedWithTheSameAddress(t *testing.T) {
	withFleet(t, Config{Count: 1}, func(t *testing.T, client *fake.Clientset, _ *Fleet) {
		var addresses []string
		client.PrependReactor("patch", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
			var sent struct{ Status corev1.PodStatus }
			if err := json.Unmarshal(action.(clienttesting.PatchAction).GetPatch(), &sent); err != nil {
				t.Error(err)
			}
			if sent.Status.PodIP != "" {
				addresses = append(addresses, sent.Status.PodIP)
			}
			return len(addresses) <= 3, nil, apierrors.NewTimeoutError("carried out, but the reply came too late", 1)
		})
		create(t, client, testPod(corev1.RestartPolicyNever, nil))
		pass(time.Minute)
		want(t, client, "p", "Running")
		if len(addresses) != 4 || len(slices.Compact(addresses)) != 1 {
			t.Errorf("addresses of the tries: %v, want one address four times", addresses)
		}
	})
}

func TestRecreatedPodWithTheSameNameStartsFromTheBeginning(t *testing.T) {
	withFleet(t, Config{Count: 1}, func(t *testing.T, client *fake.Clientset, _ *Fleet) {
		first := testPod(corev1.RestartPolicyNever, map[string]string{AnnotationRunTime: "10s"})
		create(t, client, first)
		if err := client.CoreV1().Pods("default").Delete(t.Context(), "p", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		second := testPod(corev1.RestartPolicyNever, map[string]string{AnnotationRunTime: "20s"})
		second.UID = "u-2"
		create(t, client, second)
		want(t, client, "p", "Running")
		pass(15 * time.Second)
		want(t, client, "p", "Running")
		pass(6 * time.Second)
		want(t, client, "p", "Succeeded")
	})
}

func TestAWriteWithAConflictIsRepeated(t *testing.T) {
	withFleet(t, Config{Count: 1}, func(t *testing.T, client *fake.Clientset, fleet *Fleet) {
		patches := 0
		client.PrependReactor("patch", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
			patches++
			return patches <= 3, nil, apierrors.NewConflict(corev1.Resource("pods"), "p", nil)
		})
		create(t, client, testPod(corev1.RestartPolicyNever, map[string]string{AnnotationRunTime: "10s"}))
		pass(time.Minute)
		want(t, client, "p", "Succeeded")
		if len(fleet.table.pods) != 0 {
			t.Errorf("%d records kept", len(fleet.table.pods))
		}
	})
}

func TestPodEndedByAnotherClientStaysEnded(t *testing.T) {
	withFleet(t, Config{Count: 1}, func(t *testing.T, client *fake.Clientset, fleet *Fleet) {
		create(t, client, testPod(corev1.RestartPolicyNever, map[string]string{AnnotationRunTime: "10s"}))
		pod, _ := client.CoreV1().Pods("default").Get(t.Context(), "p", metav1.GetOptions{})
		pod.Status.Phase, pod.Status.Reason = corev1.PodFailed, "Evicted"
		if _, err := client.CoreV1().Pods("default").UpdateStatus(t.Context(), pod, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		pass(time.Minute)
		want(t, client, "p", "Failed")
		if len(fleet.table.pods) != 0 {
			t.Errorf("%d records kept", len(fleet.table.pods))
		}
	})
}

func TestAFleetGoesOnWhereAnotherStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset()
		session := func(life time.Duration, during func()) {
			fleet, err := New(Config{Client: client, Count: 2, Logger: logr.Discard()})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error)
			go func() { done <- fleet.Run(ctx) }()
			<-fleet.Ready()
			during()
			pass(life)
			cancel()
			<-done
		}
		session(4*time.Second, func() {
			create(t, client, testPod(corev1.RestartPolicyNever, map[string]string{AnnotationRunTime: "10s"}))
		})
		session(4*time.Second, func() {
			next := testPod(corev1.RestartPolicyNever, nil)
			next.Name, next.UID = "q", "u-2"
			create(t, client, next)
			p, _ := client.CoreV1().Pods("default").Get(t.Context(), "p", metav1.GetOptions{})
			q, _ := client.CoreV1().Pods("default").Get(t.Context(), "q", metav1.GetOptions{})
			if p.Status.PodIP == q.Status.PodIP || q.Status.PodIP == "" {
				t.Errorf("two pods have the address %s", p.Status.PodIP)
			}
		})
		want(t, client, "p", "Running")
		session(4*time.Second, func() {})
		want(t, client, "p", "Succeeded")
	})
}

func TestANamesakeSeenAfterAGapInTheWatchReplacesTheOldRecord(t *testing.T) {
	t.Parallel()
	table := NewPodTable(0, func() time.Time { return birth }, nil)
	table.ServeNode("sim-1", "198.18.0.1")
	old, fresh := testPod(corev1.RestartPolicyNever, nil), testPod(corev1.RestartPolicyNever, nil)
	fresh.UID = "u-2"
	for _, list := range [][]any{{old}, {fresh}} {
		if err := table.Replace(list, "1"); err != nil {
			t.Fatal(err)
		}
	}
	e, _ := table.takeDueEntry()
	if e == nil || e.uid != "u-2" || len(table.due) != 0 {
		t.Errorf("next: %+v, then %d more", e, len(table.due))
	}
}

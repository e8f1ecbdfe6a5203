package nodes

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/test/tuitest"
)

func TestTheQuestionOfADrainNamesWhoGoesAndWhoStays(t *testing.T) {
	t.Parallel()
	pod := func(change func(*corev1.Pod)) *snapshot.Pod {
		p := &corev1.Pod{Spec: corev1.PodSpec{NodeName: "n1"}}
		change(p)
		return snapshot.FromPod(p)
	}
	of := func(kind, group string) func(*corev1.Pod) {
		yes := true
		return func(p *corev1.Pod) {
			p.OwnerReferences = []metav1.OwnerReference{{Kind: kind, APIVersion: group, Name: "x", UID: "x", Controller: &yes}}
		}
	}
	leaving := func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: tuitest.Now} }
	mirror := func(p *corev1.Pod) { p.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "x"} }
	bare := func(p *corev1.Pod) {
		p.Spec.Volumes = []corev1.Volume{{VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
	}
	ended := func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }
	row := &node{Name: "n1", Pods: []*snapshot.Pod{
		pod(of("Job", "batch.volcano.sh/v1alpha1")), pod(of("DaemonSet", "apps/v1")), pod(mirror), pod(of("ReplicaSet", "apps/v1")), pod(bare), pod(leaving), pod(ended),
	}}
	n := New("").(*Nodes)
	ctx := &screenapi.Context{Snap: snapshot.EmptySnapshot(tuitest.Now), Now: tuitest.Now}
	n.all = []*node{row}
	n.table.SetRows(&screenapi.Context{Now: tuitest.Now}, n.all, false)
	got := strings.Join(n.askToDrain(ctx)[0].(screenapi.Ask).Lines, "\n")
	for _, want := range []string{
		"1 pod of 1 job will be evicted", "2 other pods will be evicted, too; no controller will re-create 1 of them", "1 pod with emptyDir volumes will be evicted; the data in these volumes will be lost.", "2 pods of DaemonSets or of the node itself will not be evicted.",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the question lacks %q:\n%s", want, got)
		}
	}
}

// TestSeveralNodesAreDrainedTogether verifies that all nodes are cordoned before the first is drained, that the answer is
// their number, and that nothing is drained if a node cannot be cordoned.
func TestSeveralNodesAreDrainedTogether(t *testing.T) {
	t.Parallel()
	ask := func(recorder *tuitest.Recorder) screenapi.Ask {
		n := New("").(*Nodes)
		n.all = []*node{{Name: "r2n2"}, {Name: "r2n1"}, {Name: "r2n10"}}
		n.table.SetRows(&screenapi.Context{Now: tuitest.Now}, n.all, false)
		n.table.MarkAll()
		return n.askToDrain(&screenapi.Context{Snap: snapshot.EmptySnapshot(tuitest.Now), Now: tuitest.Now, Actions: recorder})[0].(screenapi.Ask)
	}
	recorder := &tuitest.Recorder{}
	question := ask(recorder)
	if question.Question != "Drain 3 nodes: r2n[1-2,10]?" || question.Expect != "3" {
		t.Errorf("question %q expects %q", question.Question, question.Expect)
	}
	said, err := question.Then[0].(screenapi.Run).Do(t.Context())
	if err != nil || said != "3 nodes drained: r2n[1-2,10]" {
		t.Errorf("%q, %v", said, err)
	}
	slices.Sort(recorder.Asked[3:]) // they run at the same time
	want := []string{"cordon node r2n1", "cordon node r2n2", "cordon node r2n10", "drain node r2n1", "drain node r2n10", "drain node r2n2"}
	if diff := cmp.Diff(want, recorder.Asked); diff != "" {
		t.Errorf("actions (-want +got):\n%s", diff)
	}

	failing := &tuitest.Recorder{Err: errors.New("forbidden")}
	if said, err := ask(failing).Then[0].(screenapi.Run).Do(t.Context()); said != "" || err == nil || err.Error() != "forbidden (and 2 more)" || len(failing.Asked) != 3 {
		t.Errorf("%q, %v after %q", said, err, failing.Asked)
	}
}

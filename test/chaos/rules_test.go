package chaos

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

func newPod(name, node, queue string, change ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Labels: map[string]string{keys.QueueName: queue}, Annotations: map[string]string{keys.GroupName: "gang"}},
		Spec: corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("3")}}}}},
	}
	for _, f := range change {
		f(p)
	}
	return p
}

func hasEnded(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }

func isGoing(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} }

func newNumbered(uid, number string, annotations map[string]string) *batchv1alpha1.Job {
	return &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Name: uid, UID: types.UID(uid), Labels: map[string]string{keys.JobID: number}, Annotations: annotations}}
}

func TestRules(t *testing.T) {
	t.Parallel()
	start := time.Unix(1000, 0)
	groupOf := func(minimum int32) *schedulingv1beta1.PodGroup {
		return &schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Name: "gang"}, Spec: schedulingv1beta1.PodGroupSpec{MinMember: minimum}}
	}
	for _, c := range []struct {
		name string
		play func(r *Rules)
		want string // in the only violation; empty: no violation
	}{
		{"a node is filled", func(r *Rules) {
			r.PodSeen(newPod("a", "one", "default"), false, start)
			r.PodSeen(newPod("b", "two", "default"), false, start)
		}, ""},
		{"a node gives more than it has", func(r *Rules) {
			r.PodSeen(newPod("a", "one", "default"), false, start)
			r.PodSeen(newPod("b", "one", "default"), false, start)
		}, "node one has 4000 milli-cpu and gave 6000"},
		{"a pod that has ended needs nothing", func(r *Rules) {
			r.PodSeen(newPod("a", "one", "default", hasEnded), false, start)
			r.PodSeen(newPod("b", "one", "default"), false, start)
		}, ""},
		{"a pod that is being deleted still counts", func(r *Rules) {
			r.PodSeen(newPod("a", "one", "default", isGoing), false, start)
			r.PodSeen(newPod("b", "one", "default"), false, start)
		}, "node one"},
		{"a deleted pod is gone", func(r *Rules) {
			r.PodSeen(newPod("a", "one", "default"), false, start)
			r.PodSeen(newPod("a", "one", "default"), true, start)
			r.PodSeen(newPod("b", "one", "default"), false, start)
		}, ""},
		{"a queue uses more than its capability", func(r *Rules) {
			for _, n := range []string{"one", "two", "three"} {
				r.PodSeen(newPod(n, n, "alone"), false, start)
			}
		}, "queue alone may use 6000 milli-cpu and its pods use 9000"},
		{"an ancestor uses more than its capability", func(r *Rules) {
			for i, n := range []string{"one", "two", "three", "four", "five"} {
				r.PodSeen(newPod(n, n, []string{"team-a", "team-b"}[i%2]), false, start)
			}
		}, "queue team"},
		{"a pod changes its node", func(r *Rules) {
			r.PodSeen(newPod("a", "one", "default"), false, start)
			r.PodSeen(newPod("a", "two", "default"), false, start)
		}, "moved from one to two"},
		{"a gang stays bound in part", func(r *Rules) {
			r.GroupSeen(groupOf(2), false)
			r.PodSeen(newPod("a", "one", "default"), false, start)
			r.Tick(start.Add(time.Minute))
		}, "1 of the 2 pods that gang gang needs"},
		{"a gang is bound in part for a moment", func(r *Rules) {
			r.GroupSeen(groupOf(2), false)
			r.PodSeen(newPod("a", "one", "default"), false, start)
			r.PodSeen(newPod("b", "two", "default"), false, start.Add(time.Second))
			r.PodSeen(newPod("b", "two", "default"), true, start.Add(2*time.Second))
			r.Tick(start.Add(time.Minute))
		}, ""},
		{"a number is given twice", func(r *Rules) {
			r.JobSeen(newNumbered("a", "7", nil))
			r.JobSeen(newNumbered("b", "7", nil))
		}, "number 7 of job b was given before"},
		{"a number of an array is given twice", func(r *Rules) {
			r.JobSeen(newNumbered("a", "7", map[string]string{keys.Array: "0-3"}))
			r.JobSeen(newNumbered("b", "10", nil))
		}, "number 10"},
		{"a number changes", func(r *Rules) {
			r.JobSeen(newNumbered("a", "7", nil))
			r.JobSeen(newNumbered("a", "8", nil))
		}, "was number 7 and is 8"},
		{"the leader writes", func(r *Rules) {
			r.Renewed(scheduler, "s-0", start, true)
			r.Wrote(scheduler, "s-0", "POST x", start.Add(time.Second), false)
		}, ""},
		{"a replica writes that does not lead", func(r *Rules) {
			r.Renewed(scheduler, "s-0", start, true)
			r.Wrote(scheduler, "s-1", "POST x", start.Add(time.Second), false)
		}, `s-1 wrote (POST x) while "s-0" held the lease`},
		{"a replica writes after it gave its lease back", func(r *Rules) {
			r.Renewed(scheduler, "s-0", start, true)
			r.Renewed(scheduler, "s-0", start, false)
			r.Wrote(scheduler, "s-0", "POST x", start, false)
		}, `while "" held the lease`},
		{"a replica writes after its lease has run out", func(r *Rules) {
			r.Renewed(scheduler, "s-0", start, true)
			r.Wrote(scheduler, "s-0", "POST x", start.Add(5*time.Second), false)
		}, "5s after it had renewed its lease of 4s"},
		{"what was kept back on the way is not judged", func(r *Rules) {
			r.Renewed(scheduler, "s-0", start, true)
			r.Wrote(scheduler, "s-1", "POST x", start, true)
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := NewRules(map[string]int64{"one": 4000, "two": 4000, "three": 4000, "four": 4000, "five": 4000}, 40*time.Second, 4*time.Second)
			c.play(r)
			found := strings.Join(r.Violations(), "\n")
			if (found == "") != (c.want == "") || !strings.Contains(found, c.want) {
				t.Errorf("found %q, want %q", found, c.want)
			}
		})
	}
}

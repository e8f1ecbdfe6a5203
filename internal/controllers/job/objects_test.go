package job

import (
	"math"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/test/apiserver"
)

func TestAGroupOfTheNameThatOlderVersionsGaveIsUsed(t *testing.T) {
	t.Parallel()
	w := newWorld(simpleJob(2))
	w.server.Save(&schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "job"}, Status: schedulingv1beta1.PodGroupStatus{Phase: schedulingv1beta1.PodGroupInqueue}})
	s := w.mustSettle(t).Status
	if s.State.Phase != batchv1alpha1.Running || w.pod("job-w-0").Annotations[keys.GroupName] != "job" {
		t.Errorf("%s, the pods are of group %q", s.State.Phase, w.pod("job-w-0").Annotations[keys.GroupName])
	}
	if groups := w.objects("PodGroup"); len(groups) != 1 || groups[0].GetName() != "job" {
		t.Errorf("groups %v, want the one that existed", groups)
	}
}

func TestForeignPodGroupWithTheJobsNameIsNotChanged(t *testing.T) {
	t.Parallel()
	w := newWorld(simpleJob(1))
	yes := true
	w.server.Save(&schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "job",
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "x", UID: "x", Controller: &yes}}}})
	w.mustSettle(t)
	w.finish("job-w-0", 0)
	w.mustSettle(t)
	if apiserver.Find[*schedulingv1beta1.PodGroup](w.server, "ns", "job") == nil || w.group() == "" {
		t.Error("it was taken for the job's, and deleted with it")
	}
}

// TestCommandsThatAreNotForTheJob verifies that commands for other jobs are not deleted.
func TestCommandsThatAreNotForTheJob(t *testing.T) {
	t.Parallel()
	const older = "an older job of its name"
	for name, alter := range map[string]func(*busv1alpha1.Command){
		"another job":         func(c *busv1alpha1.Command) { c.TargetObject.Name = "other" },
		older:                 func(c *busv1alpha1.Command) { c.TargetObject.UID = "gone" },
		"another kind":        func(c *busv1alpha1.Command) { c.TargetObject.Kind = "Queue" },
		"a Job of Kubernetes": func(c *busv1alpha1.Command) { c.TargetObject.APIVersion = "batch/v1" },
		"another namespace":   func(c *busv1alpha1.Command) { c.Namespace = "elsewhere" },
		"nobody":              func(c *busv1alpha1.Command) { c.TargetObject = nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := begun(t, simpleJob(1))
			c := &busv1alpha1.Command{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c"}, Action: string(busv1alpha1.AbortJobAction),
				TargetObject: &metav1.OwnerReference{APIVersion: batchv1alpha1.GroupVersion.String(), Kind: "Job", Name: "job"}}
			alter(c)
			w.server.Save(c)
			if phase := w.mustSettle(t).Status.State.Phase; phase != batchv1alpha1.Running {
				t.Errorf("the job is %s", phase)
			}
			deleted := slices.ContainsFunc(w.server.History, func(c apiserver.Change) bool { return c.Kind.Kind == "Command" && c.Object == nil })
			if deleted != (name == older) {
				t.Errorf("the command was deleted: %v", deleted)
			}
		})
	}
}

func TestACommandForAJobThatIsGoneIsNotKeptForTheNext(t *testing.T) {
	t.Parallel()
	w := begun(t, simpleJob(1))
	w.server.Remove(w.truth())
	w.command(1, busv1alpha1.AbortJobAction)
	w.turn(t, watched...)
	if len(w.objects("Command")) > 0 {
		t.Error("the command is kept")
	}
	w.server.Save(simpleJob(1))
	if phase := w.mustSettle(t).Status.State.Phase; phase != batchv1alpha1.Running {
		t.Errorf("the next job of the name is %s", phase)
	}
}

func TestACommandForAJobThatIsNewIsKeptForIt(t *testing.T) {
	t.Parallel()
	w := newWorld(simpleJob(1))
	w.command(1, busv1alpha1.AbortJobAction)
	w.turn(t, "Command") // the cache does not contain the job yet
	if phase := w.mustSettle(t).Status.State.Phase; phase != batchv1alpha1.Aborted {
		t.Errorf("the job is %s", phase)
	}
}

func TestAJobOfAQueueThatExtendsToOtherClustersIsMarkedAndSoAreItsPods(t *testing.T) {
	t.Parallel()
	w := newWorld(simpleJob(1))
	w.server.Save(&schedulingv1beta1.Queue{ObjectMeta: metav1.ObjectMeta{Name: "default"}, Spec: schedulingv1beta1.QueueSpec{ExtendClusters: []schedulingv1beta1.Cluster{{Name: "far"}}}})
	job := w.mustSettle(t)
	if pod := w.pod("job-w-0"); job.Annotations[keys.JobForwarding] != "true" || pod.Labels[keys.JobForwarding] != "true" || pod.Annotations[keys.JobForwarding] != "true" {
		t.Errorf("job %v, pod %v %v", job.Annotations, pod.Labels, pod.Annotations)
	}
}

func TestJobsThatEndAreCountedOnce(t *testing.T) {
	t.Parallel()
	for code, name := range []string{"volcano_job_completed_phase_count", "volcano_job_failed_phase_count"} {
		job := simpleJob(1)
		job.Name = "counted"
		w := newWorld(job)
		w.mustSettle(t)
		w.finish("counted-w-0", int32(code))
		w.mustSettle(t)
		w.mustSettle(t)
		if got := series(t, name)["ns/counted default"]; got != 1 {
			t.Errorf("%s: counted %v times", name, got)
		}
	}
}

// series returns the values of a counter of jobs, by their labels.
func series(t *testing.T, name string) map[string]float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, family := range families {
		if family.GetName() != name {
			continue
		}
		for _, m := range family.GetMetric() {
			labels := m.GetLabel() // sorted by name: job_name, queue_name
			values[labels[0].GetValue()+" "+labels[1].GetValue()] = m.GetCounter().GetValue()
		}
	}
	return values
}

func TestTheTimeToEveryPodIsMeasured(t *testing.T) {
	t.Parallel()
	newWorld(simpleJob(1)).mustSettle(t)
	const buckets, shortest, longest = 30, 50, 60_000 // the values that Volcano's dashboards expect
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() != "volcano_controller_job_to_pod_creation_latency_milliseconds" || family.GetMetric()[0].GetHistogram().GetSampleCount() == 0 {
			continue
		}
		all := family.GetMetric()[0].GetHistogram().GetBucket()
		if first, last := all[0].GetUpperBound(), all[len(all)-1].GetUpperBound(); len(all) != buckets || first != shortest || math.Round(last) != longest {
			t.Errorf("%d buckets from %v to %v", len(all), first, last)
		}
		for i := 2; i < len(all); i++ {
			if r := all[i].GetUpperBound() / all[i-1].GetUpperBound(); math.Abs(r-all[1].GetUpperBound()/all[0].GetUpperBound()) > 1e-9 {
				t.Errorf("bucket %d is %v times as large as the one before", i, r)
			}
		}
		return
	}
	t.Error("there is no such metric")
}

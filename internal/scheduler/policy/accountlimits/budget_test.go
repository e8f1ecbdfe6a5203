package accountlimits

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/test/make"
)

// running returns a pod of gang g that has been running since a time, with a time limit of an hour.
func running(name string, cpu string, since time.Time) *corev1.Pod {
	pod := make.Pod(name).Gang("g").CPU(cpu).On("n").Phase(corev1.PodRunning).Obj()
	pod.Status.StartTime = &metav1.Time{Time: since}
	pod.Spec.ActiveDeadlineSeconds = new(int64(3600))
	return pod
}

// clusterWithBudget returns a cluster in which account a has a budget of CPU-minutes, and the gang g.
func clusterWithBudget(period accountv1alpha1.BudgetPeriod, stored []model.BudgetUsageEntry) *model.Cluster {
	c := model.New()
	g := make.Gang("g").Min(1).Label(keys.Account, "a").Phase(schedulingv1beta1.PodGroupRunning).Obj()
	c.Apply(model.BudgetUsageSet{Entries: stored}, model.NodeFrom(make.Node("n").CPU("99").Obj()), model.GangFrom(g),
		model.AccountFrom(make.Account("a").Budget("cpu", "6000").BudgetPeriod(period).Obj()))
	return c
}

// usageOf returns the usage that a new tally computes, and stores it in the model.
func usageOf(t *testing.T, c *model.Cluster, now time.Time) *model.BudgetUsage {
	t.Helper()
	var fresh tally
	fresh.update(c, now)
	changed, _ := fresh.changedBudgets(now)
	c.AssumeBudgetUsage(changed)
	return c.BudgetUsage["a"]
}

// TestPodsThatEndedWithoutASchedulerAreChargedOnce starts a scheduler again after three pods: one still runs, one has
// ended, and one was deleted. The last two are charged until now, but at most for their time limits.
func TestPodsThatEndedWithoutASchedulerAreChargedOnce(t *testing.T) {
	t.Parallel()
	start := make.Epoch
	for name, test := range map[string]struct {
		period   accountv1alpha1.BudgetPeriod
		back     time.Duration // from the start of the pods until the scheduler is back
		ended    int64         // in seconds of a milli-CPU
		since    time.Time
		reserved int64
	}{
		"soon":                          {"", 20 * time.Minute, (2000 + 4000) * 1200, start, 1000 * 3600},
		"after the time limits":         {"", 3 * time.Hour, (2000 + 4000) * 3600, start, 1000 * 3600},
		"after the beginning of a year": {accountv1alpha1.BudgetPeriodYear, 365*24*time.Hour + time.Minute, 0, start.AddDate(1, 0, 0), 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := clusterWithBudget(test.period, nil)
			usageOf(t, before, start)
			for i, cpu := range []string{"1", "2", "4"} {
				before.Apply(model.TaskFrom(running("g-"+string(rune('0'+i)), cpu, start), true))
			}
			stored := *usageOf(t, before, start.Add(10*time.Minute))
			if got := stored.UsedAt("cpu", start.Add(10*time.Minute)); got != 7000*600 {
				t.Fatalf("running pods have used %d, want %d", got, 7000*600)
			}

			after := clusterWithBudget(test.period, []model.BudgetUsageEntry{{Account: "a", Usage: &stored}})
			ended := running("g-1", "2", start)
			ended.Status.Phase = corev1.PodSucceeded
			after.Apply(model.TaskFrom(running("g-0", "1", start), true), model.TaskFrom(ended, true))
			now := start.Add(test.back)
			for range 2 { // the second engine charges nothing again
				usage := usageOf(t, after, now)
				if usage.Ended["cpu"] != test.ended || !usage.Since.Equal(test.since) || usage.Reserved["cpu"] != test.reserved {
					t.Errorf("ended pods are charged %d since %v, and %d is reserved; want %d, %v and %d",
						usage.Ended["cpu"], usage.Since, usage.Reserved["cpu"], test.ended, test.since, test.reserved)
				}
			}
		})
	}
}

// TestARunIsNotFreeIfItsTimeLimitIsShortened shortens the time limit of a pod that has run longer, so that the kubelet ends it.
func TestARunIsNotFreeIfItsTimeLimitIsShortened(t *testing.T) {
	t.Parallel()
	c := clusterWithBudget("", nil)
	pod := running("g-0", "1", make.Epoch)
	c.Apply(model.TaskFrom(pod, true))
	usageOf(t, c, make.Epoch)
	now := make.Epoch.Add(50 * time.Minute)
	pod.Spec.ActiveDeadlineSeconds = new(int64(60))
	c.Apply(model.TaskFrom(pod, true))
	if got := usageOf(t, c, now).Reserved["cpu"]; got != 1000*3600 {
		t.Errorf("%d is reserved while the pod still runs, want %d", got, 1000*3600)
	}
	pod.Status.Phase = corev1.PodFailed
	c.Apply(model.TaskFrom(pod, true))
	if got := usageOf(t, c, now).Ended["cpu"]; got != 1000*3000 {
		t.Errorf("the pod is charged %d, want %d", got, 1000*3000)
	}
}

// TestABudgetThatIsChangedStartsAtTheLastChangeOfItsUsage moves the start of a budget to a time before a pod has ended. How
// much the pod has used since then is not known, so its usage counts neither in whole nor in part.
func TestABudgetThatIsChangedStartsAtTheLastChangeOfItsUsage(t *testing.T) {
	t.Parallel()
	c := clusterWithBudget("", nil)
	usageOf(t, c, make.Epoch)
	first, second := running("g-0", "1", make.Epoch), running("g-1", "2", make.Epoch)
	c.Apply(model.TaskFrom(first, true), model.TaskFrom(second, true))
	usageOf(t, c, make.Epoch.Add(time.Minute))
	first.Status.Phase = corev1.PodSucceeded
	c.Apply(model.TaskFrom(first, true))
	end := make.Epoch.Add(10 * time.Minute)
	if got := usageOf(t, c, end).Ended["cpu"]; got != 1000*600 {
		t.Fatalf("the pod that has ended is charged %d, want %d", got, 1000*600)
	}
	budget := make.Account("a").Budget("cpu", "6000").BudgetSince(make.Epoch.Add(5 * time.Minute))
	c.Apply(model.AccountFrom(budget.Obj()))
	now := make.Epoch.Add(11 * time.Minute)
	usage := usageOf(t, c, now)
	if used := usage.UsedAt("cpu", now); !usage.Since.Equal(end) || used != 2000*60 {
		t.Errorf("used %d since %v, want %d since %v", used, usage.Since, 2000*60, end)
	}
}

// TestTheUsageOfABudgetThatWasRemovedIsDeleted checks that the usage of an account without a budget is not kept, but that
// it is kept while no account is known.
func TestTheUsageOfABudgetThatWasRemovedIsDeleted(t *testing.T) {
	t.Parallel()
	c := clusterWithBudget("", nil)
	usageOf(t, c, make.Epoch)
	c.Apply(model.AccountGone{Name: "a"})
	if usageOf(t, c, make.Epoch) == nil {
		t.Error("the usage is deleted although no account is known")
	}
	c.Apply(model.AccountFrom(make.Account("a").Obj()))
	if got := usageOf(t, c, make.Epoch); got != nil {
		t.Errorf("the usage is %+v", got)
	}
}

// TestTheUsageIsWrittenOnlyIfPodsChange checks that a cycle without changes decides nothing.
func TestTheUsageIsWrittenOnlyIfPodsChange(t *testing.T) {
	t.Parallel()
	c := clusterWithBudget("", nil)
	c.Apply(model.TaskFrom(running("g-0", "1", make.Epoch), true))
	var kept tally
	var written []int
	for i := range 4 {
		now := make.Epoch.Add(time.Duration(i) * time.Minute)
		if i == 2 {
			c.Apply(model.TaskGone{Namespace: "default", Name: "g-0"})
		}
		kept.update(c, now)
		changed, _ := kept.changedBudgets(now)
		c.AssumeBudgetUsage(changed)
		written = append(written, len(changed))
	}
	if diff := cmp.Diff([]int{1, 0, 1, 0}, written); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestAGangIsTriedAgainIfOnlyTheBudgetHasMoreRoom replaces a pod by a pod with the same request and a shorter time limit.
// The numbers of jobs and resources stay the same.
func TestAGangIsTriedAgainIfOnlyTheBudgetHasMoreRoom(t *testing.T) {
	t.Parallel()
	c := clusterWithBudget("", nil)
	long := running("g-0", "1", make.Epoch)
	c.Apply(model.TaskFrom(long, true))
	var kept tally
	kept.update(c, make.Epoch)
	changed, _ := kept.changedBudgets(make.Epoch)
	c.AssumeBudgetUsage(changed)
	kept.update(c, make.Epoch)
	kept.scopes[model.Party{Account: "a"}].recordRefusal(c.Resources, &part{})

	long.Status.Phase = corev1.PodSucceeded
	short := running("h-0", "1", make.Epoch)
	short.Annotations[keys.GroupName] = "h"
	short.Spec.ActiveDeadlineSeconds = new(int64(60))
	h := make.Gang("h").Min(1).Label(keys.Account, "a").Phase(schedulingv1beta1.PodGroupRunning).Obj()
	h.UID = "h"
	c.Apply(model.GangFrom(h), model.TaskFrom(short, true), model.TaskFrom(long, true))
	kept.update(c, make.Epoch.Add(time.Minute))
	if !kept.isRelaxed(c.Gangs["default/h"]) {
		t.Error("the gangs of the account are not tried again")
	}
}

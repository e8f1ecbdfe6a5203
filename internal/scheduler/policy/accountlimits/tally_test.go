package accountlimits

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/test/make"
	"github.com/vc-batch/vc/test/propertytest"
)

// countsOf returns the counts of the scopes that count anything.
func countsOf(t *tally) map[string]string {
	out := map[string]string{}
	for _, s := range slices.AppendSeq(slices.Collect(maps.Values(t.scopes)), maps.Values(t.qosScopes)) {
		var claimed, held resource.Vec
		s.claimed.WriteSumsTo(&claimed)
		s.held.WriteSumsTo(&held)
		if s.jobs != 0 || !claimed.IsAllZero() || !held.IsAllZero() {
			out[strings.Join([]string{s.qos, s.account, s.user}, "/")] = fmt.Sprintf("%d jobs, claimed %v, held %v", s.jobs, claimed.Request(), held.Request())
		}
	}
	return out
}

// TestATallyThatIsKeptCountsLikeANewOne creates, places, ends and deletes gangs and their pods, in any phase. A tally that
// follows the changes, also those within a cycle, counts the same as one that reads everything.
func TestATallyThatIsKeptCountsLikeANewOne(t *testing.T) {
	propertytest.Check(t, 10000, func(t *rapid.T) {
		c := model.New()
		c.Apply(model.NodeFrom(make.Node("n").CPU("99").Obj()), model.AccountFrom(make.Account("root").MaxRunningJobs(9).Obj()),
			model.AccountFrom(make.Account("leaf").Parent("root").MaxResource("cpu", "9").UserMaxRunningJobs("", 3).Obj()),
			model.QOSFrom(make.QOS("short").MaxRunningJobs(make.AllJobs, 3).MaxResource(make.JobsOfUser, "cpu", "2").MaxRunningJobs(make.JobsOfAccount, 2).Obj()))
		var kept tally
		phases := []schedulingv1beta1.PodGroupPhase{"", schedulingv1beta1.PodGroupPending, schedulingv1beta1.PodGroupInqueue, schedulingv1beta1.PodGroupRunning, schedulingv1beta1.PodGroupCompleted, schedulingv1beta1.PodGroupUnknown}
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			name := fmt.Sprintf("g%d", rapid.IntRange(0, 3).Draw(t, "gang"))
			account, user := rapid.SampledFrom([]string{"", "root", "leaf", "nowhere"}).Draw(t, "account"), rapid.SampledFrom([]string{"", "ann", "bob"}).Draw(t, "user")
			qos := rapid.SampledFrom([]string{"", "short", "unknown"}).Draw(t, "QOS")
			switch rapid.IntRange(0, 6).Draw(t, "what") {
			case 0, 1:
				g := make.Gang(name).Min(rapid.IntRange(0, 2).Draw(t, "min")).Label(keys.Account, account).Label(keys.QOS, qos).Annotation(keys.User, user).
					MinResource("cpu", fmt.Sprint(rapid.IntRange(0, 3).Draw(t, "minimum"))).Phase(rapid.SampledFrom(phases).Draw(t, "phase")).Obj()
				g.UID = types.UID(name)
				c.Apply(model.GangFrom(g))
			case 2, 3:
				pod := fmt.Sprintf("%s-%d", name, rapid.IntRange(0, 2).Draw(t, "pod"))
				phase := rapid.SampledFrom([]corev1.PodPhase{corev1.PodPending, corev1.PodRunning, corev1.PodSucceeded, corev1.PodFailed}).Draw(t, "phase of pod")
				b := make.Pod(pod).Gang(name).CPU("1").Label(keys.JobName, name).Label(keys.Account, account).Label(keys.QOS, qos).Annotation(keys.User, user).Phase(phase)
				if phase != corev1.PodPending {
					b.On("n")
				}
				c.Apply(model.TaskFrom(b.Obj(), true))
			case 4:
				c.Apply(model.TaskGone{Namespace: "default", Name: fmt.Sprintf("%s-%d", name, rapid.IntRange(0, 2).Draw(t, "lost pod"))})
			case 5:
				c.Apply(model.GangGone{Namespace: "default", Name: name})
			case 6:
				c.Apply(model.AccountFrom(make.Account("leaf").Parent(rapid.SampledFrom([]string{"", "root"}).Draw(t, "parent")).MaxRunningJobs(1).Obj()))
			}
			if rapid.Bool().Draw(t, "unseen") {
				continue
			}
			var fresh tally
			kept.update(c, make.Epoch)
			fresh.update(c, make.Epoch)
			if diff := cmp.Diff(countsOf(&fresh), countsOf(&kept)); diff != "" {
				t.Fatalf("counts (-new +kept):\n%s", diff)
			}
			for _, g := range c.Gangs { // what is decided in a cycle lasts only until the next update
				if len(g.Tasks) > 0 && rapid.Bool().Draw(t, "placed") {
					kept.countPlaced(g, g.Tasks[0], 1)
				}
			}
		}
	})
}

// TestACycleWithoutChangesReadsNoGang checks that an update without changes costs the same with any number of gangs.
func TestACycleWithoutChangesReadsNoGang(t *testing.T) {
	cost := func(gangs int) float64 {
		c := model.New()
		c.Apply(model.AccountFrom(make.Account("a").MaxRunningJobs(9).Obj()))
		for i := range gangs {
			c.Apply(model.GangFrom(make.Gang(fmt.Sprintf("g%d", i)).Label(keys.Account, "a").Phase(schedulingv1beta1.PodGroupInqueue).Obj()))
		}
		var kept tally
		kept.update(c, make.Epoch)
		return testing.AllocsPerRun(20, func() { kept.update(c, make.Epoch) })
	}
	if few, many := cost(10), cost(10_000); many > few {
		t.Errorf("a cycle allocates %v times with 10 gangs, %v times with 10,000", few, many)
	}
}

// TestManyChangesAreCountedOneByOne checks that one change among many gangs does not lead to a new count of all of them.
func TestManyChangesAreCountedOneByOne(t *testing.T) {
	const gangs, most = 20_000, 100 * time.Millisecond
	c := model.New()
	c.Apply(model.AccountFrom(make.Account("a").MaxRunningJobs(9).Obj()))
	var kept tally
	for i := range gangs {
		c.Apply(model.GangFrom(make.Gang(fmt.Sprintf("g%d", i)).Label(keys.Account, "a").Obj()))
	}
	kept.update(c, make.Epoch)
	began := time.Now()
	for i := range 100 {
		c.Apply(model.GangFrom(make.Gang(fmt.Sprintf("g%d", i)).Label(keys.Account, "a").Phase(schedulingv1beta1.PodGroupRunning).Obj()))
		kept.update(c, make.Epoch)
	}
	if took := time.Since(began); took > most {
		t.Errorf("100 changes take %v, want %v at most", took, most)
	}
	if jobs := kept.scopes[model.Party{Account: "a"}].jobs; jobs != 100 {
		t.Errorf("%d jobs count, want 100", jobs)
	}
}

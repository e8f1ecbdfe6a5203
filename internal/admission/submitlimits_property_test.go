package admission

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	"github.com/vc-batch/vc/api/check"
	"github.com/vc-batch/vc/test/propertytest"
)

var testUsers = []string{"ada", "ben", "eve"}

// drawAccounts returns a random tree. Each limit is set at random: in a user's entry, for the users of an account and
// the accounts below it, and for the account itself.
func drawAccounts(t *rapid.T) []*accountv1alpha1.Account {
	var accounts []*accountv1alpha1.Account
	for i := range rapid.IntRange(1, 6).Draw(t, "accounts") {
		parent := ""
		if p := rapid.IntRange(-1, i-1).Draw(t, "parent"); p >= 0 {
			parent = accounts[p].Name
		}
		account := accountOf(fmt.Sprintf("a%d", i), parent, testUsers...)
		if rapid.Bool().Draw(t, "hasLimit") {
			account.Spec.Limits = &accountv1alpha1.AccountLimits{MaxSubmittedJobs: new(rapid.Int32Range(0, 6).Draw(t, "limit"))}
		}
		if rapid.Bool().Draw(t, "hasUserLimits") {
			account.Spec.UserLimits = drawUserLimits(t)
		}
		for n := range account.Spec.Users {
			account.Spec.Users[n].Default = account.Spec.Users[n].Default && i == 0
			if rapid.Bool().Draw(t, "hasOwnLimits") {
				account.Spec.Users[n].Limits = drawUserLimits(t)
			}
		}
		accounts = append(accounts, account)
	}
	return accounts
}

func drawUserLimits(t *rapid.T) *accountv1alpha1.UserLimits {
	limits := &accountv1alpha1.UserLimits{}
	if rapid.Bool().Draw(t, "limitsJobs") {
		limits.MaxSubmittedJobs = new(rapid.Int32Range(0, 4).Draw(t, "jobs"))
	}
	if rapid.Bool().Draw(t, "limitsResources") {
		limits.MaxResourcesPerJob = corev1.ResourceList{"cpu": *resource.NewQuantity(rapid.Int64Range(0, 8).Draw(t, "cpu"), resource.DecimalSI)}
	}
	if rapid.Bool().Draw(t, "limitsTime") {
		limits.MaxRunTime = &metav1.Duration{Duration: time.Duration(rapid.IntRange(1, 5).Draw(t, "minutes")) * time.Minute}
	}
	return limits
}

// modelOfLimits finds the limits of a submitter by other means than the tree does.
type modelOfLimits map[string]*accountv1alpha1.Account

// path returns the names of an account and of its ancestors.
func (m modelOfLimits) path(account string) []string {
	names := []string{account}
	if parent := m[account].Spec.Parent; parent != "" {
		names = append(names, m.path(parent)...)
	}
	return names
}

// firstUserLimit returns the nearest limit that is set for a submitter.
func firstUserLimit[T any](m modelOfLimits, by submitter, read func(*accountv1alpha1.UserLimits) (T, bool)) (limit T, ok bool) {
	var found []*accountv1alpha1.UserLimits
	for _, user := range m[by.account].Spec.Users {
		if user.Name == by.user {
			found = append(found, user.Limits)
		}
	}
	for _, name := range m.path(by.account) {
		found = append(found, m[name].Spec.UserLimits)
	}
	for _, limits := range found {
		if limits == nil {
			continue
		}
		if limit, ok = read(limits); ok {
			return limit, true
		}
	}
	return limit, false
}

// fits reports whether one more job of a submitter stays within all limits while the given jobs have not ended.
func (m modelOfLimits) fits(jobs map[types.UID]submitter, by submitter) bool {
	own, inAccount := 0, map[string]int{}
	for _, other := range jobs {
		if other == by {
			own++
		}
		for _, name := range m.path(other.account) {
			inAccount[name]++
		}
	}
	most, isLimited := firstUserLimit(m, by, func(l *accountv1alpha1.UserLimits) (int32, bool) {
		if l.MaxSubmittedJobs == nil {
			return 0, false
		}
		return *l.MaxSubmittedJobs, true
	})
	if isLimited && own >= int(most) {
		return false
	}
	return !slices.ContainsFunc(m.path(by.account), func(name string) bool {
		limits := m[name].Spec.Limits
		return limits != nil && inAccount[name] >= int(*limits.MaxSubmittedJobs)
	})
}

// TestSubmitLimitsAreKeptAndNothingElseIsRejected submits, watches, and ends jobs at random. Admission accepts a job
// exactly if one more job fits within all limits. A rejected job does not count.
func TestSubmitLimitsAreKeptAndNothingElseIsRejected(t *testing.T) {
	t.Parallel()
	var rejections, acceptances atomic.Int64
	propertytest.Check(t, 10_000, func(t *rapid.T) {
		accounts := drawAccounts(t)
		tree, model := accountv1alpha1.NewTree(accounts), modelOfLimits{}
		for _, account := range accounts {
			model[account.Name] = account
		}
		now := time.Unix(0, 0)
		s := NewSubmittedJobs(func() time.Time { return now })
		jobs := map[types.UID]submitter{}       // that count
		acceptedAt := map[types.UID]time.Time{} // of jobs that the watch has not reported
		next := 0
		drawJob := func(t *rapid.T, of func(types.UID) bool) (types.UID, bool) {
			var known []types.UID
			for uid := range jobs {
				if of(uid) {
					known = append(known, uid)
				}
			}
			slices.Sort(known)
			if len(known) == 0 {
				return "", false
			}
			return rapid.SampledFrom(known).Draw(t, "job"), true
		}
		isAccepted := func(uid types.UID) bool { _, ok := acceptedAt[uid]; return ok }
		t.Repeat(map[string]func(*rapid.T){
			"submit": func(t *rapid.T) {
				by := submitter{account: rapid.SampledFrom(accounts).Draw(t, "account").Name, user: rapid.SampledFrom(testUsers).Draw(t, "user")}
				uid := types.UID(fmt.Sprint(next))
				next++
				isTrial := rapid.Bool().Draw(t, "trial")
				if !isTrial && rapid.Bool().Draw(t, "again") { // the API server repeats a review
					if known, ok := drawJob(t, isAccepted); ok {
						uid, by = known, jobs[known]
						delete(jobs, uid)
						delete(acceptedAt, uid)
					}
				}
				want := model.fits(jobs, by)
				if isTrial {
					uid = ""
				}
				rejected, err := s.acceptJob(tree, by, uid)
				if err != nil || (rejected.reason == "") != want {
					t.Fatalf("job of %v: %q, %v; it fits: %t; jobs %v", by, rejected.reason, err, want, jobs)
				}
				if !want {
					rejections.Add(1)
					return
				}
				acceptances.Add(1)
				hasLimit := len(submitLimits(tree, by)) > 0
				if !isTrial && hasLimit { // without a limit, the job counts from the watch's report on
					jobs[uid], acceptedAt[uid] = by, now
				}
			},
			"watch": func(t *rapid.T) {
				uid, ok := drawJob(t, isAccepted)
				if !ok || rapid.Bool().Draw(t, "unlimited") {
					by := submitter{account: rapid.SampledFrom(accounts).Draw(t, "account").Name, user: rapid.SampledFrom(testUsers).Draw(t, "user")}
					uid = types.UID(fmt.Sprint(next)) // accepted by another replica
					next++
					jobs[uid] = by
				}
				delete(acceptedAt, uid)
				s.OnAdd(watchedJob(string(uid), jobs[uid].user, jobs[uid].account), false)
			},
			"end": func(t *rapid.T) {
				uid, ok := drawJob(t, func(uid types.UID) bool { return !isAccepted(uid) })
				if !ok {
					return
				}
				s.OnDelete(watchedJob(string(uid), jobs[uid].user, jobs[uid].account))
				delete(jobs, uid)
			},
			"wait": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.IntRange(1, 6).Draw(t, "seconds")) * time.Second)
				for uid, at := range acceptedAt {
					if now.Sub(at) >= acceptedJobLifetime {
						delete(jobs, uid)
						delete(acceptedAt, uid)
					}
				}
			},
		})
	})
	if rejections.Load() == 0 || acceptances.Load() == 0 {
		t.Errorf("%d rejections and %d acceptances: the property tests nothing", rejections.Load(), acceptances.Load())
	}
}

// TestConcurrentSubmissionsKeepTheLimit submits jobs at the same time to one process. Exactly as many as fit are accepted.
func TestConcurrentSubmissionsKeepTheLimit(t *testing.T) {
	t.Parallel()
	s, tree := NewSubmittedJobs(time.Now), limitedTree()
	var accepted atomic.Int64
	var running sync.WaitGroup
	for i := range 64 {
		running.Go(func() {
			by := submitter{account: []string{"physics", "chemistry"}[i%2], user: []string{"ada", "ben"}[i/2%2]}
			if rejected, err := s.acceptJob(tree, by, types.UID(fmt.Sprint(i))); err == nil && rejected.reason == "" {
				accepted.Add(1)
			}
		})
	}
	running.Wait()
	if accepted.Load() != 4 {
		t.Errorf("%d jobs were accepted, and account science permits 4", accepted.Load())
	}
}

// TestLimitsOfSingleJobsAreKeptAndNothingElseIsRejected submits jobs of random sizes and time limits.
func TestLimitsOfSingleJobsAreKeptAndNothingElseIsRejected(t *testing.T) {
	t.Parallel()
	var rejections, acceptances atomic.Int64
	propertytest.Check(t, 2000, func(r *rapid.T) {
		accounts := drawAccounts(r)
		model := modelOfLimits{}
		for _, account := range accounts {
			model[account.Name], account.Spec.Limits = account, nil
		}
		by := submitter{account: rapid.SampledFrom(accounts).Draw(r, "account").Name, user: rapid.SampledFrom(testUsers).Draw(r, "user")}
		pods, cpus, minutes := rapid.Int64Range(1, 3).Draw(r, "pods"), rapid.Int64Range(1, 4).Draw(r, "cpus"), rapid.IntRange(1, 6).Draw(r, "minutes")
		task := fmt.Sprintf(`{"name":"t","replicas":%d,"template":{"spec":{"activeDeadlineSeconds":%d,"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"%d"}}}]}}}`, pods, minutes*60, cpus)
		job := strings.Replace(jobOfUser(by.user, by.account), goodTask, task, 1)

		cpu, limitsCPU := firstUserLimit(model, by, func(l *accountv1alpha1.UserLimits) (int64, bool) {
			limit, isSet := l.MaxResourcesPerJob["cpu"]
			return limit.Value(), isSet
		})
		longest, limitsTime := firstUserLimit(model, by, func(l *accountv1alpha1.UserLimits) (time.Duration, bool) {
			if l.MaxRunTime == nil {
				return 0, false
			}
			return l.MaxRunTime.Duration, true
		})
		isTooLarge := limitsCPU && pods*cpus > cpu
		isTooLong := limitsTime && time.Duration(minutes)*time.Minute > longest
		want := !isTooLarge && !isTooLong && model.fits(nil, by)

		response := hooksWith(accounts...).validateHandler(jobKind)(t.Context(), request(admissionv1.Create, "Job", job, ""))
		if response.Allowed != want {
			r.Fatalf("%s: allowed %t, want %t: %+v", job, response.Allowed, want, response.Result)
		}
		if response.Allowed {
			acceptances.Add(1)
			return
		}
		rejections.Add(1)
		if !strings.Contains(response.Result.Message, check.SlurmPolicyViolation) {
			r.Errorf("the reason is not a limit: %s", response.Result.Message)
		}
	})
	if rejections.Load() == 0 || acceptances.Load() == 0 {
		t.Errorf("%d rejections and %d acceptances: the property tests nothing", rejections.Load(), acceptances.Load())
	}
}

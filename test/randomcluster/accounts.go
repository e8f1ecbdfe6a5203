package randomcluster

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/api/reason"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/test/make"
)

// AddAccounts adds a tree of accounts with random limits.
func (r *Cluster) AddAccounts() {
	r.Accounts = map[string]*accountv1alpha1.Account{}
	for _, name := range []string{"root", "left", "right"} {
		r.setAccount(name)
	}
}

// setAccount draws new limits for an account.
func (r *Cluster) setAccount(name string) {
	b := make.Account(name)
	if name != "root" {
		b.Parent("root").Users("ann")
	}
	most := 6
	if name == "root" {
		most = 9
	}
	isDrawn := func(of string) bool { return rapid.IntRange(0, 2).Draw(r.T, of) == 0 }
	if isDrawn("limits jobs") {
		b.MaxRunningJobs(int32(rapid.IntRange(0, 3).Draw(r.T, "jobs")))
	}
	if isDrawn("limits cpu") {
		b.MaxResource("cpu", fmt.Sprint(rapid.IntRange(0, most).Draw(r.T, "most cpu")))
	}
	if isDrawn("limits pods") {
		b.MaxResource("pods", fmt.Sprint(rapid.IntRange(0, most).Draw(r.T, "most pods")))
	}
	if isDrawn("limits jobs of users") {
		user := rapid.SampledFrom([]string{"", "ann"}).Draw(r.T, "whose")
		b.UserMaxRunningJobs(user, int32(rapid.IntRange(0, 2).Draw(r.T, "jobs of users")))
	}
	if isDrawn("limits cpu of users") {
		b.UserMaxResource("", "cpu", fmt.Sprint(rapid.IntRange(0, most).Draw(r.T, "most cpu of users")))
	}
	r.addBudget(b)
	delete(r.budgets.most, name)
	r.Accounts[name] = b.Obj()
	r.Model.Apply(model.AccountFrom(b.Obj()))
}

// drawAccount returns an account for a gang; "" if there are none.
func (r *Cluster) drawAccount() string {
	if len(r.Accounts) == 0 {
		return ""
	}
	return rapid.SampledFrom([]string{"", "root", "left", "right", "nowhere"}).Draw(r.T, "account")
}

// AccountUse is what counts against the limits of an account, a user or a QOS.
type AccountUse struct {
	// Jobs is the number of gangs that are admitted, have not ended, or have pods on nodes.
	Jobs int
	// CPU and Pods are used by pods on nodes, and by pods that are being bound. ClaimedCPU and ClaimedPods also include
	// what admitted gangs need for their minimums.
	CPU, Pods, ClaimedCPU, ClaimedPods int64
}

// UseOfAccounts returns what counts against each limit, according to the API. The keys are accounts, users as
// ACCOUNT/USER, and the keys of QOS.
func (r *Cluster) UseOfAccounts() map[string]AccountUse {
	gangs := map[string]bool{}
	pods := map[string][]*corev1.Pod{}
	for name := range r.Gangs {
		gangs[name] = true
	}
	for _, name := range r.PodNames() {
		of := keys.PodGroupOf(r.Pods[name].Annotations)
		gangs[of] = true
		pods[of] = append(pods[of], r.Pods[name])
	}
	use := map[string]AccountUse{}
	for name := range gangs {
		own := r.useOfGang(name, pods[name])
		for _, key := range r.limitKeys(r.partyOf(name, pods[name])) {
			sum := use[key]
			use[key] = AccountUse{sum.Jobs + own.Jobs, sum.CPU + own.CPU, sum.Pods + own.Pods, sum.ClaimedCPU + own.ClaimedCPU, sum.ClaimedPods + own.ClaimedPods}
		}
	}
	return use
}

// party is the account, the user and the QOS of a gang.
type party struct{ account, user, qos string }

func (r *Cluster) partyOf(gang string, pods []*corev1.Pod) party {
	if g := r.Gangs[gang]; g != nil {
		return party{g.Labels[keys.Account], g.Annotations[keys.User], g.Labels[keys.QOS]}
	}
	return party{pods[0].Labels[keys.Account], pods[0].Annotations[keys.User], pods[0].Labels[keys.QOS]}
}

// limitKeys returns the keys of UseOfAccounts to which a party counts.
func (r *Cluster) limitKeys(of party) []string {
	out := r.qosKeys(of)
	if r.Accounts[of.account] == nil {
		return out
	}
	if of.user != "" {
		out = append(out, of.account+"/"+of.user)
	}
	for name := of.account; r.Accounts[name] != nil; name = r.Accounts[name].Spec.Parent {
		out = append(out, name)
	}
	return out
}

func (r *Cluster) useOfGang(name string, pods []*corev1.Pod) (use AccountUse) {
	var doneCPU, done, ended int64
	for _, p := range pods {
		cpu := p.Spec.Containers[0].Resources.Requests.Cpu().MilliValue()
		switch {
		case p.Status.Phase == corev1.PodSucceeded:
			doneCPU, done, ended = doneCPU+cpu, done+1, ended+1
		case p.Status.Phase == corev1.PodFailed:
			ended++
		case r.usesNode(p):
			use.CPU, use.Pods = use.CPU+cpu, use.Pods+1
		}
	}
	use.ClaimedCPU, use.ClaimedPods = use.CPU, use.Pods
	if g := r.Gangs[name]; g != nil {
		phase := r.Model.Gangs["default/"+name].Status.Phase
		isAdmitted := slices.Contains([]schedulingv1beta1.PodGroupPhase{schedulingv1beta1.PodGroupInqueue, schedulingv1beta1.PodGroupRunning, schedulingv1beta1.PodGroupUnknown}, phase)
		if isAdmitted && ended < max(int64(g.Spec.MinMember), 1) {
			use.Jobs = 1
			use.ClaimedPods = max(use.Pods, int64(g.Spec.MinMember)-done)
			if g.Spec.MinResources != nil {
				use.ClaimedCPU = max(use.CPU, g.Spec.MinResources.Cpu().MilliValue()-doneCPU)
			}
		}
	}
	if use.Pods > 0 {
		use.Jobs = 1
	}
	return use
}

// CheckAccounts fails if anything that counts against a limit of an account, a user or a QOS has grown beyond the limit.
func (r *Cluster) CheckAccounts(before, after map[string]AccountUse) {
	for _, key := range slices.Sorted(maps.Keys(after)) {
		was, is := before[key], after[key]
		jobs, resources := r.limitsOf(key)
		if jobs != nil && is.Jobs > int(*jobs) && is.Jobs > was.Jobs {
			r.T.Fatalf("%s runs %d jobs, before %d, and the limit is %d%s", key, is.Jobs, was.Jobs, *jobs, r.describe(r.Engine))
		}
		for _, of := range []struct {
			name    corev1.ResourceName
			was, is int64
		}{{"cpu", was.CPU, is.CPU}, {"pods", was.Pods, is.Pods}, {"cpu", was.ClaimedCPU, is.ClaimedCPU}, {"pods", was.ClaimedPods, is.ClaimedPods}} {
			limit, limited := resources[of.name]
			most := limit.Value()
			if of.name == "cpu" {
				most = limit.MilliValue()
			}
			if limited && of.is > most && of.is > of.was {
				r.T.Fatalf("%s uses %d of %s, before %d, and the limit is %s%s", key, of.is, of.name, of.was, limit.String(), r.describe(r.Engine))
			}
		}
	}
}

// limitsOf returns the limits for a key of UseOfAccounts.
func (r *Cluster) limitsOf(key string) (jobs *int32, resources corev1.ResourceList) {
	if jobs, resources, isQOS := r.qosLimitsOf(key); isQOS {
		return jobs, resources
	}
	for _, account := range r.Accounts {
		for _, user := range []string{"ann", "bob"} {
			if key == account.Name+"/"+user {
				limits := r.Model.Accounts.EffectiveUserLimits(account.Name, user)
				return limits.MaxRunningJobs, limits.MaxResources
			}
		}
	}
	if limits := r.Accounts[key].Spec.Limits; limits != nil {
		return limits.MaxRunningJobs, limits.MaxResources
	}
	return nil, nil
}

// CheckHeldBack fails if a gang waits for a limit of its account or QOS that is free. It must be called after a cycle that has
// changed nothing.
func (r *Cluster) CheckHeldBack() {
	use := r.UseOfAccounts()
	for _, name := range slices.Sorted(maps.Keys(r.Gangs)) {
		e := r.Model.Gangs["default/"+name].Status.Explanation
		if e == nil || !isLimitOfAccount(e.Reason) {
			continue
		}
		r.HeldBack++
		if !r.isLimited(name, use) {
			r.T.Fatalf("%s waits for a limit that is free: %s: %s\n%+v\n%s", name, e.Reason, e.Message, use, r.describe(r.Engine))
		}
	}
}

func isLimitOfAccount(code string) bool {
	return reason.Get(reason.Code(code)).Has(reason.LimitOfAccount)
}

// isLimited reports whether a limit would be exceeded if a waiting gang was admitted or got all its pending pods.
func (r *Cluster) isLimited(name string, use map[string]AccountUse) bool {
	var pods, pending []*corev1.Pod
	for _, pod := range r.PodNames() {
		p := r.Pods[pod]
		if keys.PodGroupOf(p.Annotations) != name {
			continue
		}
		pods = append(pods, p)
		if p.Spec.NodeName == "" && p.Status.Phase == corev1.PodPending {
			pending = append(pending, p)
		}
	}
	own := r.useOfGang(name, pods)
	then := own
	for _, p := range pending {
		then.CPU, then.Pods = then.CPU+p.Spec.Containers[0].Resources.Requests.Cpu().MilliValue(), then.Pods+1
	}
	if r.Model.Gangs["default/"+name].Status.Phase == schedulingv1beta1.PodGroupPending {
		g := r.Gangs[name]
		then.CPU, then.Pods = own.CPU, int64(g.Spec.MinMember)
		if g.Spec.MinResources != nil {
			then.CPU = max(own.CPU, g.Spec.MinResources.Cpu().MilliValue())
		}
	}
	of := r.partyOf(name, pods)
	isAdmission := r.Model.Gangs["default/"+name].Status.Phase == schedulingv1beta1.PodGroupPending
	if r.isLimitedByBudget(name, pods, of.account, own, then, isAdmission) {
		return true
	}
	for _, key := range r.limitKeys(of) {
		jobs, resources := r.limitsOf(key)
		sum := use[key]
		if jobs != nil && own.Jobs == 0 && sum.Jobs >= int(*jobs) {
			return true
		}
		cpu, limitsCPU := resources["cpu"]
		if limitsCPU && max(sum.CPU+then.CPU-own.CPU, sum.ClaimedCPU+then.CPU-own.ClaimedCPU) > cpu.MilliValue() {
			return true
		}
		most, limitsPods := resources["pods"]
		if limitsPods && max(sum.Pods+then.Pods-own.Pods, sum.ClaimedPods+then.Pods-own.ClaimedPods) > most.Value() {
			return true
		}
	}
	return false
}

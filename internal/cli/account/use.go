package account

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/cli"
)

// use holds what the jobs of an account, or of a user in it, use now.
type use struct {
	// running is the number of jobs that are admitted to their queues, and pending the number of jobs that wait for that.
	running, pending int32
	// resources is the sum of the minimum resources of the running jobs.
	resources corev1.ResourceList
}

// party is a user in an account.
type party struct{ account, user string }

// uses holds the use of each user in each account.
type uses map[party]*use

// readUse reads the current use from the PodGroups with an account.
func readUse(ctx context.Context, c client.Client) (uses, error) {
	all := uses{}
	page := &schedulingv1beta1.PodGroupList{}
	err := cli.ListPages(ctx, c, page, func() error {
		for i := range page.Items {
			all.addGroup(&page.Items[i])
		}
		return nil
	}, client.HasLabels{keys.Account})
	return all, err
}

// addGroup adds the use of a PodGroup.
func (all uses) addGroup(g *schedulingv1beta1.PodGroup) {
	of := party{g.Labels[keys.Account], batchv1alpha1.UserOf(g)}
	if of.account == "" || g.Status.Phase == schedulingv1beta1.PodGroupCompleted {
		return
	}
	if all[of] == nil {
		all[of] = &use{}
	}
	switch g.Status.Phase {
	case "", schedulingv1beta1.PodGroupPending:
		all[of].pending++
		return
	}
	all[of].running++
	if g.Spec.MinResources != nil {
		all[of].addResources(*g.Spec.MinResources)
	}
}

func (u *use) addResources(more corev1.ResourceList) {
	if u.resources == nil {
		u.resources = corev1.ResourceList{}
	}
	for name, amount := range more {
		sum := u.resources[name]
		sum.Add(amount)
		u.resources[name] = sum
	}
}

// add adds the use of others.
func (u *use) add(more *use) {
	u.running += more.running
	u.pending += more.pending
	u.addResources(more.resources)
}

// ofAccount returns the use of an account without the accounts below it.
func (all uses) ofAccount(account string) *use {
	sum := &use{}
	for of, part := range all {
		if of.account == account {
			sum.add(part)
		}
	}
	return sum
}

// ofTree returns the use of an account and of the accounts below it.
func (all uses) ofTree(tree *accountv1alpha1.Tree, account string) *use {
	sum := &use{}
	for of, part := range all {
		for _, ancestor := range tree.Path(of.account) {
			if ancestor.Name == account {
				sum.add(part)
			}
		}
	}
	return sum
}

// ofUser returns the use of a user in an account.
func (all uses) ofUser(account, user string) *use {
	if found := all[party{account, user}]; found != nil {
		return found
	}
	return &use{}
}

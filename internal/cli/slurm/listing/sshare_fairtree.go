package listing

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/cli/slurm/clusterdata"
	"github.com/vc-batch/vc/internal/cli/slurm/program"
	"github.com/vc-batch/vc/internal/cli/storedusage"
	"github.com/vc-batch/vc/internal/fairtree"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/config"
	fairtreepolicy "github.com/vc-batch/vc/internal/scheduler/policy/fairtree"
	"github.com/vc-batch/vc/internal/slurm/sacctmgr"
	"github.com/vc-batch/vc/internal/slurm/sshare"
	"github.com/vc-batch/vc/internal/usererror"
)

// fairTreeLines returns one line for each account and each selected user. ok is false if the scheduler does not use Fair
// Tree, if there are no accounts, or if the user is not allowed to read the usage.
func fairTreeLines(ctx context.Context, c *program.Call, cl client.Client, users []string) (lines []*sshare.Line, ok bool, err error) {
	accounts, err := readAccounts(ctx, cl)
	if err != nil || accounts.Len() == 0 {
		return nil, false, err
	}
	halfLife, ok, err := readHalfLife(ctx, cl)
	var stored *storedusage.Stored
	if err == nil && ok {
		stored, err = storedusage.Read(ctx, cl)
	}
	if apierrors.IsForbidden(err) {
		c.PrintNoteOnce("you are not allowed to read the usage of accounts, so queues are shown: ask an administrator for the role vc-fair-share in namespace %s", clusterdata.SystemNamespace)
		return nil, false, nil
	}
	if err != nil || !ok {
		return nil, false, err
	}
	if len(users) == 0 && !c.Parsed.Has("all") {
		users = c.ListOwnUserNames(ctx)
	}
	isHidden := func(l *sshare.Line) bool {
		if l.User == "" {
			return c.Parsed.Has("Users")
		}
		return !c.Parsed.Has("all") && !slices.Contains(users, l.User)
	}
	usage, err := partyUsage(stored, c.Factory.Now(), halfLife)
	if err != nil {
		return nil, false, err
	}
	lines = sshare.LinesOfAssociations(fairtree.Compute(fairtree.FromAccounts(accounts, usage)), c.ClusterName())
	lines = slices.DeleteFunc(lines, isHidden)
	return lines, true, addBudgets(ctx, c, cl, lines, accounts, stored)
}

// addBudgets adds the budgets of accounts to their lines, and what running jobs have reserved of them.
func addBudgets(ctx context.Context, c *program.Call, cl client.Client, lines []*sshare.Line, accounts *accountv1alpha1.Tree, stored *storedusage.Stored) error {
	hasBudget := func(l *sshare.Line) bool { return budgetOf(l, accounts) != nil }
	if !slices.ContainsFunc(lines, hasBudget) {
		return nil
	}
	usages, err := stored.Budgets()
	if err != nil {
		return err
	}
	site, err := clusterdata.ReadSiteProfile(ctx, c, cl)
	if err != nil {
		return err
	}
	now := c.Factory.Now()
	for _, l := range lines {
		budget := budgetOf(l, accounts)
		if budget == nil {
			continue
		}
		l.Budget = sacctmgr.FormatResources(budget.ResourceMinutes, site)
		usage := usages.Current(l.Name, budget, now)
		if usage == nil {
			continue
		}
		reserved := corev1.ResourceList{}
		for name := range budget.ResourceMinutes {
			reserved[name] = storedusage.Minutes(name, usage.ReservedAt(string(name), now))
		}
		l.Reserved = sacctmgr.FormatResources(reserved, site)
	}
	return nil
}

// budgetOf returns the budget of the account of a line. It is nil for users and for accounts without a budget.
func budgetOf(l *sshare.Line, accounts *accountv1alpha1.Tree) *accountv1alpha1.Budget {
	account := accounts.Account(l.Name)
	isAccount := account != nil && l.User == ""
	if !isAccount || account.Spec.Limits == nil {
		return nil
	}
	return account.Spec.Limits.Budget
}

// readAccounts reads the tree of accounts. It is empty if the cluster has no accounts, or if the user is not allowed to
// read them.
func readAccounts(ctx context.Context, cl client.Client) (*accountv1alpha1.Tree, error) {
	list := &accountv1alpha1.AccountList{}
	err := cl.List(ctx, list)
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsForbidden(err) {
		return nil, err
	}
	accounts := make([]*accountv1alpha1.Account, len(list.Items))
	for i := range list.Items {
		accounts[i] = &list.Items[i]
	}
	return accountv1alpha1.NewTree(accounts), nil
}

// readHalfLife returns the half-life of usage. ok is false if the scheduler does not use policy fairtree.
func readHalfLife(ctx context.Context, cl client.Client) (halfLife time.Duration, ok bool, err error) {
	published := &corev1.ConfigMap{}
	key := client.ObjectKey{Namespace: clusterdata.SystemNamespace, Name: keys.ConfigurationName}
	if err := cl.Get(ctx, key, published); err != nil {
		return 0, false, client.IgnoreNotFound(err)
	}
	cfg, _, err := config.Parse([]byte(published.Data[keys.ConfigurationText]))
	if err != nil {
		return 0, false, usererror.Errorf("check it with vcctl config check", "ConfigMap %s: %v", key, err)
	}
	for _, tier := range cfg.Tiers {
		for i := range tier.Plugins {
			if plugin := &tier.Plugins[i]; plugin.Name == "fairtree" {
				return fairtreepolicy.HalfLife(plugin.Arguments, func(string) {}), true, nil
			}
		}
	}
	return 0, false, nil
}

// partyUsage returns the usage of users in accounts up to the time now.
func partyUsage(stored *storedusage.Stored, now time.Time, halfLife time.Duration) (map[model.Party]float64, error) {
	entries, err := stored.FairShare()
	if err != nil {
		return nil, err
	}
	usage := map[model.Party]float64{}
	for _, e := range entries {
		if e.Account.Account != "" {
			usage[model.Party{Account: e.Account.Account, User: e.Account.User}] = e.Usage.ValueAtTime(now, halfLife)
		}
	}
	return usage, nil
}

package listing

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/cli/slurm/clusterdata"
	"github.com/vc-batch/vc/internal/cli/slurm/program"
	"github.com/vc-batch/vc/internal/fairtree"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/config"
	fairtreepolicy "github.com/vc-batch/vc/internal/scheduler/policy/fairtree"
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
	var usage map[model.Party]float64
	if err == nil && ok {
		usage, err = readPartyUsage(ctx, cl, c.Factory.Now(), halfLife)
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
	lines = sshare.LinesOfAssociations(fairtree.Compute(fairtree.FromAccounts(accounts, usage)), c.ClusterName())
	return slices.DeleteFunc(lines, isHidden), true, nil
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

// readPartyUsage returns the usage of users in accounts up to the time now.
func readPartyUsage(ctx context.Context, cl client.Client, now time.Time, halfLife time.Duration) (map[model.Party]float64, error) {
	stored := &corev1.ConfigMap{}
	key := client.ObjectKey{Namespace: clusterdata.SystemNamespace, Name: keys.UsageName}
	if err := cl.Get(ctx, key, stored); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	var entries []model.UsageEntry
	if text := stored.Data[keys.UsageData]; text != "" {
		if err := json.Unmarshal([]byte(text), &entries); err != nil {
			return nil, usererror.Errorf("the scheduler writes it again within a minute", "ConfigMap %s: %v", key, err)
		}
	}
	usage := map[model.Party]float64{}
	for _, e := range entries {
		if e.Account.Account != "" {
			usage[model.Party{Account: e.Account.Account, User: e.Account.User}] = e.Usage.ValueAtTime(now, halfLife)
		}
	}
	return usage, nil
}

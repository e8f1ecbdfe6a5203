package accounts

import (
	"context"
	"slices"
	"strings"
	"time"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/slurm/clusterdata"
)

// completionTime is the time after which completion gives up.
const completionTime = time.Second

// accountKeys are the words before = whose values are names of accounts.
var accountKeys = []string{"account", "defaultaccount", "parent"}

// qosKeys are the words before = whose values are names of QOS.
var qosKeys = []string{"qos", "defaultqos"}

// completeWords offers the commands, the entities, and the names of accounts, users and QOS.
func completeWords(f *cli.Factory, operands []string, prefix string) []string {
	var offered []string
	switch key, _, hasKey := strings.Cut(prefix, "="); {
	case len(operands) == 0:
		offered = []string{"add", "delete", "modify", "show"}
	case len(operands) == 1:
		offered = []string{"account", "association", "cluster", "coordinator", "event", "qos", "transactions", "tres", "user"}
	case hasKey && slices.Contains(accountKeys, key):
		offered = listNames(f, key+"=", accountNames)
	case hasKey && key == "user":
		offered = listNames(f, "user=", userNames)
	case operands[1] == "account":
		offered = listNames(f, "", accountNames)
	case hasKey && slices.Contains(qosKeys, key):
		offered = listQOS(f, key+"=")
	case operands[1] == "qos":
		offered = listQOS(f, "")
	case operands[1] == "user":
		offered = listNames(f, "", userNames)
	}
	return slices.DeleteFunc(offered, func(word string) bool { return !strings.HasPrefix(word, prefix) || slices.Contains(operands, word) })
}

// listNames returns the names in the tree of accounts, each with a prefix. It returns none if the accounts cannot be
// read.
func listNames(f *cli.Factory, prefix string, names func([]accountv1alpha1.Account) []string) []string {
	ctx, cancel := context.WithTimeout(context.Background(), completionTime)
	defer cancel()
	cl, err := f.Client()
	if err != nil {
		return nil
	}
	list := &accountv1alpha1.AccountList{}
	if err := cl.List(ctx, list); err != nil {
		return nil
	}
	all := names(list.Items)
	slices.Sort(all)
	all = slices.Compact(all)
	for i := range all {
		all[i] = prefix + all[i]
	}
	return all
}

// listQOS returns the names of the QOS, each with a prefix.
func listQOS(f *cli.Factory, prefix string) []string {
	ctx, cancel := context.WithTimeout(context.Background(), completionTime)
	defer cancel()
	cl, err := f.Client()
	if err != nil {
		return nil
	}
	names := clusterdata.ListQOS(ctx, cl)
	for i := range names {
		names[i] = prefix + names[i]
	}
	return names
}

func accountNames(accounts []accountv1alpha1.Account) []string {
	names := make([]string, len(accounts))
	for i := range accounts {
		names[i] = accounts[i].Name
	}
	return names
}

func userNames(accounts []accountv1alpha1.Account) []string {
	var names []string
	for i := range accounts {
		for _, user := range accounts[i].Spec.Users {
			names = append(names, user.Name)
		}
	}
	return names
}

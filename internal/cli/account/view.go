package account

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	"github.com/vc-batch/vc/api/textformat"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/resourcecmd"
	"github.com/vc-batch/vc/internal/clusterops"
	"github.com/vc-batch/vc/internal/render"
	"github.com/vc-batch/vc/internal/slurm/sacctmgr"
)

// buildSheet returns the details of one account.
func buildSheet(ctx context.Context, f *cli.Factory, c client.Client, account *accountv1alpha1.Account, events bool) (*cli.Sheet, error) {
	tree, err := readTree(ctx, c)
	if err != nil {
		return nil, err
	}
	current, err := readUse(ctx, c)
	isHidden := apierrors.IsForbidden(err)
	if err != nil && !isHidden {
		return nil, err
	}
	if isHidden {
		current = nil
	}
	budgets, err := readBudgetUsages(ctx, c)
	if err != nil {
		return nil, err
	}
	sheet := newFactSheet(f, tree, account, current)
	sheet.AddTable("Limits of all jobs together", newLimitsTable(tree, account.Name, current, budgets, f.Now()))
	sheet.AddTable("Limits of each user", newUserLimitsTable(tree, account.Name))
	sheet.AddTable("Users", newUsersTable(account, current))
	if !events {
		return sheet, nil
	}
	// Events about cluster-scoped objects are stored in this namespace.
	happened, err := clusterops.EventsAboutObjects(ctx, c, metav1.NamespaceDefault, account)
	switch {
	case apierrors.IsForbidden(err):
		sheet.AddFact("Events", "not shown: you are not allowed to list events in namespace "+metav1.NamespaceDefault)
	case err != nil:
		return nil, err
	}
	sheet.AddTable("Events", cli.NewEventTable(happened, f.Now(), func(*corev1.Event) string { return "account/" + account.Name }))
	return sheet, nil
}

// newFactSheet returns the facts about an account that fit on one line each. current is nil if the use is not known.
func newFactSheet(f *cli.Factory, tree *accountv1alpha1.Tree, account *accountv1alpha1.Account, current uses) *cli.Sheet {
	s := &account.Spec
	sheet := &cli.Sheet{}
	sheet.AddFact("Name", account.Name+resourcecmd.DeletionSuffix(account))
	sheet.AddFact("Description", s.Description)
	sheet.AddFact("Organization", s.Organization)
	sheet.AddFact("Parent", cmp.Or(s.Parent, sacctmgr.Root))
	sheet.AddFact("Children", strings.Join(tree.Children(account.Name), ", "))
	sheet.AddFact("Shares", sharesText(s.Shares))
	sheet.AddFact("Coordinators", strings.Join(s.Coordinators, ", "))
	sheet.AddFact("Queues", cmp.Or(strings.Join(s.Queues, ", "), "all"))
	sheet.AddFact("Namespaces", cmp.Or(strings.Join(s.Namespaces, ", "), "all"))
	sheet.AddFact("QOS", strings.Join(tree.ListedQOS(account.Name, ""), ", "))
	sheet.AddFact("Default QOS", s.DefaultQOS)
	sheet.AddFact("Created", resourcecmd.CreatedText(account, f.Now()))
	if current == nil {
		sheet.AddFact("Jobs", "not shown: you are not allowed to list PodGroups in all namespaces")
		return sheet
	}
	own := current.ofTree(tree, account.Name)
	sheet.AddFact("Jobs", strconv.Itoa(int(own.running))+" running, "+strconv.Itoa(int(own.pending))+" pending")
	sheet.AddFact("In use", amountsText(own.resources))
	return sheet
}

// newLimitsTable returns the limits of all jobs of an account and of its ancestors, with their use.
func newLimitsTable(tree *accountv1alpha1.Tree, name string, current uses, budgets budgetUsages, now time.Time) render.Table {
	table := render.Table{Header: []string{"ACCOUNT", "LIMIT", "MAXIMUM", "IN-USE"}}
	for _, account := range tree.Path(name) {
		limits := limitsOf(&account.Spec)
		var sum *use
		if current != nil {
			sum = current.ofTree(tree, account.Name)
		}
		add := func(limit, most string, used func(*use) string) {
			if most == "" {
				return
			}
			inUse := "-"
			if sum != nil {
				inUse = used(sum)
			}
			table.Rows = append(table.Rows, []string{account.Name, limit, most, inUse})
		}
		add("running jobs", countText(limits.MaxRunningJobs), func(u *use) string { return strconv.Itoa(int(u.running)) })
		add("submitted jobs", countText(limits.MaxSubmittedJobs), func(u *use) string { return strconv.Itoa(int(u.running + u.pending)) })
		for _, of := range slices.Sorted(maps.Keys(limits.MaxResources)) {
			most := limits.MaxResources[of]
			add(string(of), most.String(), func(u *use) string {
				amount := u.resources[of]
				return amount.String()
			})
		}
		table.Rows = append(table.Rows, budgets.budgetRows(account.Name, limits.Budget, now)...)
	}
	return table
}

// newUserLimitsTable returns the limits that apply to each user of an account who has none of their own, and the account
// that sets each.
func newUserLimitsTable(tree *accountv1alpha1.Tree, name string) render.Table {
	table := render.Table{Header: []string{"LIMIT", "MAXIMUM", "SET-BY"}}
	set := map[string]bool{}
	for _, account := range tree.Path(name) {
		for _, limit := range userLimitRows(account.Spec.UserLimits) {
			if set[limit[0]] {
				continue
			}
			set[limit[0]] = true
			table.Rows = append(table.Rows, []string{limit[0], limit[1], account.Name})
		}
	}
	return table
}

// userLimitRows returns the names and the maxima of limits.
func userLimitRows(limits *accountv1alpha1.UserLimits) [][2]string {
	if limits == nil {
		return nil
	}
	var rows [][2]string
	add := func(name, most string) {
		if most != "" {
			rows = append(rows, [2]string{name, most})
		}
	}
	add("running jobs", countText(limits.MaxRunningJobs))
	add("submitted jobs", countText(limits.MaxSubmittedJobs))
	for _, list := range []struct {
		suffix string
		limits corev1.ResourceList
	}{{"", limits.MaxResources}, {" of each job", limits.MaxResourcesPerJob}} {
		for _, of := range slices.Sorted(maps.Keys(list.limits)) {
			most := list.limits[of]
			add(string(of)+list.suffix, most.String())
		}
	}
	if limits.MaxRunTime != nil {
		add("run time of each job", textformat.FormatDuration(limits.MaxRunTime.Duration))
	}
	return rows
}

// newUsersTable returns the users of an account, with their jobs and their own limits.
func newUsersTable(account *accountv1alpha1.Account, current uses) render.Table {
	table := render.Table{Header: []string{"USER", "DEFAULT", "SHARES", "RUNNING", "PENDING", "OWN-LIMITS"}, FreeText: true}
	table.SetSpareColumns("SHARES", "PENDING")
	for i := range account.Spec.Users {
		user := &account.Spec.Users[i]
		running, pending := "-", "-"
		if current != nil {
			own := current.ofUser(account.Name, user.Name)
			running, pending = strconv.Itoa(int(own.running)), strconv.Itoa(int(own.pending))
		}
		var limits []string
		for _, row := range userLimitRows(user.Limits) {
			limits = append(limits, row[0]+"="+row[1])
		}
		isDefault := "no"
		if user.Default {
			isDefault = "yes"
		}
		table.Rows = append(table.Rows, []string{user.Name, isDefault, sharesText(user.Shares), running, pending, cmp.Or(strings.Join(limits, ", "), "-")})
	}
	return table
}

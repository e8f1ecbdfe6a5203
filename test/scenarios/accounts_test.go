package scenarios

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/test/make"
)

// account sets an account: account NAME [parent=ACCOUNT] [shares=N] [users=USER,..] [shares:USER=N] [maxrunning=N]
// [max:RESOURCE=AMOUNT] [budget:RESOURCE=MINUTES] [period=PERIOD] [since=DURATION] [usermaxrunning=N] [usermaxrunning:USER=N] [usermax:RESOURCE=AMOUNT] [usermax:RESOURCE:USER=AMOUNT].
func (w *world) account(args []string) []string {
	b := make.Account(args[0])
	for _, word := range args[1:] {
		key, value := pair(word)
		kind, rest, _ := strings.Cut(key, ":")
		switch kind {
		case "parent":
			b.Parent(value)
		case "users":
			b.Users(strings.Split(value, ",")...)
		case "shares":
			if rest != "" {
				b.UserShares(rest, int32(number(w, value)))
				continue
			}
			b.Shares(int32(number(w, value)))
		case "maxrunning":
			b.MaxRunningJobs(int32(number(w, value)))
		case "max":
			b.MaxResource(long(rest), value)
		case "budget":
			b.Budget(long(rest), value)
		case "period":
			b.BudgetPeriod(accountv1alpha1.BudgetPeriod(value))
		case "since": // after the beginning of the story
			length, err := time.ParseDuration(value)
			if err != nil {
				w.fatal("%v", err)
			}
			b.BudgetSince(make.Epoch.Add(length))
		case "usermaxrunning":
			b.UserMaxRunningJobs(rest, int32(number(w, value)))
		case "usermax":
			resource, user, _ := strings.Cut(rest, ":")
			b.UserMaxResource(user, long(resource), value)
		default:
			w.fatal("account: %q: no such word", word)
		}
	}
	w.parties[args[0]] = b.Obj()
	w.model.Apply(model.AccountFrom(b.Obj()))
	return []string{"account " + args[0]}
}

// consumed prints the usage of the budgets of all accounts, in minutes.
func (w *world) consumed() []string {
	var out []string
	for _, e := range model.SortBudgetUsage(w.model.BudgetUsage) {
		usage := e.Usage
		line := fmt.Sprintf("%s since %s:", e.Account, usage.Since.Sub(make.Epoch))
		names := map[string]bool{}
		for name := range w.parties[e.Account].Spec.Limits.Budget.ResourceMinutes {
			names[string(name)] = true
		}
		for _, name := range slices.Sorted(maps.Keys(names)) {
			minutes := func(amount int64) string {
				q := resource.Quantity(name, int64(resource.MinutesFromTime(name, amount)))
				return q.String()
			}
			line += fmt.Sprintf(" %s used %s reserved %s", name, minutes(usage.UsedAt(name, w.now)), minutes(usage.ReservedAt(name, w.now)))
		}
		out = append(out, line)
	}
	return out
}

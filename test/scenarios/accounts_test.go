package scenarios

import (
	"strings"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/test/make"
)

// account sets an account: account NAME [parent=ACCOUNT] [shares=N] [users=USER,..] [shares:USER=N] [maxrunning=N]
// [max:RESOURCE=AMOUNT] [usermaxrunning=N] [usermaxrunning:USER=N] [usermax:RESOURCE=AMOUNT] [usermax:RESOURCE:USER=AMOUNT].
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

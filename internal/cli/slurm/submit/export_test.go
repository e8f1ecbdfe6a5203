package submit

import (
	"strings"
	"time"

	"github.com/vc-batch/vc/internal/slurm/translate"
)

// All tests of this package submit with the same origin, and wait only briefly for job numbers.
func init() {
	origin = func() (suffix, key, dir, host string) {
		return "x7k2p", strings.Repeat("ab", 32), "/home/mei/p", "login1"
	}
	owner = func() translate.Owner { return translate.Owner{UID: "1001", GID: "100", Group: "users"} }
	idPatience = 2 * time.Second
	awayPatience = 5 * time.Second
}

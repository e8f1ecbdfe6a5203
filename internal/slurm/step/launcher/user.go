package launcher

import (
	"os"
	"strconv"
	"strings"

	"github.com/vc-batch/vc/internal/slurm/launchconfig"
)

// passwdFile is the list of users of the pod's system.
const passwdFile = "/etc/passwd"

// currentUser returns the user who runs this process. Home and shell are empty if the image has no passwd
// file.
func currentUser() launchconfig.User {
	u := launchconfig.User{UID: os.Getuid(), GID: os.Getgid()}
	if text, err := os.ReadFile(passwdFile); err == nil {
		u.Home, u.Shell = userEntry(string(text), u.UID)
	}
	return u
}

// userEntry returns the home directory and the shell of a user, given the text of passwdFile. Both are empty if the
// user is not listed.
func userEntry(passwd string, uid int) (home, shell string) {
	for line := range strings.SplitSeq(passwd, "\n") {
		if fields := strings.Split(line, ":"); len(fields) == 7 && fields[2] == strconv.Itoa(uid) {
			return fields[5], fields[6]
		}
	}
	return "", ""
}

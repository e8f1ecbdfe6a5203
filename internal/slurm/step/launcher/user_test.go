package launcher

import (
	"os"
	"testing"
)

func TestHomeAndShellAreThoseOfTheUser(t *testing.T) {
	t.Parallel()
	const passwd = "root:x:0:0:root:/root:/bin/bash\nbroken:x\nmei:x:1000:100:Mei,,,:/home/mei:/bin/zsh\n"
	for uid, want := range map[int]string{0: "/root /bin/bash", 1000: "/home/mei /bin/zsh", 7: " "} {
		home, shell := userEntry(passwd, uid)
		if got := home + " " + shell; got != want {
			t.Errorf("user %d has %q, want %q", uid, got, want)
		}
	}
	if os.Getuid() != currentUser().UID {
		t.Error("the current user is another")
	}
}

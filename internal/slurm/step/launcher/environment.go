package launcher

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/vc-batch/vc/internal/slurm/launchconfig"
)

// scriptEnvironment returns the script's environment. It consists of the container's variables, the submitted
// variables, and Slurm's variables.
func (l *launcher) scriptEnvironment(hosts []string) []string {
	exported, user := l.dirs.ReadExported(), currentUser()
	exported = slices.DeleteFunc(exported, func(entry string) bool { return strings.HasPrefix(entry, "VC_") }) // these variables identify the pod
	env := launchconfig.MergeVariables(
		launchconfig.LoginVariables(&l.spec, user), launchconfig.GPUVariables(&l.spec),
		launchconfig.MeetingVariables(&l.pod, hosts), launchconfig.MPIVariables(l.dirs.HostfilePath(), filepath.Join(l.dirs.ProgramDirectory(), launchconfig.RshName), os.Getuid() == 0),
		l.agent.Container, exported, launchconfig.SlurmVariables(&l.spec, &l.pod, hosts, l.start), launchconfig.IdentityVariables(user),
	)
	return launchconfig.MergeVariables(env, []string{"PATH=" + l.dirs.ProgramDirectory() + ":" + searchPath(env)})
}

// defaultPath is the PATH of a container whose image does not set one.
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

func searchPath(env []string) string {
	if path := launchconfig.VariableValue(env, "PATH"); path != "" {
		return path
	}
	return defaultPath
}

// loginVariables returns the environment variables that a script of a login shell (#!/bin/bash -l) needs in order to
// find srun. They are needed because such a shell reads /etc/profile, which resets PATH in most images. Afterwards,
// bash reads the file named by BASH_ENV, and other shells read .profile in HOME. Therefore, loginVariables writes a
// file that restores PATH and the previous value of BASH_ENV or HOME. Other scripts need no such variables.
func (l *launcher) loginVariables(program string, env []string) ([]string, error) {
	text, err := os.ReadFile(program)
	if err != nil {
		return nil, err
	}
	dir := filepath.Dir(l.dirs.ScriptPath())
	path := fmt.Sprintf("export PATH=%s:$PATH\n", quoteWord(l.dirs.ProgramDirectory()))
	switch shell := loginShell(string(text)); {
	case shell == "":
		return nil, nil
	case shell != "bash":
		own := filepath.Join(dir, "login-home")
		if err := os.MkdirAll(own, 0o755); err != nil {
			return nil, err
		}
		lines := "unset HOME\n"
		if home := launchconfig.VariableValue(env, "HOME"); home != "" {
			lines = fmt.Sprintf("export HOME=%s\n[ ! -r \"$HOME/.profile\" ] || . \"$HOME/.profile\"\n", quoteWord(home))
		}
		return []string{"HOME=" + own}, os.WriteFile(filepath.Join(own, ".profile"), []byte(lines+path), 0o644)
	}
	before := launchconfig.VariableValue(env, "BASH_ENV")
	lines := "unset BASH_ENV\n"
	if before != "" {
		lines = fmt.Sprintf("export BASH_ENV=%s\n[ ! -r \"$BASH_ENV\" ] || . \"$BASH_ENV\"\n", quoteWord(before))
	}
	file := filepath.Join(dir, "login")
	return []string{"BASH_ENV=" + file}, os.WriteFile(file, []byte(lines+path), 0o644)
}

// shells lists the supported login shells: bash, and shells that read .profile.
var shells = []string{"bash", "sh", "dash", "ash", "ksh", "mksh"}

// loginShell returns the name of the login shell that the first line of a script requests, or "" if it requests none.
func loginShell(script string) string {
	line, _, _ := strings.Cut(script, "\n")
	line, is := strings.CutPrefix(line, "#!")
	words := strings.Fields(line)
	at := slices.IndexFunc(words, func(word string) bool { return slices.Contains(shells, filepath.Base(word)) })
	if !is || at < 0 || !slices.ContainsFunc(words[at+1:], isLoginOption) {
		return ""
	}
	return filepath.Base(words[at])
}

// isLoginOption reports whether an option of a shell requests a login shell. Such an option is --login or contains the
// letter l.
func isLoginOption(word string) bool {
	if strings.HasPrefix(word, "--") {
		return word == "--login"
	}
	return strings.HasPrefix(word, "-") && strings.Contains(word, "l")
}

// quoteWord returns a word in single quotes, for use in a shell script.
func quoteWord(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

// passwdFile is the file that lists the users of the pod's system.
const passwdFile = "/etc/passwd"

// currentUser returns the user who runs this process. Home and Shell are empty if the image has no passwd file or the
// file does not list the user.
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

package step

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/vc-batch/vc/internal/slurm/launch"
)

// loginEnv is what a script of a login shell (#!/bin/bash -l) needs to find srun: such a shell reads /etc/profile, which in most images sets PATH anew. bash
// reads the file that BASH_ENV names after that; ours puts the path back, and what BASH_ENV was before. Other scripts get nothing.
func (l *launcher) loginEnv(program string, env []string) ([]string, error) {
	text, err := os.ReadFile(program)
	if err != nil {
		return nil, err
	}
	if !isLogin(string(text)) {
		return nil, nil
	}
	before := launch.Value(env, "BASH_ENV")
	lines := "unset BASH_ENV\n"
	if before != "" {
		lines = fmt.Sprintf("export BASH_ENV=%s\n[ ! -r \"$BASH_ENV\" ] || . \"$BASH_ENV\"\n", quoted(before))
	}
	lines += fmt.Sprintf("export PATH=%s:$PATH\n", quoted(l.dirs.bin()))
	file := filepath.Join(filepath.Dir(l.dirs.script()), "login")
	return []string{"BASH_ENV=" + file}, os.WriteFile(file, []byte(lines), 0o644)
}

// isLogin says whether the first line of a script asks for bash as a login shell.
func isLogin(script string) bool {
	line, _, _ := strings.Cut(script, "\n")
	line, is := strings.CutPrefix(line, "#!")
	words := strings.Fields(line)
	if !is || len(words) < 2 || !slices.ContainsFunc(words, func(word string) bool { return filepath.Base(word) == "bash" }) {
		return false
	}
	return slices.ContainsFunc(words[1:], func(word string) bool {
		return word == "--login" || strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--") && strings.Contains(word, "l")
	})
}

// quoted is a word for a shell.
func quoted(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

package slurm

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/usererror"
)

// linkOptions holds the options of `vcctl slurm install` and `uninstall`.
type linkOptions struct {
	f       *cli.Factory
	dir     string
	dryRun  cli.DryRun
	confirm cli.Confirm
	// binary is the target of the links.
	binary string
}

func newInstall(f *cli.Factory) *cobra.Command {
	return newLinks(f, (*linkOptions).installLinks, &cobra.Command{
		Use:   "install --dir DIR",
		Short: "Install sbatch, squeue, … as commands on this machine",
		Long: cli.FormatHelp(`
			Create links to this program with the names of Slurm's commands, so that scripts
			and programs that call sbatch run this program. Other programs are never
			overwritten. If Slurm itself is installed on PATH, no links are created, because
			the links would conflict with Slurm's commands. Links to another vcctl binary are
			replaced after confirmation.`),
		Example: f.FormatExamples(`
			# For your user
			vcctl slurm install --dir ~/bin

			# Preview
			vcctl slurm install --dir . --dry-run`),
	})
}

func newUninstall(f *cli.Factory) *cobra.Command {
	return newLinks(f, (*linkOptions).uninstallLinks, &cobra.Command{
		Use:   "uninstall --dir DIR",
		Short: "Remove the links created by install",
		Long: cli.FormatHelp(`
			Remove the links to this program with the names of Slurm's commands. Other files
			are not changed.`),
		Example: f.FormatExamples(`
			# Remove the links from the directory where they were installed
			vcctl slurm uninstall --dir ~/bin

			# Preview
			vcctl slurm uninstall --dir . --dry-run`),
	})
}

func newLinks(f *cli.Factory, run func(*linkOptions, context.Context) error, cmd *cobra.Command) *cobra.Command {
	o := &linkOptions{f: f}
	cmd.Args = cli.NoArgs(f)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if o.dir == "" {
			return cli.UsageError(f, cmd, "--dir is missing: specify the directory for the links")
		}
		if err := o.dryRun.Validate(); err != nil {
			return err
		}
		var err error
		if o.binary, err = os.Executable(); err != nil {
			return err
		}
		return run(o, cmd.Context())
	}
	cmd.Flags().StringVar(&o.dir, "dir", "", "Directory for the links, usually a directory on PATH")
	_ = cmd.RegisterFlagCompletionFunc("dir", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveFilterDirs
	})
	o.dryRun.AddFlag(cmd)
	o.confirm.AddFlag(cmd)
	return cmd
}

// installLinks creates all links. If one of them cannot be created, it restores the previous state.
func (o *linkOptions) installLinks(ctx context.Context) error {
	if err := o.checkLinks(); err != nil {
		return err
	}
	var old []string
	for _, name := range Programs {
		link := filepath.Join(o.dir, name)
		if target, err := os.Readlink(link); err == nil && target != o.binary {
			old = append(old, link+" -> "+target)
		}
	}
	if len(old) > 0 && !o.dryRun.IsDryRun() {
		if err := o.confirm.AskUser(ctx, o.f, "These links would be replaced", old); err != nil {
			return err
		}
	}
	var undo []func()
	for _, name := range Programs {
		link := filepath.Join(o.dir, name)
		before, _ := os.Readlink(link)
		if err := o.createLink(link); err != nil {
			for _, one := range undo {
				one()
			}
			return err
		}
		undo = append(undo, func() { o.restoreLink(link, before) })
	}
	fmt.Fprintf(o.f.Streams.Out, "%s in %s%s\n", strings.Join(Programs, ", "), o.dir, o.dryRun.MessageSuffix())
	dir, err := filepath.Abs(o.dir) // PATH entries must be absolute
	if err != nil {
		return err
	}
	if !slices.Contains(filepath.SplitList(o.f.Streams.Env("PATH")), dir) {
		o.f.Warnf("%s is not on PATH; to add it, run: export PATH=%s:$PATH", o.dir, dir)
	}
	return nil
}

// restoreLink restores the previous state of a link. before is the link's previous target, or empty if the link did not
// exist.
func (o *linkOptions) restoreLink(link, before string) {
	if now, err := os.Readlink(link); err != nil || now == before {
		return
	}
	_ = os.Remove(link) // the error that prevented the installation is reported instead
	if before != "" {
		_ = os.Symlink(before, link)
	}
}

// createLink creates one link. It replaces a link to another vcctl.
func (o *linkOptions) createLink(link string) error {
	if target, err := os.Readlink(link); o.dryRun.IsDryRun() || (err == nil && target == o.binary) {
		return nil
	}
	if o.isOurLink(link) {
		if err := os.Remove(link); err != nil {
			return linkPermissionError(link, err)
		}
	}
	if err := os.Symlink(o.binary, link); err != nil {
		return linkPermissionError(link, err)
	}
	return nil
}

func linkPermissionError(link string, err error) error {
	return usererror.Errorf("check that you have write permission for the directory", "%s: %v", link, errors.Unwrap(err))
}

// checkLinks reports all problems that would prevent creating the links.
func (o *linkOptions) checkLinks() error {
	info, err := os.Stat(o.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return usererror.Errorf("create it: mkdir -p "+o.dir, "--dir: directory %s does not exist", o.dir)
	}
	if err != nil || !info.IsDir() {
		return usererror.Errorf("specify a directory", "--dir: %s is not a directory", o.dir)
	}
	var problems []error
	for _, name := range Programs {
		link := filepath.Join(o.dir, name)
		if _, err := os.Lstat(link); !errors.Is(err, fs.ErrNotExist) && !o.isOurLink(link) {
			problems = append(problems, usererror.Errorf("choose another directory, or move the file", "%s exists and is not a link to vcctl", link))
		}
		if other := o.findElsewhere(name); other != "" {
			problems = append(problems, usererror.Errorf("Slurm is installed on this machine; use vcctl slurm "+name, "%s is on PATH and conflicts with the link: one would hide the other", other))
		}
	}
	return errors.Join(problems...)
}

// findElsewhere searches the other directories in PATH for a program with this name that is not a link to vcctl, and
// returns its path. It returns "" if none exists.
func (o *linkOptions) findElsewhere(name string) string {
	for _, dir := range filepath.SplitList(o.f.Streams.Env("PATH")) {
		file, err := exec.LookPath(filepath.Join(dir, name))
		if err == nil && filepath.Clean(dir) != filepath.Clean(o.dir) && !o.isOurLink(file) {
			return file
		}
	}
	return ""
}

// isOurLink reports whether a file is a link to this binary or to a file named vcctl.
func (o *linkOptions) isOurLink(file string) bool {
	target, err := os.Readlink(file)
	if err != nil {
		return false
	}
	switch filepath.Base(target) {
	case "vcctl", filepath.Base(o.binary): // this includes a link to the binary itself
		return true
	}
	return false
}

// uninstallLinks removes the links to this binary. It asks the user before removing links to another vcctl.
func (o *linkOptions) uninstallLinks(ctx context.Context) error {
	var gone, other []string
	for _, name := range Programs {
		link := filepath.Join(o.dir, name)
		if target, err := os.Readlink(link); err == nil && o.isOurLink(link) && target != o.binary {
			other = append(other, link+" -> "+target)
		}
	}
	if len(other) > 0 && !o.dryRun.IsDryRun() {
		if err := o.confirm.AskUser(ctx, o.f, "These links point to another vcctl binary", other); err != nil {
			return err
		}
	}
	for _, name := range Programs {
		link := filepath.Join(o.dir, name)
		if !o.isOurLink(link) {
			continue
		}
		if !o.dryRun.IsDryRun() {
			if err := os.Remove(link); err != nil {
				return linkPermissionError(link, err)
			}
		}
		gone = append(gone, name)
	}
	if len(gone) == 0 {
		return usererror.Errorf("specify the directory that you used with vcctl slurm install", "%s contains no links to vcctl", o.dir)
	}
	_, err := fmt.Fprintf(o.f.Streams.Out, "%s removed from %s%s\n", strings.Join(gone, ", "), o.dir, o.dryRun.MessageSuffix())
	return err
}

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
	return newLinks(f, (*linkOptions).install, &cobra.Command{
		Use:   "install --dir DIR",
		Short: "Install sbatch, squeue, … as commands on this machine",
		Long: cli.Text(`
			Make links to this program with the names of Slurm's commands, so that scripts
			and programs that call sbatch find it. No other program is overwritten, and where
			a Slurm is installed on PATH, nothing is done: two of them would be confused.
			Links to another vcctl are replaced when you say yes.`),
		Example: f.Examples(`
			# For yourself
			vcctl slurm install --dir ~/bin

			# What would be made
			vcctl slurm install --dir . --dry-run`),
	})
}

func newUninstall(f *cli.Factory) *cobra.Command {
	return newLinks(f, (*linkOptions).uninstall, &cobra.Command{
		Use:   "uninstall --dir DIR",
		Short: "Take away the links that install made",
		Long: cli.Text(`
			Take away the links to this program with the names of Slurm's commands. What is
			not such a link is left alone.`),
		Example: f.Examples(`
			# Where they were made
			vcctl slurm uninstall --dir ~/bin

			# What would go
			vcctl slurm uninstall --dir . --dry-run`),
	})
}

func newLinks(f *cli.Factory, run func(*linkOptions, context.Context) error, cmd *cobra.Command) *cobra.Command {
	o := &linkOptions{f: f}
	cmd.Args = cli.NoArgs(f)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if o.dir == "" {
			return cli.UsageError(f, cmd, "--dir is missing: in which directory are the links to be?")
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
	cmd.Flags().StringVar(&o.dir, "dir", "", "Directory of the links; it should be on PATH")
	_ = cmd.RegisterFlagCompletionFunc("dir", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveFilterDirs
	})
	o.dryRun.AddFlag(cmd)
	o.confirm.AddFlag(cmd)
	return cmd
}

// install creates all links, or none if it fails.
func (o *linkOptions) install(ctx context.Context) error {
	if err := o.check(); err != nil {
		return err
	}
	var old []string
	for _, name := range Programs {
		link := filepath.Join(o.dir, name)
		if target, err := os.Readlink(link); err == nil && target != o.binary {
			old = append(old, link+" -> "+target)
		}
	}
	if len(old) > 0 && !o.dryRun.Any() {
		if err := o.confirm.Ask(ctx, o.f, "These links would be replaced", old); err != nil {
			return err
		}
	}
	var undo []func()
	for _, name := range Programs {
		link := filepath.Join(o.dir, name)
		before, _ := os.Readlink(link)
		if err := o.link(link); err != nil {
			for _, one := range undo {
				one()
			}
			return err
		}
		undo = append(undo, func() { o.restore(link, before) })
	}
	fmt.Fprintf(o.f.Streams.Out, "%s in %s%s\n", strings.Join(Programs, ", "), o.dir, o.dryRun.Suffix())
	dir, err := filepath.Abs(o.dir) // PATH entries must be absolute
	if err != nil {
		return err
	}
	if !slices.Contains(filepath.SplitList(o.f.Streams.Env("PATH")), dir) {
		o.f.Warnf("%s is not on PATH: export PATH=%s:$PATH", o.dir, dir)
	}
	return nil
}

// restore undoes the change of a link. before is its previous target, empty if there was no link.
func (o *linkOptions) restore(link, before string) {
	if now, err := os.Readlink(link); err != nil || now == before {
		return
	}
	_ = os.Remove(link) // the first error is reported
	if before != "" {
		_ = os.Symlink(before, link)
	}
}

// link creates one link. It replaces a link to another vcctl.
func (o *linkOptions) link(link string) error {
	if target, err := os.Readlink(link); o.dryRun.Any() || err == nil && target == o.binary {
		return nil
	}
	if o.isOurs(link) {
		if err := os.Remove(link); err != nil {
			return notYours(link, err)
		}
	}
	if err := os.Symlink(o.binary, link); err != nil {
		return notYours(link, err)
	}
	return nil
}

func notYours(link string, err error) error {
	return cli.Errorf("is the directory yours to write to?", "%s: %v", link, errors.Unwrap(err))
}

// check reports everything that prevents the links.
func (o *linkOptions) check() error {
	info, err := os.Stat(o.dir)
	if err != nil || !info.IsDir() {
		return cli.Errorf("make it: mkdir -p "+o.dir, "--dir: %s is no directory", o.dir)
	}
	var problems []error
	for _, name := range Programs {
		link := filepath.Join(o.dir, name)
		if _, err := os.Lstat(link); !errors.Is(err, fs.ErrNotExist) && !o.isOurs(link) {
			problems = append(problems, cli.Errorf("choose another directory, or move it away", "%s is there and is not ours", link))
		}
		if other := o.elsewhere(name); other != "" {
			problems = append(problems, cli.Errorf("a Slurm is installed here; call ours as vcctl slurm "+name, "%s is on PATH: it would be shadowed, or shadow ours", other))
		}
	}
	return errors.Join(problems...)
}

// elsewhere returns the path of a program with this name in another directory of PATH that is not a link to vcctl, or
// "".
func (o *linkOptions) elsewhere(name string) string {
	for _, dir := range filepath.SplitList(o.f.Streams.Env("PATH")) {
		file, err := exec.LookPath(filepath.Join(dir, name))
		if err == nil && filepath.Clean(dir) != filepath.Clean(o.dir) && !o.isOurs(file) {
			return file
		}
	}
	return ""
}

// isOurs reports whether a file is a link to this binary or to a file named vcctl.
func (o *linkOptions) isOurs(file string) bool {
	target, err := os.Readlink(file)
	return err == nil && (target == o.binary || filepath.Base(target) == "vcctl" || filepath.Base(target) == filepath.Base(o.binary))
}

// uninstall removes the links to this binary. It asks the user before it removes links to another vcctl.
func (o *linkOptions) uninstall(ctx context.Context) error {
	var gone, other []string
	for _, name := range Programs {
		link := filepath.Join(o.dir, name)
		if target, err := os.Readlink(link); err == nil && o.isOurs(link) && target != o.binary {
			other = append(other, link+" -> "+target)
		}
	}
	if len(other) > 0 && !o.dryRun.Any() {
		if err := o.confirm.Ask(ctx, o.f, "These links lead to another vcctl", other); err != nil {
			return err
		}
	}
	for _, name := range Programs {
		link := filepath.Join(o.dir, name)
		if !o.isOurs(link) {
			continue
		}
		if !o.dryRun.Any() {
			if err := os.Remove(link); err != nil {
				return notYours(link, err)
			}
		}
		gone = append(gone, name)
	}
	if len(gone) == 0 {
		return cli.Errorf("name the directory that install was given", "there are no links of ours in %s", o.dir)
	}
	_, err := fmt.Fprintf(o.f.Streams.Out, "%s removed from %s%s\n", strings.Join(gone, ", "), o.dir, o.dryRun.Suffix())
	return err
}

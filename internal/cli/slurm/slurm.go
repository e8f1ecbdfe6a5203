// Package slurm assembles Slurm's commands, such as sbatch and squeue. They run as `vcctl slurm NAME`, and under their
// own names through links to this binary, which `vcctl slurm install` creates. The packages below internal/slurm, which
// are pure, define the semantics of the commands. The packages below this one connect the commands to the cluster and
// the terminal: submit, listing, control and attach implement the programs, and program and clusterdata contain what
// these packages have in common.
//
//	In:   command lines in Slurm's syntax (internal/slurm/getopt), environment, kubeconfig
//	Out:  output in Slurm's format on Streams.Out; `sbatch: error: …` and hints on Streams.Err
//
// # Invariants
//
//   - A command that fails has printed the error itself, in Slurm's format. It returns a cli.ExitStatus.
package slurm

import (
	"github.com/spf13/cobra"

	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/slurm/program"
	"github.com/vc-batch/vc/internal/cli/slurm/submit"
)

// New returns the parent command of all Slurm commands.
func New(f *cli.Factory) *cobra.Command {
	cmd := cli.NewCommandGroup(f, "slurm", "Slurm's commands: sbatch, squeue and others", `
		Slurm's commands, for users and programs that depend on them. To run a command by
		its own name, for example sbatch, create links to this program with 'vcctl slurm
		install --dir DIR'. As in Slurm, options are read from the script, the environment
		and the command line. Options that do not apply here are either rejected with a
		reason or ignored; -v reports ignored options.

		Select the cluster before the word slurm, for example 'vcctl --context prod slurm
		squeue', or with KUBECONFIG and the VCCTL_… variables.`)
	for _, p := range append(programs, submit.Translate) {
		cmd.AddCommand(program.NewCommand(f, p))
	}
	cmd.AddCommand(newInstall(f), newUninstall(f))
	return cmd
}

// ParseConnection parses the vcctl flags before the word slurm and returns the words that begin with slurm. It returns
// other command lines unchanged. Slurm's commands parse their own options, because options such as -n have a different
// meaning for them.
func ParseConnection(root *cobra.Command, args []string) ([]string, error) {
	flags := root.PersistentFlags()
	for at := 0; at < len(args); at++ {
		word := args[at]
		switch {
		case word == "slurm":
			return args[at:], flags.Parse(args[:at])
		case word == "--" || len(word) < 2 || word[0] != '-':
			return args, nil
		case takesNextWord(root, word):
			at++
		}
	}
	return args, nil
}

// takesNextWord reports whether a flag of the root command takes the next word as its value.
func takesNextWord(root *cobra.Command, word string) bool {
	flags := root.PersistentFlags()
	if word[1] == '-' {
		flag := flags.Lookup(word[2:])
		return flag != nil && flag.NoOptDefVal == ""
	}
	flag := flags.ShorthandLookup(word[len(word)-1:])
	return len(word) == 2 && flag != nil && flag.NoOptDefVal == ""
}

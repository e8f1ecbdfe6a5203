// Package completion implements `vcctl completion`, which prints scripts that make shells complete commands, flags
// and the names of live objects.
package completion

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/vc-batch/vc/internal/cli"
)

// New returns `vcctl completion`.
func New(f *cli.Factory) *cobra.Command {
	cmd := cli.NewCommandGroup(f, "completion", "Print the completion script for a shell", `
		Print the script that enables shell completion for commands, flags, and the
		current names of jobs, queues, namespaces and contexts.`)
	for _, shell := range []struct {
		name, load, keep, note string
		write                  func(root *cobra.Command, out io.Writer) error
	}{
		{"bash", "source <(vcctl completion bash)", "vcctl completion bash > ~/.local/share/bash-completion/completions/vcctl",
			" The script requires the bash-completion package.",
			func(root *cobra.Command, out io.Writer) error { return root.GenBashCompletionV2(out, true) }},
		{"zsh", "source <(vcctl completion zsh)", "vcctl completion zsh > ~/.zfunc/_vcctl", "",
			func(root *cobra.Command, out io.Writer) error { return root.GenZshCompletion(out) }},
		{"fish", "vcctl completion fish | source", "vcctl completion fish > ~/.config/fish/completions/vcctl.fish", "",
			func(root *cobra.Command, out io.Writer) error { return root.GenFishCompletion(out, true) }},
		{"powershell", "vcctl completion powershell | Out-String | Invoke-Expression", "vcctl completion powershell >> $PROFILE", "",
			func(root *cobra.Command, out io.Writer) error { return root.GenPowerShellCompletionWithDesc(out) }},
	} {
		cmd.AddCommand(&cobra.Command{
			Use:     shell.name,
			Short:   "Print the completion script for " + shell.name,
			Long:    cli.FormatHelp("Print the completion script for " + shell.name + "." + shell.note),
			Example: "  # For this shell only\n  " + shell.load + "\n\n  # For every new shell\n  " + shell.keep,
			Args:    cli.NoArgs(f),
			RunE: func(cmd *cobra.Command, _ []string) error {
				return shell.write(cmd.Root(), f.Streams.Out)
			},
		})
	}
	return cmd
}

package cli

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// Confirm is the --yes flag and the question it answers.
type Confirm struct {
	// Yes answers every question with yes.
	Yes bool
}

// AddFlag adds --yes.
func (c *Confirm) AddFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVarP(&c.Yes, "yes", "y", false, "Do not ask, even when more than the named objects is affected")
}

// Ask shows what would happen and asks whether to go on. Without a terminal
// and without --yes it refuses at once: a script never hangs on a question.
func (c *Confirm) Ask(f *Factory, what string, effects []string) error {
	if c.Yes {
		return nil
	}
	s := f.Streams
	if !s.InTTY {
		return Errorf("add --yes when this is meant; it would affect: "+summary(effects),
			"%s: not confirmed, and there is no terminal to ask on", what)
	}
	fmt.Fprintf(s.Err, "%s:\n", what)
	for _, effect := range effects {
		fmt.Fprintf(s.Err, "  %s\n", effect)
	}
	fmt.Fprint(s.Err, "Go on? [y/N] ")
	answer, err := bufio.NewReader(s.In).ReadString('\n')
	if err != nil && err != io.EOF {
		return err
	}
	if !strings.HasSuffix(answer, "\n") {
		fmt.Fprintln(s.Err)
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	return Cancelled
}

// summary keeps a list of effects to one line.
func summary(effects []string) string {
	const most = 5
	if len(effects) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(effects[:most], ", "), len(effects)-most)
	}
	return strings.Join(effects, ", ")
}

package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vc-batch/vc/internal/printable"
	"github.com/vc-batch/vc/internal/usererror"
)

// Confirm holds the --yes flag and asks for confirmation.
type Confirm struct {
	// Yes skips the prompt.
	Yes bool
}

// AddFlag adds --yes.
func (c *Confirm) AddFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVarP(&c.Yes, "yes", "y", false, "Skip the confirmation prompt")
}

// AskUser shows the effects of an action and asks the user for confirmation. If there is no terminal and --yes is
// missing, it returns an error immediately, so that scripts never hang. AskUser also returns when ctx is done, even if
// the user has not pressed Enter.
func (c *Confirm) AskUser(ctx context.Context, f *Factory, what string, effects []string) error {
	if c.Yes {
		return nil
	}
	s := f.Streams
	if !s.InTTY {
		return usererror.Errorf("add --yes to confirm; this would affect: "+summarizeEffects(effects),
			"%s: confirmation is required, but the standard input is not a terminal", what)
	}
	fmt.Fprintf(s.Err, "%s:\n", what)
	for _, effect := range effects {
		fmt.Fprintf(s.Err, "  %s\n", printable.EscapeLine(effect))
	}
	fmt.Fprint(s.Err, "Continue? [y/N] ")
	answer, err := ReadLine(ctx, s.In)
	if err != nil && !errors.Is(err, io.EOF) {
		fmt.Fprintln(s.Err)
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

// ReadLine reads a line from in. If ctx is done first, it returns and leaves the reading goroutine behind, because
// the program is about to exit.
func ReadLine(ctx context.Context, in io.Reader) (string, error) {
	type answer struct {
		line string
		err  error
	}
	given := make(chan answer, 1)
	go func() {
		line, err := bufio.NewReader(in).ReadString('\n')
		given <- answer{line, err}
	}()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case one := <-given:
		return one.line, one.err
	}
}

// summarizeEffects shortens a list of effects to a single line.
func summarizeEffects(effects []string) string {
	const most = 5
	if len(effects) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(effects[:most], ", "), len(effects)-most)
	}
	return strings.Join(effects, ", ")
}

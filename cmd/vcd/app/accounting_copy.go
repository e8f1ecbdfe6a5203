package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vc-batch/vc/internal/accounting"
	"github.com/vc-batch/vc/internal/accounting/store"
	"github.com/vc-batch/vc/internal/daemon"
	"github.com/vc-batch/vc/internal/usererror"
)

// newAccounting returns the command that records jobs, with the commands that copy its database.
func newAccounting() *cobra.Command {
	cmd := newPart("accounting", "Record jobs in a database, and answer queries about them", recording, daemon.Accounting)
	cmd.AddCommand(
		newCopyCommand("backup [FILE]", "Write all records to a file, or to the standard output",
			"The file does not depend on the kind of database. Jobs can be recorded at the same time.",
			"vcd accounting backup --accounting-store sqlite:/var/lib/vc/accounting history.zst", writeBackup),
		newCopyCommand("restore [FILE]", "Read the records of a backup into an empty database",
			"Without FILE, the backup is read from the standard input. No other process may use the database at the same time.",
			"vcd accounting restore --accounting-store postgres://vc@db/vc history.zst", restoreBackup),
		newExport(),
	)
	return cmd
}

// newCopyCommand returns a command that copies the database to or from a file.
func newCopyCommand(use, short, long, example string, run func(cmd *cobra.Command, address, file string) error) *cobra.Command {
	var address string
	cmd := &cobra.Command{
		Use: use, Short: short, Long: short + ".\n\n" + long, Example: "  " + example,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return &usageError{fmt.Errorf("unexpected argument %q", args[1]), cmd.CommandPath()}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			address, err := storeAddress(address)
			if err != nil {
				return err
			}
			file := ""
			if len(args) == 1 {
				file = args[0]
			}
			return run(cmd, address, file)
		},
	}
	bindStoreAddress(cmd, &address)
	return cmd
}

// bindStoreAddress adds the flag for the address of the database.
func bindStoreAddress(cmd *cobra.Command, address *string) {
	cmd.Flags().StringVar(address, "accounting-store", "", "database of the records of jobs: sqlite:DIRECTORY or postgres://USER:PASSWORD@HOST/DATABASE; by default, $"+storeVariable)
}

// storeAddress returns the address of the database, from the flag or the environment variable.
func storeAddress(flag string) (string, error) {
	address := cmp.Or(flag, strings.TrimSpace(os.Getenv(storeVariable)))
	if address == "" {
		return "", usererror.Errorf("specify sqlite:DIRECTORY or postgres://USER@HOST:PORT/DATABASE", "--accounting-store or $%s is required", storeVariable)
	}
	return address, nil
}

// writeBackup writes all records to a file, which must not exist. After an error, it leaves no file.
func writeBackup(cmd *cobra.Command, address, file string) error {
	records, err := store.OpenForReading(cmd.Context(), address)
	if err != nil {
		return err
	}
	defer records.Close()
	if file == "" {
		return records.Backup(cmd.Context(), cmd.OutOrStdout())
	}
	to, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return usererror.Wrapf("choose another file, or remove this one", "backup: %v", err)
	}
	if err != nil {
		return usererror.Wrapf("choose a file in an existing directory", "backup: %v", err)
	}
	if err := writeAndClose(cmd.Context(), records, to); err != nil {
		return errors.Join(err, os.Remove(file))
	}
	return nil
}

func writeAndClose(ctx context.Context, records accounting.Store, to *os.File) error {
	err := records.Backup(ctx, to)
	if err == nil {
		err = to.Sync()
	}
	return errors.Join(err, to.Close())
}

// restoreBackup reads a backup into an empty database.
func restoreBackup(cmd *cobra.Command, address, file string) error {
	var from io.Reader = cmd.InOrStdin()
	if file != "" {
		opened, err := os.Open(file)
		if err != nil {
			return usererror.Wrapf("specify a file that vcd accounting backup has written", "restore: %v", err)
		}
		defer opened.Close()
		from = opened
	}
	records, err := store.Open(cmd.Context(), address)
	if err != nil {
		return err
	}
	return errors.Join(records.Restore(cmd.Context(), from), records.Close())
}

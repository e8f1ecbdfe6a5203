package app

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/vc-batch/vc/internal/accounting"
	"github.com/vc-batch/vc/internal/accounting/export"
	"github.com/vc-batch/vc/internal/accounting/store"
	"github.com/vc-batch/vc/internal/usererror"
)

// monthFormat is the format of --month.
const monthFormat = "2006-01"

// newExport returns the command that writes the records of a month to a Parquet file.
func newExport() *cobra.Command {
	var address, month, directory string
	const short = "Write the records of a month to a Parquet file"
	cmd := &cobra.Command{
		Use: "export --month YYYY-MM --output DIR", Short: short,
		Long: short + ` for other programs, and print its path.

A month contains the attempts that ended in it, in UTC. The file is named
records-YYYY-MM.parquet. If the directory has a file of the month with other records,
a number is added to the name. Jobs can be recorded at the same time.`,
		Example: "  vcd accounting export --accounting-store sqlite:/var/lib/vc/accounting --month 2026-08 --output /archive",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return &usageError{fmt.Errorf("unexpected argument %q", args[0]), cmd.CommandPath()}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			start, err := parseMonth(month)
			if err != nil {
				return err
			}
			if directory == "" {
				return usererror.Errorf("specify the directory of the file", "--output is required")
			}
			address, err := storeAddress(address)
			if err != nil {
				return err
			}
			return exportMonth(cmd, address, start, directory)
		},
	}
	cmd.Flags().StringVar(&month, "month", "", "month of the records, in the form YYYY-MM")
	cmd.Flags().StringVar(&directory, "output", "", "directory of the file; it is created if it is missing")
	bindStoreAddress(cmd, &address)
	return cmd
}

// parseMonth parses --month.
func parseMonth(text string) (time.Time, error) {
	const hint = "use the form YYYY-MM, for example 2026-08"
	if text == "" {
		return time.Time{}, usererror.Errorf(hint, "--month is required")
	}
	start, err := time.Parse(monthFormat, text)
	if err != nil {
		return time.Time{}, usererror.Errorf(hint, "--month %q is not a month", text)
	}
	return start, nil
}

// exportMonth writes the file and prints its path.
func exportMonth(cmd *cobra.Command, address string, month time.Time, directory string) error {
	records, err := store.OpenForReading(cmd.Context(), address)
	if err != nil {
		return err
	}
	result, err := export.Month(cmd.Context(), records, month, directory)
	if err == nil && result.Records == 0 {
		err = noRecords(cmd, records, month)
	}
	if err := errors.Join(err, records.Close()); err != nil {
		return err
	}
	_, err = fmt.Fprintln(cmd.OutOrStdout(), result.Path)
	return err
}

// noRecords returns the error about a month without records.
func noRecords(cmd *cobra.Command, records accounting.Store, month time.Time) error {
	months, err := records.Months(cmd.Context())
	if err != nil {
		return err
	}
	hint := "the database has no records at all"
	if len(months) > 0 {
		hint = fmt.Sprintf("the database has records from %s to %s", months[0].Format(monthFormat), months[len(months)-1].Format(monthFormat))
	}
	return usererror.Errorf(hint, "month %s has no records", month.Format(monthFormat))
}

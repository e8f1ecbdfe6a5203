package listing

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/vc-batch/vc/internal/accounting"
	"github.com/vc-batch/vc/internal/cli/slurm/clusterdata"
	"github.com/vc-batch/vc/internal/cli/slurm/program"
	"github.com/vc-batch/vc/internal/slurm/optionvalue"
)

// addHistory adds the recorded jobs that sacct may list. Without an accounting database, it says since when ended jobs are
// deleted.
func addHistory(ctx context.Context, c *program.Call, v *sacctView, read *clusterdata.View) error {
	all := accounting.Query{To: v.window.To, LatestOnly: !c.Parsed.Has("duplicates")}
	if v.window.From.Unix() > 0 {
		all.From = v.window.From
	}
	if !slices.ContainsFunc(v.filter.Users, isNumber) { // records contain names only
		all.Users = v.filter.Users
	}
	for _, query := range historyQueries(all, v.filter.Jobs) {
		err := addRecordedJobs(ctx, c, read, query)
		if errors.Is(err, clusterdata.ErrNoHistory) {
			return noteRetention(ctx, c, v)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// addRecordedJobs adds the recorded jobs that a query selects. If the accounting database does not answer, it warns the
// user about what is missing.
func addRecordedJobs(ctx context.Context, c *program.Call, read *clusterdata.View, query accounting.Query) error {
	err := read.AddHistory(ctx, query)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, clusterdata.ErrNoHistory):
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	}
	c.PrintNotef("warning", "jobs that were deleted are missing, because the accounting database cannot be read: %v", err)
	return nil
}

// historyQueries returns the queries for the jobs in a list: one for those specified by number, and one for those specified
// by name. An empty list selects all jobs.
func historyQueries(all accounting.Query, refs []optionvalue.Job) []accounting.Query {
	if len(refs) == 0 {
		return []accounting.Query{all}
	}
	byNumber, byName := all, all
	for _, ref := range refs {
		if ref.ID != 0 {
			byNumber.JobIDs = append(byNumber.JobIDs, ref.ID)
		} else {
			byName.Names = append(byName.Names, ref.Name)
		}
	}
	var queries []accounting.Query
	if len(byNumber.JobIDs) > 0 {
		queries = append(queries, byNumber)
	}
	if len(byName.Names) > 0 {
		queries = append(queries, byName)
	}
	return queries
}

func isNumber(text string) bool {
	_, err := strconv.ParseUint(text, 10, 64)
	return err == nil
}

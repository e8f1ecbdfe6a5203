package jobrow

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/widget"
)

// TestRowsThatAreKeptSortedAreThoseThatSortingMakes adds, changes and deletes jobs at random, and changes which jobs
// the user sees, and their order.
func TestRowsThatAreKeptSortedAreThoseThatSortingMakes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var kept Sorted
		reversed := func(a, b Row) int { return CompareDefault(b, a) }
		orders := []func(a, b Row) int{CompareDefault, reversed}
		order := widget.Order[Row]{Compare: CompareDefault}
		jobs := map[int]*snapshot.Job{}
		ctx := &screenapi.Context{User: "ada"}
		for range rapid.IntRange(1, 8).Draw(t, "snapshots") {
			for range rapid.IntRange(0, 6).Draw(t, "changes") {
				at := rapid.IntRange(0, 30).Draw(t, "job")
				if rapid.Bool().Draw(t, "gone") {
					delete(jobs, at)
					continue
				}
				jobs[at] = &snapshot.Job{
					Object: &batchv1alpha1.Job{}, UID: types.UID(fmt.Sprint(at)), Name: fmt.Sprint("job-", at%20), Namespace: fmt.Sprint("team-", at%2), User: rapid.SampledFrom([]string{"ada", "bob"}).Draw(t, "user"),
					Queue: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "queue"), State: rapid.SampledFrom([]string{"R", "PD", "CD"}).Draw(t, "state"),
					Priority: rapid.Int32Range(0, 2).Draw(t, "priority"), Position: rapid.Int32Range(0, 3).Draw(t, "position"), Submitted: time.Unix(rapid.Int64Range(0, 3).Draw(t, "submitted"), 0),
				}
			}
			if rapid.Bool().Draw(t, "look at others") {
				ctx.Namespace, ctx.Mine = rapid.SampledFrom([]string{"", "team-0"}).Draw(t, "namespace"), rapid.Bool().Draw(t, "mine")
			}
			ctx.Snap = &snapshot.Snapshot{}
			for _, job := range jobs {
				ctx.Snap.Jobs = append(ctx.Snap.Jobs, job)
			}
			slices.SortFunc(ctx.Snap.Jobs, func(a, b *snapshot.Job) int {
				return slices.Compare([]string{a.Namespace, a.Name, string(a.UID)}, []string{b.Namespace, b.Name, string(b.UID)})
			})
			if rapid.Bool().Draw(t, "another order") {
				order.Serial++
				order.Compare = rapid.SampledFrom(orders).Draw(t, "order")
			}
			wanted := RowsOfJobs(JobsToShow(ctx, ctx.Snap.Jobs), ctx.Now, nil)
			slices.SortFunc(wanted, order.Compare)
			if diff := cmp.Diff(ids(wanted), ids(kept.CurrentRows(ctx, order))); diff != "" {
				t.Fatalf("the rows are others (-wanted +kept):\n%s", diff)
			}
			for i, row := range kept.CurrentRows(ctx, order) {
				if row != wanted[i] {
					t.Fatalf("row %d is of a job as it was", i)
				}
			}
		}
	})
}

func ids(rows []Row) []string {
	all := []string{}
	for _, row := range rows {
		all = append(all, UniqueID(row))
	}
	return all
}

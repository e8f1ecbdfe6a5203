package policy

import (
	"go/ast"
	"slices"
	"testing"
)

// pure lists the directories of code without side effects, whose results depend only on its arguments.
var pure = []string{
	"api", "internal/model", "internal/scheduler", "internal/explain", "internal/fairtree", "internal/jobstatus", "internal/jobtrace", "internal/queueusage", "internal/nodecapacity", "internal/snapshot",
	"internal/tui/canvas", "internal/tui/theme", "internal/tui/screenapi", "internal/tui/widget", "internal/tui/filter", "internal/tui/jobrow", "internal/tui/noderow",
	"internal/tui/queuerow", "internal/tui/jobactions", "internal/tui/screens",
	"internal/slurm/submission", "internal/slurm/timeformat", "internal/slurm/directive", "internal/slurm/podsetup", "internal/usererror", "internal/slurm/slurmerror", "internal/slurm/getopt", "internal/slurm/hostlist", "internal/slurm/tableformat",
	"internal/slurm/profile", "internal/slurm/listrow", "internal/slurm/request", "internal/slurm/sacct", "internal/slurm/scontrol", "internal/slurm/sinfo", "internal/slurm/sprio",
	"internal/slurm/sacctmgr", "internal/slurm/squeue", "internal/slurm/sshare", "internal/slurm/sstat", "internal/slurm/state", "internal/slurm/translate", "internal/slurm/optionvalue",
}

// impure lists exceptions in these directories.
var impure = []string{"internal/scheduler/kube"}

// impureCalls are calls whose results depend on more than their arguments.
var impureCalls = map[string][]string{
	"time": {"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"},
	"rand": {"Int", "Intn", "IntN", "N", "Float64", "Perm", "Shuffle", "Read"},
	"klog": {"Background", "FromContext", "V", "Info", "InfoS", "Error", "ErrorS", "Warning", "Fatal"}, // klog.Logger{} is silent
	"os":   {"Getenv", "ReadFile", "Open", "Create"},
}

func TestDecidingCodeOnlyDecides(t *testing.T) {
	t.Parallel()
	for _, s := range everySource(t) {
		if s.test || !underAny(s.dir, pure) || underAny(s.dir, impure) || ast.IsGenerated(s.file) {
			continue
		}
		ast.Inspect(s.file, func(node ast.Node) bool {
			switch n := node.(type) {
			case *ast.GoStmt:
				t.Errorf("%s: starts a goroutine", s.fset.Position(n.Pos()))
			case *ast.SelectStmt:
				t.Errorf("%s: selects among channels", s.fset.Position(n.Pos()))
			case *ast.SelectorExpr:
				if pkg, ok := n.X.(*ast.Ident); ok && slices.Contains(impureCalls[pkg.Name], n.Sel.Name) {
					t.Errorf("%s: uses %s.%s", s.fset.Position(n.Pos()), pkg.Name, n.Sel.Name)
				}
			}
			return true
		})
	}
}

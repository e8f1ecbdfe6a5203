package screens_test

import (
	"strings"
	"testing"

	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/screens"
	"github.com/vc-batch/vc/test/tuitest"
)

// wanted is the table of keys in the design: what each key does, and on which screens; "" means everywhere.
var wanted = []struct{ screens, keys string }{
	{"", "?:help /:filter ::command 1:overview 2:jobs 3:queues 4:nodes 5:explain esc:back M:mine 0:all_namespaces y:copy z:undo ctrl+l:redraw q:quit ctrl+c:quit"},
	{"overview jobs job queues nodes explain events", "up:up k:up down:down j:down pgup:page_up ctrl+b:page_up pgdown:page_down ctrl+f:page_down home:first end:last G:last"},
	// g moves to the first row, unless the design uses it for grouping.
	{"overview job queues explain events", "g:top"},
	{"jobs nodes", "g:group"},
	{"overview jobs queues nodes events", "S:sort c:columns d:describe Y:yaml enter"},
	{"overview jobs nodes", "s:shell"},
	// An uppercase letter sorts by a column, unless the screen uses it for something else.
	{"overview jobs", "N:sort_name Q:sort_queue U:sort_user P:sort_prio T:sort_st"},
	{"nodes", "N:sort_node T:sort_state O:sort_pods"},
	{"queues", "N:sort_queue A:sort_alloc"},
	{"document", "d:describe Y:yaml n:next_match N:match_before"},
	{"overview jobs job nodes", "space:mark v:range ctrl+a:mark_all"},
	{"overview jobs job explain", "x:cancel ctrl+p:priority ctrl+d:delete p:suspend r:resume R:requeue h:hold u:release"},
	{"overview jobs job", "l:logs w:why"},
	{"overview queues nodes", "m"},
	// s opens the summary here, and a opens a shell. f shows failed pods, as in the design's frames, so F follows the log.
	{"job", "s:summary P:pods e:events l:logs Y:yaml w:why a:attach tab:pane n:next_match N:match_before f:failed_only F:follow S:sort o:output_file enter"},
	{"events", "enter:job e:close"},
	{"overview queues", "t:history"},
	{"jobs job", "t:tree"},
	{"tree", "enter:log_or_fold t:close d:describe Y:yaml s:shell w:why c:columns x:cancel"},
	{"history", "m:resource t:close"},
	{"queues", "o:open C:close e:edit"},
	{"nodes", "C:cordon D:drain H:heat_map enter:pods"},
	{"explain", "n:next_job enter:nodes o:job"},
}

func TestTheKeysOfTheDesign(t *testing.T) {
	t.Parallel()
	there := map[string]string{} // by screen and key
	for _, binding := range tuitest.Start(t, screens.AllScreenSpecs(), "empty", tuitest.Size{W: 120, H: 40}).AllBindings() {
		for _, key := range binding.KeysWithAliases() {
			there[binding.Screen+" "+key] = strings.ReplaceAll(binding.Name, " ", "_")
		}
	}
	for _, row := range wanted {
		on := strings.Fields(row.screens)
		if row.screens == "" {
			on = []string{screenapi.Everywhere}
		}
		for _, name := range on {
			for _, pair := range strings.Fields(row.keys) {
				at := max(strings.LastIndex(pair, ":"), 0)
				key, want := pair[:at], pair[at+1:]
				if at == 0 {
					key, want = pair, ""
				}
				if got, ok := there[name+" "+key]; !ok || want != "" && got != want {
					t.Errorf("%s: key %s is %q, want %q", name, key, got, want)
				}
			}
		}
	}
}

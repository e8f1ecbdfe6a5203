package monitoring

import "fmt"

// Dashboard is a Grafana dashboard.
type Dashboard struct {
	// Name is the name of its file and the end of its UID.
	Name, Title, Description string
	// HasQueues adds a choice of queues, which expressions use as queue_name=~"$queue". The queue root is not a choice:
	// it includes all queues, so a sum over all queues would count everything twice.
	HasQueues bool
	Sections  []Section
}

// Section is a row of panels under a heading.
type Section struct {
	Title  string
	Panels []Panel
}

// Unit is a unit of Grafana.
type Unit string

// The units of panels.
const (
	Count      Unit = "none"
	Seconds    Unit = "s"
	Bytes      Unit = "bytes"
	Fraction   Unit = "percentunit"
	PerSecond  Unit = "ops"
	CPUs       Unit = "cores"
	OnOrOff    Unit = "bool_on_off"
	Timestamps Unit = "dateTimeFromNow"
)

// Panel is a chart of one or more expressions.
type Panel struct {
	Title string
	// Help describes what to look for.
	Help    string
	Unit    Unit
	Queries []Query
}

// Query is an expression in PromQL. Legend is a template such as {{queue_name}}.
type Query struct {
	Expr   string
	Legend string
}

// rate is the range of all rates. Grafana replaces it by a range that fits the interval at which metrics are read.
const rate = "$__rate_interval"

// newQuantileQueries returns a query for each quantile of a histogram.
func newQuantileQueries(histogram, selector string) []Query {
	var queries []Query
	for _, q := range []struct{ value, name string }{{"0.5", "50 %"}, {"0.95", "95 %"}, {"0.99", "99 %"}} {
		queries = append(queries, newQuantileQuery(histogram, selector, q.value, "le", q.name))
	}
	return queries
}

// newQuantileQueryBy returns a query for a quantile of a histogram by a label. It has only one quantile, because with
// several quantiles of many queues or webhooks, a chart is not readable.
func newQuantileQueryBy(label, histogram, selector, quantile string) []Query {
	return []Query{newQuantileQuery(histogram, selector, quantile, "le, "+label, "{{"+label+"}}")}
}

func newQuantileQuery(histogram, selector, quantile, labels, legend string) Query {
	return Query{Expr: fmt.Sprintf("histogram_quantile(%s, sum by (%s) (rate(%s_bucket%s[%s])))", quantile, labels, histogram, selector, rate), Legend: legend}
}

// newRatePanel returns a panel with the rate of a counter by a label.
func newRatePanel(title, help, counter, selector, by string) Panel {
	return Panel{Title: title, Help: help, Unit: PerSecond, Queries: []Query{{
		Expr: fmt.Sprintf("sum by (%s) (rate(%s%s[%s]))", by, counter, selector, rate), Legend: "{{" + by + "}}",
	}}}
}

// newQueuePanel returns a panel with a gauge of each chosen queue. Both replicas of the scheduler have the gauge, and only that of
// the leader changes, so the panel shows the maximum.
func newQueuePanel(title, help string, unit Unit, gauge string) Panel {
	return Panel{Title: title, Help: help, Unit: unit, Queries: []Query{{
		Expr: "max by (queue_name) (" + gauge + `{queue_name=~"$queue"})`, Legend: "{{queue_name}}",
	}}}
}

// Dashboards returns the dashboards.
func Dashboards() []Dashboard {
	return []Dashboard{queuesDashboard(), schedulerDashboard(), controllersDashboard()}
}

func queuesDashboard() Dashboard {
	const ofQueue = `{queue_name=~"$queue"}`
	cpu := func(name, legend string) Query {
		return Query{Expr: fmt.Sprintf(`sum(max by (queue_name) (volcano_queue_%s_milli_cpu{queue_name=~"$queue"})) / 1000`, name), Legend: legend}
	}
	memory := func(name, legend string) Query {
		return Query{Expr: fmt.Sprintf(`sum(max by (queue_name) (volcano_queue_%s_memory_bytes{queue_name=~"$queue"}))`, name), Legend: legend}
	}
	others := func(name, legend string) Query {
		return Query{Expr: fmt.Sprintf(`sum by (resource) (max by (queue_name, resource) (volcano_queue_%s_scalar_resources{queue_name=~"$queue"}))`, name), Legend: "{{resource}} " + legend}
	}
	return Dashboard{
		Name: "queues", Title: "vc: queues", HasQueues: true,
		Description: "What the queues use, what they deserve, how long their jobs wait, and which queue evicts pods of which.",
		Sections: []Section{
			{"Resources", []Panel{
				{"CPU", "Allocated CPUs of the chosen queues, beside what they deserve and requested. Choose either a parent or its children: a parent includes them.", CPUs,
					[]Query{cpu("allocated", "allocated"), cpu("deserved", "deserved"), cpu("request", "requested")}},
				{"Memory", "The same for memory.", Bytes, []Query{memory("allocated", "allocated"), memory("deserved", "deserved"), memory("request", "requested")}},
				{"Other resources", "Devices and other resources.", Count, []Query{others("allocated", "allocated"), others("deserved", "deserved")}},
				newQueuePanel("Share", "Used part of the deserved share, for the scarcest resource. Above 100 %, the queue borrows from others.", Fraction, "volcano_queue_share"),
			}},
			{"Jobs", []Panel{
				newQueuePanel("Pending", "Gangs that are not admitted to their queue yet.", Count, "volcano_queue_pod_group_pending_count"),
				newQueuePanel("Admitted", "Gangs that are admitted and wait for nodes.", Count, "volcano_queue_pod_group_inqueue_count"),
				newQueuePanel("Running", "Gangs that run.", Count, "volcano_queue_pod_group_running_count"),
				{"Waiting time", "Time from the creation of a gang until its minimum is scheduled. 95 % of the gangs wait for less.", Seconds, newQuantileQueryBy("queue_name", "vc_queue_wait_seconds", ofQueue, "0.95")},
				newRatePanel("Ended jobs", "By phase. Failed jobs are worth a look: vcctl job list --phase Failed.", "vc_jobs_ended_total", ofQueue, "phase"),
				{"Error of estimated starts", "Actual minus estimated start, for gangs that waited. Above zero: time limits are too long, or urgent jobs keep arriving.", Seconds,
					newQuantileQueries("vc_estimated_start_error_seconds", ofQueue)},
			}},
			{"Evictions", []Panel{
				{"Evicted pods", "By the queue that lost them and the queue that gained. A steady rate may mean that queues compete.", PerSecond, []Query{{
					Expr: "sum by (queue_name, preemptor_queue) (rate(vc_evictions_total" + ofQueue + "[" + rate + "]))", Legend: "{{queue_name}} → {{preemptor_queue}}",
				}}},
				newRatePanel("Evicted pods by action", "preempt: within a queue; reclaim: by another queue; shuffle: by rescheduling.", "vc_evictions_total", ofQueue, "action"),
			}},
		},
	}
}

func schedulerDashboard() Dashboard {
	return Dashboard{
		Name: "scheduler", Title: "vc: scheduler",
		Description: "Whether the scheduler decides and writes fast enough, and what holds it up.",
		Sections: []Section{
			{"Health", []Panel{
				{"Time since the last cycle", "Above a minute, no scheduler works.", Seconds, []Query{{Expr: "time() - max(vc_last_cycle_timestamp_seconds)", Legend: "since the last cycle"}}},
				{"Configuration valid", "Off: the configuration file was rejected, and an older one is in use. See vcctl config check.", OnOrOff, []Query{{Expr: "min(vc_scheduler_conf_valid)", Legend: "valid"}}},
				{"Gangs that cannot run now", "vcctl job explain -A shows the reasons.", Count, []Query{{Expr: "max(volcano_unschedule_job_count)", Legend: "gangs"}}},
				newRatePanel("Attempts", "Attempts to schedule a gang. Result error: an extender failed, or a cycle ended with a panic.", "volcano_schedule_attempts_total", "", "result"),
			}},
			{"Decisions", []Panel{
				{"Age of decisions", "Time from a change until the decisions about it are passed on. It should be far below a second.", Seconds, newQuantileQueries("vc_decision_age_seconds", "")},
				{"Duration of a cycle", "It should be far below a second.", Seconds, newQuantileQueries("vc_cycle_duration_seconds", "")},
				{"Lag of the watch", "Time from the API server's answer to a bind until the scheduler sees it. Above a few seconds, the scheduler decides on an old state.", Seconds,
					newQuantileQueries("vc_watch_lag_seconds", "")},
				{"Actions", "Average duration of each action.", Seconds, []Query{{
					Expr: fmt.Sprintf("sum by (action) (rate(vc_action_duration_seconds_sum[%[1]s])) / sum by (action) (rate(vc_action_duration_seconds_count[%[1]s]))", rate), Legend: "{{action}}",
				}}},
				{"Policies", "Fraction of the time that is spent in each policy.", Fraction, []Query{{
					Expr: "sum by (policy) (rate(vc_policy_duration_seconds_sum[" + rate + "]))", Legend: "{{policy}}",
				}}},
			}},
			{"Writes to the API server", []Panel{
				{"Time to bind a pod", "From the decision until the API server has confirmed it, with all retries.", Seconds, newQuantileQueries("vc_bind_duration_seconds", "")},
				{"Oldest write", "Above 10 s in evict, bind or status, decisions do not reach the API server.", Seconds, []Query{{Expr: "max by (lane) (vc_outbox_oldest_write_age_seconds)", Legend: "{{lane}}"}}},
				{"Unfinished writes", "Writes that are decided and not done yet.", Count, []Query{{Expr: "max by (lane) (vc_outbox_unfinished_writes)", Legend: "{{lane}}"}}},
				newRatePanel("Outcomes of writes", "Many outcomes other than ok: the API server rejects or delays writes.", "vc_outbox_writes_total", "", "outcome"),
			}},
		},
	}
}

func controllersDashboard() Dashboard {
	return Dashboard{
		Name: "controllers", Title: "vc: controllers and admission",
		Description: "Whether jobs get their pods, and whether objects are checked.",
		Sections: []Section{
			{"Controllers", []Panel{
				{"Time to create a pod", "From the creation of a job to the creation of each of its pods. It includes the wait for admission to the queue.", Seconds, []Query{{
					Expr: fmt.Sprintf("histogram_quantile(0.95, sum by (le) (rate(volcano_controller_job_to_pod_creation_latency_milliseconds_bucket[%s]))) / 1000", rate), Legend: "95 %",
				}}},
				{"Queued objects", "Objects that wait for a reconcile, by controller.", Count, []Query{{Expr: "max by (name) (workqueue_depth)", Legend: "{{name}}"}}},
				newRatePanel("Errors of reconciles", "Errors are retried. A steady rate is a problem: see the log.", "controller_runtime_reconcile_errors_total", "", "controller"),
				newRatePanel("Failed JobFlows", "By namespace.", "volcano_jobflow_failed_phase_count", "", "jobflow_namespace"),
			}},
			{"Admission", []Panel{
				newRatePanel("Requests", "By the response code of the webhook.", "controller_runtime_webhook_requests_total", "", "code"),
				{"Latency", "99 % of the requests take less. The API server waits at most 10 s.", Seconds, newQuantileQueryBy("webhook", "controller_runtime_webhook_latency_seconds", "", "0.99")},
			}},
			{"All components", []Panel{
				newRatePanel("Requests to the API server", "By response code. 429: the API server is overloaded.", "rest_client_requests_total", "", "code"),
				{"Memory", "Resident memory of each process. The limits are in the Deployments.", Bytes, []Query{{Expr: "process_resident_memory_bytes and on (instance) (vc_scheduler_conf_valid or on (instance) controller_runtime_reconcile_total or on (instance) controller_runtime_webhook_requests_total)", Legend: "{{instance}}"}}},
			}},
		},
	}
}

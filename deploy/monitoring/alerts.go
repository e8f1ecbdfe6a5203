package monitoring

// Severity is the label of an alert that decides whom it reaches.
type Severity string

// The severities, as the Prometheus community uses them.
const (
	Critical Severity = "critical" // jobs do not start, or objects are not checked: act now
	Warning  Severity = "warning"  // act during the day
)

// Alert is an alerting rule of Prometheus.
type Alert struct {
	Name     string
	Severity Severity
	// Expr is the condition, and For is how long it must hold.
	Expr, For string
	// Summary describes the problem, and Action what to do about it.
	Summary, Action string
}

// Alerts returns the alerts.
func Alerts() []Alert {
	return []Alert{
		{
			Name: "VcSchedulerStopped", Severity: Critical, For: "1m",
			Expr:    "time() - max(vc_last_cycle_timestamp_seconds) > 60",
			Summary: "No scheduler has completed a cycle for {{ $value | humanizeDuration }}: no job starts.",
			Action:  "Look at the pods and the log of Deployment vc-scheduler in volcano-system. If all pods run, check that one of them holds the lease: kubectl -n volcano-system get lease vc-scheduler.",
		},
		{
			Name: "VcSchedulerAbsent", Severity: Critical, For: "5m",
			Expr:    "absent(vc_last_cycle_timestamp_seconds)",
			Summary: "Prometheus reads no metrics of a scheduler: it does not run, or is not scraped.",
			Action:  "Look at the pods of Deployment vc-scheduler in volcano-system, and at the targets of Prometheus.",
		},
		{
			Name: "VcConfigurationRejected", Severity: Warning, For: "5m",
			Expr:    "min(vc_scheduler_conf_valid) == 0",
			Summary: "The scheduler rejected its configuration file and uses an older one. After a restart it would not start.",
			Action:  "vcctl config check shows the error with its line.",
		},
		{
			Name: "VcDecisionsSlow", Severity: Warning, For: "15m",
			Expr:    "histogram_quantile(0.95, sum by (le) (rate(vc_decision_age_seconds_bucket[5m]))) > 1",
			Summary: "Decisions are {{ $value | humanizeDuration }} old when they are made: jobs start late.",
			Action:  "The dashboard of the scheduler shows which action or policy takes the time.",
		},
		{
			Name: "VcWatchBehind", Severity: Warning, For: "10m",
			Expr:    "histogram_quantile(0.95, sum by (le) (rate(vc_watch_lag_seconds_bucket[5m]))) > 5",
			Summary: "The scheduler sees its own binds {{ $value | humanizeDuration }} late: it decides on an old state.",
			Action:  "Check the CPU of vc-scheduler, and whether the API server's watch cache is overloaded (apiserver_watch_cache_* in its metrics).",
		},
		{
			Name: "VcWatchSilent", Severity: Critical, For: "5m",
			Expr:    "max by (kind) (time() - vc_watch_last_event_timestamp_seconds) > 300",
			Summary: "The scheduler's watch of {{ $labels.kind }} has received nothing for {{ $value | humanizeDuration }}: the scheduler does not see changes.",
			Action:  "Look for errors of kind {{ $labels.kind }} in the log of vc-scheduler. Restart the leader if there are none. An API server without a watch cache sends no bookmarks: remove the alert there.",
		},
		{
			Name: "VcWritesDelayed", Severity: Critical, For: "5m",
			Expr:    `max by (lane) (vc_outbox_oldest_write_age_seconds{lane=~"evict|bind|status"}) > 10`,
			Summary: "A write in lane {{ $labels.lane }} has waited for {{ $value | humanizeDuration }}: decisions do not reach the API server.",
			Action:  "Check the panel Outcomes of writes in the dashboard vc: scheduler, and the log of the scheduler: the API server is overloaded (429) or rejects the writes.",
		},
		{
			Name: "VcSchedulingErrors", Severity: Warning, For: "10m",
			Expr:    `sum(rate(volcano_schedule_attempts_total{result="error"}[10m])) > 0`,
			Summary: "Attempts to schedule jobs end with errors.",
			Action:  "The log of vc-scheduler names the extender that fails, or the panic.",
		},
		{
			Name: "VcJobsWaitLong", Severity: Warning, For: "30m",
			Expr:    "histogram_quantile(0.95, sum by (le, queue_name) (rate(vc_queue_wait_seconds_bucket[1h]))) > 4 * 3600",
			Summary: "Jobs of queue {{ $labels.queue_name }} wait for {{ $value | humanizeDuration }} before they start.",
			Action:  "vcctl job explain -A shows why. Change the limit of the alert to what your users accept.",
		},
		{
			Name: "VcQueuesCompete", Severity: Warning, For: "1h",
			Expr:    `sum by (queue_name, preemptor_queue) (increase(vc_evictions_total{action="reclaim"}[1h])) > 100`,
			Summary: "Queue {{ $labels.preemptor_queue }} took {{ $value | humanize }} pods from queue {{ $labels.queue_name }} within an hour.",
			Action:  "Compare deserved and guarantee of both queues (vcctl queue tree). Work that is evicted again and again is lost.",
		},
		{
			Name: "VcReconcileErrors", Severity: Warning, For: "15m",
			Expr:    `sum by (controller) (rate(controller_runtime_reconcile_errors_total{controller=~"job-controller|pg-.*|queue-controller|cronjob-controller|jobflow-controller|jobtemplate-controller|hyperNode-controller"}[10m])) > 0.1`,
			Summary: "Controller {{ $labels.controller }} fails {{ $value | humanize }} times per second.",
			Action:  "The log of vc-controllers names the objects and the errors.",
		},
		{
			Name: "VcAdmissionSlow", Severity: Warning, For: "10m",
			Expr:    `histogram_quantile(0.99, sum by (le, webhook) (rate(controller_runtime_webhook_latency_seconds_bucket{webhook=~"/(jobs|queues|podgroups|cronjobs|jobflows|jobtemplates|hypernodes|pods)/(mutate|validate)"}[5m]))) > 1`,
			Summary: "Webhook {{ $labels.webhook }} takes {{ $value | humanizeDuration }}: objects are created slowly, and after 10 s not at all.",
			Action:  "Check whether vc-admission lacks CPU, and whether the API server answers its requests.",
		},
		{
			Name: "VcAdmissionUnavailable", Severity: Critical, For: "5m",
			Expr:    `sum(kube_deployment_status_replicas_available{namespace="volcano-system", deployment="vc-admission"}) == 0`,
			Summary: "No replica of vc-admission is available: jobs and queues cannot be created or changed.",
			Action:  "Look at the pods of Deployment vc-admission in volcano-system.",
		},
	}
}

// PrometheusRule returns the alerts as an object of the Prometheus Operator.
func PrometheusRule() map[string]any {
	var rules []any
	for _, a := range Alerts() {
		rules = append(rules, map[string]any{
			"alert": a.Name, "expr": a.Expr, "for": a.For,
			"labels":      map[string]any{"severity": string(a.Severity)},
			"annotations": map[string]any{"summary": a.Summary, "description": a.Action},
		})
	}
	return map[string]any{
		"apiVersion": "monitoring.coreos.com/v1", "kind": "PrometheusRule",
		"metadata": map[string]any{"name": "vc", "namespace": "volcano-system", "labels": map[string]any{"app.kubernetes.io/part-of": "vc"}},
		"spec":     map[string]any{"groups": []any{map[string]any{"name": "vc", "rules": rules}}},
	}
}

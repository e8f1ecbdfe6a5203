package store

import (
	"context"
	"database/sql"
	"slices"
)

// migration leads from one version of the schema to the next.
type migration struct {
	// tables lists the new tables. Each month has its own.
	tables []string
	// statements create them. SQLite applies them to the file of each month. PostgreSQL applies them to the partitioned
	// tables, and its partitions follow.
	statements []string
	// fill fills the new tables of a month from the other tables. It is nil if there is nothing to fill.
	fill func(ctx context.Context, tx *sql.Tx, m *month) error
}

// tablesOf returns the tables of a version of the schema.
func tablesOf(version int) []string {
	var all []string
	for _, m := range migrations[:version] {
		all = append(all, m.tables...)
	}
	return slices.Clip(all)
}

// migrations lists all migrations. The version of a database is the number of migrations that were applied.
//
// The names in braces depend on the database: see sqliteNames and postgresNames.
var migrations = []migration{
	{tables: []string{"records", "documents", "usage"}, statements: []string{
		`CREATE TABLE {records} (
			cluster {text} NOT NULL, job_uid {text} NOT NULL, attempt BIGINT NOT NULL, element BIGINT NOT NULL,
			job_id BIGINT NOT NULL, namespace {text} NOT NULL, name {text} NOT NULL,
			user_name {text} NOT NULL, account {text} NOT NULL, qos {text} NOT NULL, queue {text} NOT NULL,
			outcome {text} NOT NULL, reason {text} NOT NULL, exit_code BIGINT NOT NULL,
			submitted BIGINT NOT NULL, eligible BIGINT NOT NULL, started BIGINT NOT NULL, ended BIGINT NOT NULL,
			time_limit_ns BIGINT NOT NULL, node_names {text} NOT NULL, pods BIGINT NOT NULL,
			requested {text} NOT NULL, allocated {text} NOT NULL,
			cpu_time_ns BIGINT NOT NULL, peak_memory_bytes BIGINT NOT NULL,
			document_hash {bytes}
			{month column}
		) {partitioned}`,
		// The unique key begins with the column that is enough to find a job. All other indices contain the columns of
		// the condition on time, so that rows outside the interval are not read.
		`CREATE UNIQUE INDEX records_by_key ON {records} (job_uid, attempt, element, cluster {month key})`,
		`CREATE INDEX records_by_user ON {records} (user_name, ended, submitted)`,
		`CREATE INDEX records_by_account ON {records} (account, ended, submitted)`,
		`CREATE INDEX records_by_queue ON {records} (queue, ended, submitted)`,
		`CREATE INDEX records_by_job_id ON {records} (job_id, ended, submitted)`,
		`CREATE INDEX records_by_end ON {records} (ended, submitted)`,
		`CREATE INDEX records_by_submission ON {records} (submitted)`,
		`CREATE TABLE {documents} (
			hash {bytes} NOT NULL, content {bytes} NOT NULL
			{month column},
			PRIMARY KEY (hash {month key})
		) {partitioned}`,
		`CREATE TABLE {usage} (
			period {text} NOT NULL, start BIGINT NOT NULL,
			cluster {text} NOT NULL, account {text} NOT NULL, user_name {text} NOT NULL, queue {text} NOT NULL,
			qos {text} NOT NULL, resource {text} NOT NULL, seconds BIGINT NOT NULL
			{month column},
			PRIMARY KEY (period, start, cluster, account, user_name, queue, qos, resource {month key})
		) {partitioned} {clustered}`,
	}},
	// The use by namespace and size of attempts, and the time for which attempts waited. attempts is the number of
	// attempts in a period, and begun the number of attempts that began in it. A sum over successive periods counts
	// each attempt once: it adds the attempts of the first period and the begun attempts of the others.
	{tables: []string{"usage_details"}, statements: []string{
		`CREATE TABLE {usage_details} (
			waiting BIGINT NOT NULL, period {text} NOT NULL, start BIGINT NOT NULL,
			cluster {text} NOT NULL, account {text} NOT NULL, user_name {text} NOT NULL, queue {text} NOT NULL,
			qos {text} NOT NULL, namespace {text} NOT NULL, milli_cpus BIGINT NOT NULL, resource {text} NOT NULL,
			seconds BIGINT NOT NULL, attempts BIGINT NOT NULL, begun BIGINT NOT NULL
			{month column},
			PRIMARY KEY (waiting, period, start, cluster, account, user_name, queue, qos, namespace, milli_cpus, resource {month key})
		) {partitioned} {clustered}`,
	}, fill: fillDetails},
	{tables: []string{"nodes"}, statements: []string{
		`CREATE TABLE {nodes} (
			cluster {text} NOT NULL, node {text} NOT NULL, time BIGINT NOT NULL,
			state {text} NOT NULL, reason {text} NOT NULL, capacity {text} NOT NULL
			{month column},
			PRIMARY KEY (cluster, node, time {month key})
		) {partitioned} {clustered}`,
	}},
	{tables: []string{"changes"}, statements: []string{
		`CREATE TABLE {changes} (
			id {text} NOT NULL, cluster {text} NOT NULL, time_ns BIGINT NOT NULL, actor {text} NOT NULL,
			action {text} NOT NULL, account {text} NOT NULL, user_names {text} NOT NULL, info {text} NOT NULL
			{month column},
			PRIMARY KEY (id, cluster {month key})
		) {partitioned}`,
		`CREATE INDEX changes_by_time ON {changes} (time_ns)`,
	}},
	// The measured use of GPUs. It is unknown for older records.
	{statements: []string{
		`ALTER TABLE {records} ADD COLUMN gpu_time_ns BIGINT NOT NULL DEFAULT 0`,
		`ALTER TABLE {records} ADD COLUMN gpu_measured_ns BIGINT NOT NULL DEFAULT 0`,
	}},
}

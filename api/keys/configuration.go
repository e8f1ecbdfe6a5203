package keys

// ConfigurationName is the ConfigMap, in the scheduler's namespace, in which the scheduler publishes its current
// configuration. The scheduler writes it and never reads it.
const ConfigurationName = "vc-scheduler-configuration"

// The keys of the ConfigMap ConfigurationName.
const (
	ConfigurationText     = "volcano-scheduler.conf" // the configuration in effect, as given
	ConfigurationSource   = "source"                 // the file it came from, or "built-in"
	ConfigurationWarnings = "warnings"               // parts of it without effect, one per line
	ConfigurationVersion  = "version"                // the version of the scheduler
	ConfigurationRefused  = "refused"                // why the current file was rejected; absent if it was not
)

package keys

// ConfigurationName is the name of the ConfigMap, in the scheduler's namespace, in which the scheduler publishes its
// current configuration. The scheduler itself never reads the ConfigMap.
const ConfigurationName = "vc-scheduler-configuration"

// The keys of the ConfigMap ConfigurationName.
const (
	ConfigurationText     = "volcano-scheduler.conf" // the effective configuration, as specified by the user
	ConfigurationSource   = "source"                 // the file it came from, or "built-in"
	ConfigurationWarnings = "warnings"               // warnings about parts that have no effect, one per line
	ConfigurationVersion  = "version"                // the version of the scheduler
	ConfigurationRefused  = "refused"                // why the current file was rejected, if it was
)

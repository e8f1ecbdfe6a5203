package keys

// ConfigurationName is the ConfigMap, in the scheduler's namespace, in which the scheduler says by which
// configuration it decides. It is written, never read, by the scheduler.
const ConfigurationName = "vc-scheduler-configuration"

// The keys of the ConfigMap ConfigurationName.
const (
	ConfigurationText     = "volcano-scheduler.conf" // what is in force, as it was given
	ConfigurationSource   = "source"                 // the file it came from, or "built-in"
	ConfigurationWarnings = "warnings"               // what of it has no effect, a line each
	ConfigurationVersion  = "version"                // the version of the scheduler
	ConfigurationRefused  = "refused"                // why the file as it is now was refused; absent when it was not
)

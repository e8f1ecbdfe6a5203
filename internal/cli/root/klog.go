package root

import "flag"

// klogFlags holds the flag set that configures klog.
type klogFlags struct{ flags *flag.FlagSet }

func (k *klogFlags) newFlagSet() *flag.FlagSet {
	k.flags = flag.NewFlagSet("klog", flag.ContinueOnError)
	return k.flags
}

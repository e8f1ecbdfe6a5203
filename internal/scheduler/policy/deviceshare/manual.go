package deviceshare

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the policy's settings.
var manual = config.Manual{
	Text: "Allocates GPUs by memory, as whole cards, or as vGPUs. Each kind of device must be enabled.",
	Switches: []config.Option{
		{Key: "enablePredicate", Default: "true", Text: "off: devices are plain resources"},
		{Key: "enableNodeOrder", Default: "true", Text: "off: does not score nodes by their devices"},
	},
	Arguments: []config.Option{
		{Key: "deviceshare.GPUSharingEnable", Default: "false", Text: "enables GPU sharing by memory: `volcano.sh/gpu-memory`"},
		{Key: "deviceshare.GPUNumberEnable", Default: "false", Text: "enables whole cards: `volcano.sh/gpu-number`"},
		{Key: "deviceshare.VGPUEnable", Default: "false", Text: "enables vGPUs: `volcano.sh/vgpu-number`, `-memory`, `-memory-percentage`, `-cores`"},
		{Key: "deviceshare.NodeLockEnable", Default: "false", Text: "true: a node assigns vGPUs to one pod at a time"},
		{Key: "deviceshare.SchedulePolicy", Default: "", Text: "`binpack` prefers used cards, `spread` prefers idle cards"},
		{Key: "deviceshare.ScheduleWeight", Default: "0", Text: "weight of the SchedulePolicy scores"},
		{Key: "deviceshare.GPUExclusiveRules", Default: "", Text: "a list of label sets; pods that match the same set never share a card"},
		{Key: "deviceshare.KnownGeometriesCMName", Default: "", Text: "MIG is not supported", Idle: true},
		{Key: "deviceshare.KnownGeometriesCMNamespace", Default: "", Text: "MIG is not supported", Idle: true},
		{Key: "deviceshare.AscendMindClusterVNPUEnable", Default: "false", Text: "Ascend cards count as plain resources", Idle: true},
		{Key: "deviceshare.AscendHAMiVNPUEnable", Default: "false", Text: "Ascend cards count as plain resources", Idle: true},
	},
}

// Manual returns the reference documentation of the policy.
func (*Policy) Manual() config.Manual { return manual }

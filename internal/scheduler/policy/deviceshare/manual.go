package deviceshare

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the settings.
var manual = config.Manual{
	Text: "Hands out parts of GPUs: by memory, whole cards, or vGPUs. A kind of device counts once it is switched on.",
	Switches: []config.Option{
		{Key: "enablePredicate", Default: "true", Text: "off: devices are plain resources"},
		{Key: "enableNodeOrder", Default: "true", Text: "off: nodes get no points for their devices"},
	},
	Arguments: []config.Option{
		{Key: "deviceshare.GPUSharingEnable", Default: "false", Text: "cards by memory: `volcano.sh/gpu-memory`"},
		{Key: "deviceshare.GPUNumberEnable", Default: "false", Text: "whole cards: `volcano.sh/gpu-number`"},
		{Key: "deviceshare.VGPUEnable", Default: "false", Text: "vGPUs: `volcano.sh/vgpu-number`, `-memory`, `-memory-percentage`, `-cores`"},
		{Key: "deviceshare.NodeLockEnable", Default: "false", Text: "a node hands out vGPUs to one pod at a time"},
		{Key: "deviceshare.SchedulePolicy", Default: "", Text: "`binpack`: used cards first; `spread`: idle ones first"},
		{Key: "deviceshare.ScheduleWeight", Default: "0", Text: "weight of the points that nodes get by that"},
		{Key: "deviceshare.GPUExclusiveRules", Default: "", Text: "a list of labels with values; pods that match the same of them never share a card"},
		{Key: "deviceshare.KnownGeometriesCMName", Default: "", Text: "MIG is not read", Idle: true},
		{Key: "deviceshare.KnownGeometriesCMNamespace", Default: "", Text: "MIG is not read", Idle: true},
		{Key: "deviceshare.AscendMindClusterVNPUEnable", Default: "false", Text: "Ascend cards count as plain resources", Idle: true},
		{Key: "deviceshare.AscendHAMiVNPUEnable", Default: "false", Text: "the same", Idle: true},
	},
}

// Manual returns the policy's part of the reference.
func (*Policy) Manual() config.Manual { return manual }

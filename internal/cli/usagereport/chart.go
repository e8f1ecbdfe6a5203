package usagereport

import (
	"math"
	"strconv"
	"time"

	"github.com/vc-batch/vc/internal/accounting"
	"github.com/vc-batch/vc/internal/printable"
	"github.com/vc-batch/vc/internal/render"
)

// The size of a chart and its margins, in units of the SVG.
const (
	chartWidth, chartHeight = 920.0, 280.0
	marginLeft, marginRight = 64.0, 12.0
	marginTop, marginBottom = 14.0, 34.0
	plotWidth               = chartWidth - marginLeft - marginRight
	plotHeight              = chartHeight - marginTop - marginBottom
	maxLines, maxLabels     = 6, 12
	barPart                 = 0.78 // the part of the width of a period that its bar has
	maxBarWidth             = 64.0
)

// chart is a chart with a stacked bar for each period. All coordinates are formatted numbers.
type chart struct {
	Title         string
	Width, Height string
	Lines         []gridLine
	Labels        []label
	Bars          []bar
	// Left, Right and Bottom are the coordinates of the horizontal axis.
	Left, Right, Bottom string
}

// gridLine is a horizontal line with its amount.
type gridLine struct{ Y, TextY, Amount string }

// label is the text below a bar.
type label struct{ X, Y, Text string }

// bar is the part of a stacked bar for one name. Color is the class of its color. Text describes it.
type bar struct{ Color, X, Y, Width, Height, Text string }

// chartData holds the use that a chart shows.
type chartData struct {
	per     string
	periods []time.Time
	// names lists the names with a color of their own, from bottom to top. values has the use of each name in each
	// period, and others the use of all other names.
	names     []string
	values    map[string][]float64
	others    []float64
	hasOthers bool
}

// addUsage adds use to the periods.
func (c *chartData) addUsage(usage []accounting.Usage, by dimension, colors map[string]string, perHour float64) {
	index := map[time.Time]int{}
	for i, at := range c.periods {
		index[at] = i
	}
	for i := range usage {
		at, ok := index[startOf(c.per, usage[i].Time)]
		if !ok {
			continue
		}
		values := c.others
		if name := by.name(&usage[i]); colors[name] != "" {
			if c.values[name] == nil {
				c.values[name] = make([]float64, len(c.periods))
			}
			values = c.values[name]
		}
		values[at] += float64(usage[i].Seconds) / perHour
	}
}

// highest returns the height of the highest bar.
func (c *chartData) highest() float64 {
	highest := 0.0
	for i := range c.periods {
		sum := c.others[i]
		for _, name := range c.names {
			sum += c.values[name][i]
		}
		highest = max(highest, sum)
	}
	return highest
}

// draw computes the shapes of the chart.
func (c *chartData) draw(colors map[string]string) *chart {
	step, top := chooseScale(c.highest())
	drawn := &chart{
		Width: formatCoordinate(chartWidth), Height: formatCoordinate(chartHeight),
		Left: formatCoordinate(marginLeft), Right: formatCoordinate(chartWidth - marginRight), Bottom: formatCoordinate(marginTop + plotHeight),
	}
	for amount := 0.0; amount <= top+step/2; amount += step {
		y := marginTop + plotHeight*(1-amount/top)
		drawn.Lines = append(drawn.Lines, gridLine{Y: formatCoordinate(y), TextY: formatCoordinate(y + 4), Amount: formatTick(amount, step)})
	}
	slot := plotWidth / float64(len(c.periods))
	width := min(slot*barPart, maxBarWidth)
	every := (len(c.periods) + maxLabels - 1) / maxLabels
	for i, start := range c.periods {
		middle := marginLeft + (float64(i)+0.5)*slot
		if i%every == 0 {
			drawn.Labels = append(drawn.Labels, label{X: formatCoordinate(middle), Y: formatCoordinate(chartHeight - 12), Text: c.shortPeriod(start)})
		}
		y := marginTop + plotHeight
		add := func(color, name string, amount float64) {
			if amount <= 0 {
				return
			}
			height := plotHeight * amount / top
			y -= height
			drawn.Bars = append(drawn.Bars, bar{
				Color: color, X: formatCoordinate(middle - width/2), Y: formatCoordinate(y), Width: formatCoordinate(width), Height: formatCoordinate(height),
				Text: formatPeriod(c.per, start) + ": " + printable.EscapeLine(name) + ", " + formatAmount(amount),
			})
		}
		for _, name := range c.names {
			shown := name
			if name == "" {
				shown = render.None
			}
			add(colors[name], shown, c.values[name][i])
		}
		add(colorOfOthers, "others", c.others[i])
	}
	return drawn
}

// shortPeriod formats a period for the space below its bar.
func (c *chartData) shortPeriod(start time.Time) string {
	if c.per == "month" {
		return start.Format("Jan 2006")
	}
	return start.Format("2 Jan")
}

// chooseScale returns the distance of grid lines, which is 1, 2 or 5 times a power of ten, and the amount at the top of
// the chart.
func chooseScale(highest float64) (step, top float64) {
	if highest <= 0 {
		return 1, 1
	}
	step = math.Pow(10, math.Floor(math.Log10(highest/maxLines)))
	for _, factor := range []float64{1, 2, 5, 10} {
		if highest/(step*factor) <= maxLines {
			step *= factor
			break
		}
	}
	return step, step * math.Ceil(highest/step-1e-9)
}

// formatTick formats an amount of a grid line with the decimals that its distance to the next line needs.
func formatTick(amount, step float64) string {
	decimals := 0
	if step < 1 {
		decimals = int(math.Ceil(-math.Log10(step) - 1e-9))
	}
	for _, unit := range []struct {
		size float64
		name string
	}{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if step >= unit.size/10 && amount >= unit.size {
			return strconv.FormatFloat(amount/unit.size, 'f', -1, 64) + unit.name
		}
	}
	return strconv.FormatFloat(amount, 'f', decimals, 64)
}

// formatCoordinate formats a coordinate.
func formatCoordinate(x float64) string { return strconv.FormatFloat(x, 'f', 2, 64) }

package usagereport

import (
	"cmp"
	_ "embed"
	"html/template"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vc-batch/vc/internal/accounting"
	"github.com/vc-batch/vc/internal/cli/recorded"
	"github.com/vc-batch/vc/internal/printable"
	"github.com/vc-batch/vc/internal/render"
)

//go:embed page.html
var pageText string

// pageTemplate is the template of the HTML page. Its input is a page.
var pageTemplate = template.Must(template.New("report").Parse(pageText))

// page is the content of the HTML page.
type page struct {
	Title string
	// Unit is the unit of all amounts, for example CPU-hours.
	Unit     string
	Interval string
	Created  string
	Filters  []filter
	Figures  []figure
	Sections []section
}

// filter is a property by which the report selects use.
type filter struct{ Name, Values string }

// figure is one of the numbers at the top of the page.
type figure struct{ Name, Value, Note string }

// section shows the use by one dimension.
type section struct {
	Title, By string
	// ByOther is the title of the column with the name of another dimension. It is empty if there is no such column.
	ByOther string
	Chart   *chart
	Rows    []pageRow
	Total   string
}

// pageRow is a row of a table. Color is the class of its color in the chart, and Percent the length of its bar.
type pageRow struct {
	Color, Name, Other, Hours, Share, Percent string
}

const (
	// maxColors is the number of names that have a color of their own in a chart.
	maxColors = 10
	// colorOfOthers is the class of the names without such a color.
	colorOfOthers = "others"
)

// preparePage chooses the period if the user has chosen none, and returns the dimensions of the page.
func (o *options) preparePage() ([]string, error) {
	from, to, err := recorded.ParseInterval(o.since, o.until, o.f.Now())
	if err != nil {
		return nil, err
	}
	if o.per == "" {
		o.per = choosePeriod(from, to)
	}
	if o.byGiven {
		return []string{o.by}, nil
	}
	return []string{"queue", "account", "user"}, nil
}

// choosePeriod returns the period of the bars of an interval.
func choosePeriod(from, to time.Time) string {
	switch days := to.Sub(from).Hours() / 24; {
	case days <= 62:
		return "day"
	case days <= 366:
		return "week"
	}
	return "month"
}

// writePage writes the HTML page.
func (o *options) writePage(query accounting.UsageQuery, of unit, shown []string, usage []accounting.Usage) error {
	return pageTemplate.Execute(o.f.Streams.Out, o.newPage(query, of, shown, usage))
}

// newPage returns the content of the HTML page.
func (o *options) newPage(query accounting.UsageQuery, of unit, shown []string, usage []accounting.Usage) *page {
	perHour := 3600 * float64(of.amount)
	p := &page{
		Title: "Usage of " + of.noun(), Unit: of.title + "-hours",
		Interval: query.From.Format(pageTime) + " to " + query.To.Format(pageTime) + " UTC",
		Created:  o.f.Now().UTC().Format(pageTime) + " UTC",
	}
	for _, f := range []struct {
		name   string
		values []string
	}{{"Users", o.users}, {"Queues", o.queues}, {"Accounts", o.accounts}, {"Namespaces", query.Namespaces}} {
		if len(f.values) > 0 {
			p.Filters = append(p.Filters, filter{f.name, printable.EscapeLine(strings.Join(f.values, ", "))})
		}
	}
	periods := listPeriods(o.per, query.From, query.To)
	p.Figures = newFigures(usage, query, of, o.per, shown)
	for _, name := range shown {
		p.Sections = append(p.Sections, o.newSection(name, usage, periods, perHour))
	}
	return p
}

// pageTime is the format of times on the page.
const pageTime = "2006-01-02 15:04"

// noun returns the name of the resource in a title.
func (u unit) noun() string {
	switch u.resource {
	case accounting.CPU:
		return "CPUs"
	case accounting.Memory:
		return "memory"
	case accounting.Nodes:
		return "nodes"
	case gpu:
		return "GPUs"
	}
	return printable.EscapeLine(u.resource)
}

// listPeriods returns the beginnings of the periods in an interval.
func listPeriods(per string, from, to time.Time) []time.Time {
	var periods []time.Time
	for at := startOf(per, from); at.Before(to); {
		periods = append(periods, at)
		switch per {
		case "day":
			at = at.AddDate(0, 0, 1)
		case "week":
			at = at.AddDate(0, 0, 7)
		default:
			at = at.AddDate(0, 1, 0)
		}
	}
	return periods
}

// newFigures returns the numbers at the top of the page.
func newFigures(usage []accounting.Usage, query accounting.UsageQuery, of unit, per string, shown []string) []figure {
	perHour := 3600 * float64(of.amount)
	total, inPeriod := int64(0), map[time.Time]int64{}
	for i := range usage {
		total += usage[i].Seconds
		inPeriod[startOf(per, usage[i].Time)] += usage[i].Seconds
	}
	hours := float64(total) / perHour
	figures := []figure{
		{"Total", formatAmount(hours), of.title + "-hours"},
		{"Average in use", formatAmount(hours / query.To.Sub(query.From).Hours()), of.perMoment()},
	}
	if total > 0 {
		highest := slices.MaxFunc(slices.Collect(maps.Keys(inPeriod)), func(a, b time.Time) int {
			return cmp.Or(cmp.Compare(inPeriod[a], inPeriod[b]), b.Compare(a))
		})
		figures = append(figures, figure{"Busiest " + per, formatPeriod(per, highest), formatAmount(float64(inPeriod[highest])/perHour) + " " + of.title + "-hours"})
	}
	for _, name := range shown {
		names := map[string]bool{}
		for i := range usage {
			if of := dimensions[name].name(&usage[i]); of != "" {
				names[of] = true
			}
		}
		figures = append(figures, figure{strings.ToUpper(name[:1]) + name[1:] + "s", strconv.Itoa(len(names)), "with usage"})
	}
	return figures
}

// perMoment returns the unit of an average.
func (u unit) perMoment() string {
	switch u.resource {
	case accounting.CPU:
		return "CPUs"
	case accounting.Memory:
		return "GiB"
	case accounting.Nodes:
		return "nodes"
	}
	return u.title + "s"
}

// newSection returns the section about one dimension.
func (o *options) newSection(name string, usage []accounting.Usage, periods []time.Time, perHour float64) section {
	by := dimensions[name]
	rows := sumUp(usage, by, "", o.top, perHour)
	colors, others := assignColors(rows)
	s := section{Title: "By " + name, By: strings.ToUpper(name[:1]) + name[1:]}
	if len(rows) == 0 {
		return s
	}
	var other map[string]string
	if name == "user" && !o.byGiven {
		s.ByOther, other = "Main account", mainAccounts(usage)
	}
	total, highest := 0.0, 0.0
	for i := range rows {
		total += rows[i].Hours
		highest = max(highest, rows[i].Hours)
	}
	for i := range rows {
		row := &rows[i]
		shown := pageRow{
			Color: colorOf(colors, row.Name, row.Others), Name: printable.EscapeLine(row.label()), Hours: formatAmount(row.Hours),
			Share: strconv.FormatFloat(100*row.Share, 'f', 1, 64) + "%", Percent: "0",
		}
		if highest > 0 {
			shown.Percent = formatCoordinate(100 * row.Hours / highest)
		}
		if s.ByOther != "" && !row.Others {
			shown.Other = printable.EscapeLine(cmp.Or(other[row.Name], render.None))
		}
		s.Rows = append(s.Rows, shown)
	}
	s.Total = formatAmount(total)
	c := &chartData{per: o.per, periods: periods, values: map[string][]float64{}, others: make([]float64, len(periods)), hasOthers: others}
	c.addUsage(usage, by, colors, perHour)
	for i := range rows {
		if _, ok := colors[rows[i].Name]; ok && !rows[i].Others {
			c.names = append(c.names, rows[i].Name)
		}
	}
	s.Chart = c.draw(colors)
	s.Chart.Title = "Use by " + name + " in each " + o.per
	return s
}

// assignColors returns the classes of the names with a color of their own, and whether there are other names.
func assignColors(rows []Row) (colors map[string]string, others bool) {
	colors = map[string]string{}
	for i := range rows {
		if rows[i].Others || len(colors) == maxColors {
			others = true
			continue
		}
		colors[rows[i].Name] = "c" + strconv.Itoa(len(colors))
	}
	return colors, others
}

// colorOf returns the class of the color of a row.
func colorOf(colors map[string]string, name string, isOthers bool) string {
	if class, ok := colors[name]; ok && !isOthers {
		return class
	}
	return colorOfOthers
}

// mainAccounts returns the account in which each user used most.
func mainAccounts(usage []accounting.Usage) map[string]string {
	used := map[string]map[string]int64{}
	for i := range usage {
		u := &usage[i]
		if used[u.User] == nil {
			used[u.User] = map[string]int64{}
		}
		used[u.User][u.Account] += u.Seconds
	}
	most := map[string]string{}
	for user, accounts := range used {
		most[user] = slices.MaxFunc(slices.Sorted(maps.Keys(accounts)), func(a, b string) int { return cmp.Compare(accounts[a], accounts[b]) })
	}
	return most
}

// formatAmount formats an amount with three digits or more, and with a separator of thousands.
func formatAmount(amount float64) string {
	decimals := 2
	switch {
	case amount >= 100:
		decimals = 0
	case amount >= 10:
		decimals = 1
	}
	whole, fraction, hasFraction := strings.Cut(strconv.FormatFloat(amount, 'f', decimals, 64), ".")
	for at := len(whole) - 3; at > 0; at -= 3 {
		whole = whole[:at] + "," + whole[at:]
	}
	if hasFraction {
		return whole + "." + fraction
	}
	return whole
}

// formatPeriod formats a period as a date or as a month.
func formatPeriod(per string, start time.Time) string {
	if per == "month" {
		return start.Format("Jan 2006")
	}
	return start.Format("2 Jan 2006")
}

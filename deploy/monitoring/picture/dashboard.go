package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/vc-batch/vc/deploy/monitoring"
)

// dashboard is the part of Grafana's JSON model that is drawn.
type dashboard struct {
	name        string // name of its file, without extension
	Title       string
	Description string
	Panels      []panel
}

// panel is a chart, or the heading of a row of charts, at a position in a grid of 24 columns.
type panel struct {
	Type        string
	Title       string
	Description string
	GridPos     struct{ X, Y, W, H int }
	FieldConfig struct{ Defaults struct{ Unit string } }
	Targets     []target
}

// target is an expression with the template of its legend.
type target struct{ Expr, LegendFormat string }

// loadDashboards returns the dashboards as Grafana imports them, in the order of package monitoring.
func loadDashboards() ([]dashboard, error) {
	files, err := monitoring.Files()
	if err != nil {
		return nil, err
	}
	var all []dashboard
	for _, of := range monitoring.Dashboards() {
		d := dashboard{name: of.Name}
		if err := json.Unmarshal(files[of.Name+".json"], &d); err != nil {
			return nil, fmt.Errorf("dashboard %s: %w", of.Name, err)
		}
		all = append(all, d)
	}
	return all, nil
}

// imageFile returns the name of the dashboard's image.
func (d *dashboard) imageFile() string { return "monitoring-" + d.name + ".svg" }

// charts returns the panels that are not headings.
func (d *dashboard) charts() []panel {
	return slices.DeleteFunc(slices.Clone(d.Panels), func(p panel) bool { return p.Type == headingType })
}

// headingType is the type of a panel that is only the heading of a row.
const headingType = "row"

// line is a series of a panel with its legend.
type line struct {
	legend string
	values samples
}

// lines returns the recorded series of a panel that have at least one value.
func (p *panel) lines(r recording) []line {
	var all []line
	for _, t := range p.Targets {
		for _, s := range r.Results[t.Expr] {
			if s.Values.hasNumber() {
				all = append(all, line{legend: t.legend(s.Labels), values: s.Values})
			}
		}
	}
	return all
}

// placeholder matches a label in the template of a legend.
var placeholder = regexp.MustCompile(`\{\{\s*(\w+)\s*\}\}`)

// legend returns the legend of a series. Without a template, it lists the labels.
func (t *target) legend(labels map[string]string) string {
	if t.LegendFormat == "" {
		var pairs []string
		for _, name := range slices.Sorted(maps.Keys(labels)) {
			pairs = append(pairs, name+"="+labels[name])
		}
		return strings.Join(pairs, ", ")
	}
	text := placeholder.ReplaceAllStringFunc(t.LegendFormat, func(match string) string {
		return labels[placeholder.FindStringSubmatch(match)[1]]
	})
	return strings.TrimSpace(text)
}

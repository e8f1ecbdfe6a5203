package monitoring

// dataSource is the variable with the data source, which the reader chooses in Grafana.
var dataSource = map[string]any{"type": "prometheus", "uid": "${datasource}"}

const (
	gridWidth   = 24
	panelWidth  = 12
	panelHeight = 8
)

// grafana returns the dashboard in Grafana's JSON model.
func (d *Dashboard) grafana() map[string]any {
	var panels []any
	id, y := 0, 0
	for _, section := range d.Sections {
		id++
		panels = append(panels, map[string]any{
			"id": id, "type": "row", "title": section.Title, "collapsed": false, "panels": []any{},
			"gridPos": map[string]int{"x": 0, "y": y, "w": gridWidth, "h": 1},
		})
		y++
		for i := range section.Panels {
			id++
			x := i * panelWidth % gridWidth
			panels = append(panels, section.Panels[i].grafana(id, x, y))
			isLastOfLine := x+panelWidth == gridWidth || i == len(section.Panels)-1
			if isLastOfLine {
				y += panelHeight
			}
		}
	}
	variables := []any{map[string]any{"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus"}}
	if d.HasQueues {
		variables = append(variables, map[string]any{
			"name": "queue", "label": "Queue", "type": "query", "datasource": dataSource, "query": "label_values(volcano_queue_weight, queue_name)",
			"regex": "/^(?!root$).*/", "refresh": 2, "includeAll": true, "multi": true, "sort": 1,
			"current": map[string]any{"text": "All", "value": "$__all"},
		})
	}
	return map[string]any{
		"uid": "vc-" + d.Name, "title": d.Title, "description": d.Description, "tags": []string{"vc", "kubernetes"},
		"schemaVersion": 39, "version": 1, "editable": true, "graphTooltip": 1,
		"time": map[string]string{"from": "now-6h", "to": "now"}, "refresh": "30s",
		"templating": map[string]any{"list": variables}, "panels": panels,
	}
}

// grafana returns the panel in Grafana's JSON model, at a place in a grid of 24 columns.
func (p *Panel) grafana(id, x, y int) map[string]any {
	var targets []any
	for i, q := range p.Queries {
		targets = append(targets, map[string]any{
			"refId": string(rune('A' + i)), "datasource": dataSource, "expr": q.Expr, "legendFormat": q.Legend, "editorMode": "code", "range": true,
		})
	}
	return map[string]any{
		"id": id, "type": "timeseries", "title": p.Title, "description": p.Help, "datasource": dataSource,
		"gridPos": map[string]int{"x": x, "y": y, "w": panelWidth, "h": panelHeight},
		"fieldConfig": map[string]any{
			"defaults":  map[string]any{"unit": string(p.Unit), "custom": map[string]any{"lineWidth": 1, "fillOpacity": 10, "showPoints": "never"}},
			"overrides": []any{},
		},
		"options": map[string]any{
			"legend":  map[string]any{"displayMode": "list", "placement": "bottom", "showLegend": true},
			"tooltip": map[string]any{"mode": "multi", "sort": "desc"},
		},
		"targets": targets,
	}
}

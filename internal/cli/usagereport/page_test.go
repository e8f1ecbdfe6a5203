package usagereport

import (
	"bytes"
	"fmt"
	"image/color"
	"image/png"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/vc-batch/vc/internal/accounting"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/iostreams"
)

// hostileName is a name of a user that would run a script if the page did not escape it.
const hostileName = `<script src="https://example.com/x.js"></script><img src="https://example.com/x.png" onerror="console.error('run')">"'&`

// newUsage returns the use of six weeks by fourteen users, three accounts and two queues.
func newUsage() []accounting.Usage {
	var usage []accounting.Usage
	for day := range 42 {
		for user := range 14 {
			if (day*7+user*3)%5 == 0 {
				continue
			}
			name := fmt.Sprintf("user%02d@example.com", user)
			if user == 3 {
				name = hostileName
			}
			usage = append(usage, accounting.Usage{
				User: name, Account: []string{"physics", "chem", ""}[user%3], Queue: []string{"research", "short"}[user%2],
				Time: at(0).AddDate(0, 0, day-20), Resource: accounting.CPU, Seconds: int64(3_600_000 * (1 + (day*13+user*29)%40) / (1 + user/2)),
			})
		}
	}
	return usage
}

// writeTestPage writes the page of some use into a file.
func writeTestPage(t *testing.T, usage []accounting.Usage, change func(*options)) string {
	t.Helper()
	streams, out, _ := iostreams.TestStreams("", 80)
	f := cli.NewFactory("vcctl", &streams)
	f.Now = func() time.Time { return at(22) }
	o := &options{f: f, by: "queue", top: 10, since: "2026-10-11", until: "2026-11-22"}
	change(o)
	shown, err := o.preparePage()
	if err != nil {
		t.Fatal(err)
	}
	of, err := parseResource("cpu")
	if err != nil {
		t.Fatal(err)
	}
	query, err := o.newQuery(shown, of)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.writePage(query, of, shown, usage); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestThePageEscapesNames(t *testing.T) {
	t.Parallel()
	text := readFile(t, writeTestPage(t, newUsage(), func(o *options) { o.users = []string{hostileName} }))
	for _, forbidden := range []string{"<script", "<img", "onerror=\""} {
		if strings.Contains(text, forbidden) {
			t.Errorf("the page contains %s", forbidden)
		}
	}
	if !strings.Contains(text, "&lt;script") {
		t.Error("the page does not contain the name")
	}
}

func TestThePageLoadsNothing(t *testing.T) {
	t.Parallel()
	text := readFile(t, writeTestPage(t, newUsage()[:2], func(*options) {}))
	if found := regexp.MustCompile(`(?i)(src|href|url|@import)\s*[=(]|https?:`).FindString(text); found != "" {
		t.Errorf("the page contains %q", found)
	}
}

func TestThePageOfOneDimensionShowsNoOther(t *testing.T) {
	t.Parallel()
	text := readFile(t, writeTestPage(t, newUsage(), func(o *options) { o.by, o.byGiven = "account", true }))
	if !strings.Contains(text, "<h2>By account</h2>") || strings.Contains(text, "<h2>By queue</h2>") {
		t.Error("the page does not show accounts only")
	}
}

func TestThePageWithoutUseSaysSo(t *testing.T) {
	t.Parallel()
	text := readFile(t, writeTestPage(t, nil, func(*options) {}))
	if strings.Count(text, "No usage was recorded") != 3 || strings.Contains(text, "NaN") {
		t.Errorf("the page without use:\n%s", text)
	}
}

func TestTheBarsAddUpToTheUse(t *testing.T) {
	t.Parallel()
	usage := newUsage()
	rows := sumUp(usage, dimensions["user"], "", 0, 3_600_000)
	colors, others := assignColors(rows)
	if len(colors) != maxColors || !others {
		t.Fatalf("%d colors, others %t", len(colors), others)
	}
	c := &chartData{per: "week", periods: listPeriods("week", at(0).AddDate(0, 0, -20), at(22)), values: map[string][]float64{}}
	c.others = make([]float64, len(c.periods))
	c.addUsage(usage, dimensions["user"], colors, 3_600_000)
	want, got := 0.0, 0.0
	for i := range rows {
		want += rows[i].Hours
	}
	for i := range c.periods {
		got += c.others[i]
		for _, values := range c.values {
			got += values[i]
		}
	}
	if got < want-1e-6 || got > want+1e-6 {
		t.Errorf("the bars show %f hours of %f", got, want)
	}
}

func TestThePeriodOfBarsFollowsFromTheInterval(t *testing.T) {
	t.Parallel()
	for days, want := range map[int]string{1: "day", 62: "day", 63: "week", 366: "week", 367: "month"} {
		if got := choosePeriod(at(1), at(1).AddDate(0, 0, days)); got != want {
			t.Errorf("%d days: %s, want %s", days, got, want)
		}
	}
}

func TestGridLinesHaveRoundAmounts(t *testing.T) {
	t.Parallel()
	for highest, want := range map[float64][2]float64{0: {1, 1}, 0.7: {0.2, 0.8}, 1: {0.2, 1}, 4: {1, 4}, 11: {2, 12}, 5000: {1000, 5000}, 6001: {2000, 8000}} {
		step, top := chooseScale(highest)
		if math.Abs(step-want[0]) > 1e-9 || math.Abs(top-want[1]) > 1e-9 {
			t.Errorf("%g: step %g, top %g, want %g", highest, step, top, want)
		}
	}
	for _, c := range []struct {
		amount, step float64
		want         string
	}{{0.4, 0.2, "0.4"}, {0, 1000, "0"}, {2000, 1000, "2k"}, {1500, 500, "1.5k"}, {2_000_000, 500_000, "2M"}, {1020, 20, "1020"}} {
		if got := formatTick(c.amount, c.step); got != c.want {
			t.Errorf("%g: %s, want %s", c.amount, got, c.want)
		}
	}
}

func TestAmountsHaveSeparators(t *testing.T) {
	t.Parallel()
	for amount, want := range map[float64]string{0: "0.00", 3.345: "3.35", 12.34: "12.3", 999.6: "1,000", 1234567: "1,234,567"} {
		if got := formatAmount(amount); got != want {
			t.Errorf("%g: %s, want %s", amount, got, want)
		}
	}
}

// runBrowser runs Chromium on a page and returns what it prints and logs. It skips the test if Chromium is missing.
func runBrowser(t *testing.T, path string, args ...string) (stdout, stderr string) {
	t.Helper()
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not installed")
	}
	all := append([]string{
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking", "--disable-component-update",
		"--user-data-dir=" + t.TempDir(), "--enable-logging=stderr", "--hide-scrollbars", "--virtual-time-budget=2000",
	}, args...)
	command := exec.CommandContext(t.Context(), browser, append(all, "file://"+path)...)
	var out, errOut bytes.Buffer
	command.Stdout, command.Stderr = &out, &errOut
	if err := command.Run(); err != nil {
		t.Fatalf("chromium: %v\n%s", err, errOut.String())
	}
	return out.String(), errOut.String()
}

func TestABrowserShowsThePageWithoutErrors(t *testing.T) {
	t.Parallel()
	path := writeTestPage(t, newUsage(), func(*options) {})
	log := filepath.Join(t.TempDir(), "net.json")
	dom, logged := runBrowser(t, path, "--dump-dom", "--log-net-log="+log)
	for line := range strings.SplitSeq(logged, "\n") {
		if strings.Contains(line, "CONSOLE") {
			t.Errorf("the console shows %s", line)
		}
	}
	if requests := regexp.MustCompile(`"url":"https?://example[^"]*"`).FindString(readFile(t, log)); requests != "" {
		t.Errorf("the browser requests %s", requests)
	}
	if charts, bars := strings.Count(dom, `class="chart"`), strings.Count(dom, "<rect class="); charts != 3 || bars < 42*3 {
		t.Errorf("the browser shows %d charts and %d bars", charts, bars)
	}
	if strings.Contains(dom, "<script") || strings.Contains(dom, "<img") {
		t.Error("a name became an element")
	}
}

// The first and the last name of a chart, which has all colors, cover an area of the page in light and dark mode.
func TestABrowserDrawsAllColors(t *testing.T) {
	t.Parallel()
	path := writeTestPage(t, newUsage(), func(*options) {})
	for mode, colors := range map[string][]color.RGBA{
		"light": {{0x3b, 0x6f, 0xb6, 255}, {0x5f, 0x6f, 0x85, 255}, {0xa7, 0xb0, 0xba, 255}},
		"dark":  {{0x6a, 0x9d, 0xe0, 255}, {0x8c, 0x9c, 0xb2, 255}, {0x59, 0x62, 0x6d, 255}},
	} {
		picture := filepath.Join(t.TempDir(), mode+".png")
		args := []string{"--screenshot=" + picture, "--window-size=1200,2600"}
		if mode == "dark" {
			args = append(args, "--blink-settings=preferredColorScheme=0")
		}
		runBrowser(t, path, args...)
		if keep := os.Getenv("VC_SCREENSHOTS"); keep != "" {
			if err := os.WriteFile(filepath.Join(keep, mode+".png"), []byte(readFile(t, picture)), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range colors {
			if got := countPixels(t, picture, c); got < 500 {
				t.Errorf("%s: %d pixels have the color %v", mode, got, c)
			}
		}
	}
}

// countPixels returns the number of pixels with a color.
func countPixels(t *testing.T, path string, wanted color.RGBA) int {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	picture, err := png.Decode(file)
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for y := picture.Bounds().Min.Y; y < picture.Bounds().Max.Y; y++ {
		for x := picture.Bounds().Min.X; x < picture.Bounds().Max.X; x++ {
			if color.RGBAModel.Convert(picture.At(x, y)) == wanted {
				count++
			}
		}
	}
	return count
}

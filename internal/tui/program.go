package tui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/theme"
)

// Source supplies snapshots.
type Source interface {
	// Next waits for a snapshot newer than the last one it returned. A slow caller misses the snapshots in between.
	Next(context.Context) (*snapshot.Snapshot, error)
}

// LogSource supplies log lines.
type LogSource interface {
	// Follow starts following these pods and stops following the previous ones.
	Follow(pods []screenapi.PodRef)
	// Stop stops following pods.
	Stop()
	// Next waits for new lines or states and returns the current view.
	Next(context.Context) (*screenapi.LogView, error)
}

// World holds the environment of the dashboard: a terminal and a cluster.
type World struct {
	In     io.Reader
	Out    io.Writer
	Err    io.Writer
	Env    []string
	Source Source
	Logs   LogSource
	Now    func() time.Time
	// Colors, if set, overrides the terminal's colours. If nil, they are detected.
	Colors *theme.Colors
}

// Run shows the dashboard in a terminal until the user quits or ctx is done, and then restores the terminal. next is
// the context that the user wants to switch to, or "". Run returns only errors of the program itself, because errors
// of the cluster are shown in the frame.
func Run(ctx context.Context, settings Settings, world World) (next string, err error) {
	settings.Now = world.Now()
	app, err := New(settings)
	if err != nil {
		return "", err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	m := &model{app: app, world: world, ctx: ctx, dirty: true}
	options := []tea.ProgramOption{
		tea.WithContext(ctx), tea.WithInput(world.In), tea.WithOutput(world.Out), tea.WithEnvironment(world.Env), tea.WithoutSignalHandler(),
	}
	if world.Colors != nil {
		options = append(options, tea.WithColorProfile(colorProfileOf(*world.Colors)))
	}
	m.pace.program = tea.NewProgram(m, options...)
	_, err = m.pace.program.Run()
	if errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil {
		return "", nil
	}
	return m.wanted, err
}

func colorProfileOf(colors theme.Colors) colorprofile.Profile {
	switch colors {
	case theme.Colors16:
		return colorprofile.ANSI
	case theme.Colors256:
		return colorprofile.ANSI256
	case theme.TrueColor:
		return colorprofile.TrueColor
	}
	return colorprofile.ASCII
}

// model implements the terminal library's model for an App.
type model struct {
	app   *App
	world World
	ctx   context.Context
	// dirty is true if something has changed since content was drawn.
	dirty   bool
	frame   canvas.Canvas // last frame, whose canvas the next frame reuses
	content string
	// click is the last click, which is needed to detect double clicks.
	click   tea.Mouse
	clickAt time.Time
	// following counts the StreamLogs effects, so that late lines for earlier ones can be dropped.
	following int
	pace      pace
	// wanted is the context that the user wants to switch to.
	wanted string
}

// Messages from other goroutines.
type (
	snapshotMsg struct{ snap *snapshot.Snapshot }
	failedMsg   struct{ err error }
	tickMsg     time.Time
	doneMsg     struct {
		from screenapi.Screen
		run  screenapi.Run
		done screenapi.Done
	}
	logsMsg struct {
		following int
		view      *screenapi.LogView
		err       error
	}
)

// Init requests the first snapshot and starts the clock.
func (m *model) Init() tea.Cmd {
	return tea.Batch(m.nextSnapshot(), m.nextTick(), tea.RequestBackgroundColor)
}

func (m *model) nextSnapshot() tea.Cmd {
	return func() tea.Msg {
		snap, err := m.world.Source.Next(m.ctx)
		if err != nil {
			return failedMsg{err}
		}
		return snapshotMsg{snap}
	}
}

// compactTick is the time between two updates of times in compact mode, because a screen reader reads every change aloud.
const compactTick = 10 * time.Second

// nextTick waits until the times in the frame need an update.
func (m *model) nextTick() tea.Cmd {
	pause := time.Second
	if m.app.ctx.Compact {
		pause = compactTick
	}
	return tea.Tick(pause, func(at time.Time) tea.Msg { return tickMsg(at) })
}

// doubleClick is the time within which the second click of a double click must follow.
const doubleClick = 500 * time.Millisecond

// Update handles a message.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	m.dirty = true
	m.app.SetCurrentTime(m.world.Now())
	m.adaptPace(msg)
	var more tea.Cmd
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.app.Resize(msg.Width, msg.Height)
	case tea.KeyPressMsg:
		m.app.HandleKey(msg)
	case tea.PasteMsg:
		m.app.HandlePaste(msg.Content)
	case tea.MouseClickMsg:
		m.handleClick(tea.Mouse(msg))
	case tea.MouseWheelMsg:
		m.handleWheel(tea.Mouse(msg))
	case tea.ColorProfileMsg:
		m.app.SetColors(theme.ColorsOfProfile(msg.Profile))
	case tea.BackgroundColorMsg:
		m.app.SetBackground(msg.IsDark())
	case tickMsg:
		more = m.nextTick()
	case snapshotMsg:
		m.app.SetSnapshot(msg.snap)
		more = m.nextSnapshot()
	case failedMsg:
		if m.ctx.Err() == nil {
			m.app.ShowNotice(screenapi.Notice{Text: msg.err.Error(), Bad: true})
		}
	case doneMsg:
		m.app.ReportDone(msg.from, msg.run, msg.done)
	case logsMsg:
		more = m.handleLogs(msg)
	default:
		m.dirty = false
	}
	return m, tea.Batch(more, m.runRequests())
}

// adaptPace adapts how often the library looks for a new frame to a message.
func (m *model) adaptPace(msg tea.Msg) {
	now := time.Now() // not the clock of the world, which may be another one
	switch msg.(type) {
	case tea.KeyPressMsg, tea.PasteMsg, tea.MouseClickMsg, tea.MouseWheelMsg, tea.WindowSizeMsg:
		m.pace.setAtLeast(paceOfInput, now)
	case snapshotMsg, logsMsg, doneMsg, failedMsg:
		m.pace.setAtLeast(paceOfChanges, now)
	case tickMsg:
		m.pace.slowDown(now)
	}
}

func (m *model) handleClick(mouse tea.Mouse) {
	if mouse.Button != tea.MouseLeft || mouse.Mod != 0 {
		return
	}
	at := m.world.Now()
	kind := screenapi.Click
	if at.Sub(m.clickAt) < doubleClick && mouse.X == m.click.X && mouse.Y == m.click.Y {
		kind = screenapi.DoubleClick
	}
	m.click, m.clickAt = mouse, at
	m.app.HandleMouse(screenapi.Mouse{Kind: kind, X: mouse.X, Y: mouse.Y})
}

func (m *model) handleWheel(mouse tea.Mouse) {
	switch mouse.Button {
	case tea.MouseWheelUp:
		m.app.HandleMouse(screenapi.Mouse{Kind: screenapi.WheelUp, X: mouse.X, Y: mouse.Y})
	case tea.MouseWheelDown:
		m.app.HandleMouse(screenapi.Mouse{Kind: screenapi.WheelDown, X: mouse.X, Y: mouse.Y})
	}
}

// View draws the frame if anything has changed.
func (m *model) View() tea.View {
	if m.dirty {
		m.frame = m.app.drawOn(m.frame.ReuseCells(m.app.width, m.app.ctx.H, m.app.ascii))
		m.content = m.frame.StyledText(m.app.ctx.Theme.Open)
		m.dirty = false
	}
	view := tea.NewView(m.content)
	view.AltScreen = true
	if m.app.prefs.UsesMouse() {
		view.MouseMode = tea.MouseModeCellMotion
	}
	if x, y, ok := m.frame.Cursor(); ok && m.app.ctx.Compact {
		view.Cursor = tea.NewCursor(x, y)
	}
	view.WindowTitle = m.app.ctx.Program + " top " + cmp.Or(m.app.ctx.Snap.Cluster, "")
	return view
}

// runRequests carries out the App's requests.
func (m *model) runRequests() tea.Cmd {
	var all []tea.Cmd
	for _, r := range m.app.TakeRequests() {
		switch e := r.Effect.(type) {
		case screenapi.Quit:
			all = append(all, tea.Quit)
		case screenapi.SwitchContext:
			m.wanted = e.Name
			all = append(all, tea.Quit)
		case screenapi.SuspendProgram:
			all = append(all, tea.Suspend)
		case screenapi.Redraw:
			all = append(all, tea.ClearScreen)
		case screenapi.Copy:
			all = append(all, tea.SetClipboard(e.Text))
		case screenapi.Run:
			all = append(all, m.runAndRecover(r.From, e))
		case screenapi.StreamLogs:
			m.following++
			if m.world.Logs != nil {
				m.world.Logs.Follow(e.Pods)
				all = append(all, m.nextLogView())
			}
		case screenapi.StopLogs:
			m.following++
			if m.world.Logs != nil {
				m.world.Logs.Stop()
			}
		case screenapi.Shell:
			all = append(all, m.runShellCommand(r.From, e))
		}
	}
	return tea.Batch(all...)
}

// runAndRecover carries out a Run. It converts a panic to an error, so that the terminal is restored properly.
func (m *model) runAndRecover(from screenapi.Screen, run screenapi.Run) tea.Cmd {
	return func() (msg tea.Msg) {
		done := screenapi.Done{Name: run.Name}
		defer func() {
			if p := recover(); p != nil {
				done.Err = fmt.Errorf("internal error: %v", p)
				msg = doneMsg{from, run, done}
			}
		}()
		if run.Fetch != nil {
			done.Value, done.Err = run.Fetch(m.ctx)
		} else {
			done.Said, done.Err = run.Do(m.ctx)
		}
		return doneMsg{from, run, done}
	}
}

func (m *model) nextLogView() tea.Cmd {
	number := m.following
	return func() tea.Msg {
		view, err := m.world.Logs.Next(m.ctx)
		return logsMsg{number, view, err}
	}
}

func (m *model) handleLogs(msg logsMsg) tea.Cmd {
	if msg.following != m.following {
		return nil
	}
	if msg.err != nil {
		if m.ctx.Err() == nil {
			m.app.ShowNotice(screenapi.Notice{Text: "logs: " + msg.err.Error(), Bad: true})
		}
		return nil
	}
	m.app.SetLogs(msg.view)
	return m.nextLogView()
}

// runShellCommand hands the terminal over to a command and takes it back when the command ends.
func (m *model) runShellCommand(from screenapi.Screen, e screenapi.Shell) tea.Cmd {
	s := &shell{ctx: m.ctx, do: e.Do}
	return tea.Exec(s, func(err error) tea.Msg {
		return doneMsg{from, screenapi.Run{Name: e.Name, Quiet: s.said == ""}, screenapi.Done{Name: e.Name, Said: s.said, Err: err}}
	})
}

// shell implements tea.ExecCommand.
type shell struct {
	ctx         context.Context
	do          func(ctx context.Context, in io.Reader, out, errOut io.Writer) (said string, err error)
	in          io.Reader
	out, errOut io.Writer
	said        string // the result of do
}

func (s *shell) Run() (err error) {
	s.said, err = s.do(s.ctx, s.in, s.out, s.errOut)
	return err
}

func (s *shell) SetStdin(in io.Reader) { s.in = in }
func (s *shell) SetStdout(w io.Writer) { s.out = w }
func (s *shell) SetStderr(w io.Writer) { s.errOut = w }

package browsertest

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"
)

// Page is a page of a browser. What fails fails its test.
type Page struct {
	t       testing.TB
	b       *Browser
	session string
	target  string
}

type object = map[string]any

// Open opens a page of a size, light or dark, at an address. It shares its cookies
// with the other pages of the browser.
func (b *Browser) Open(t testing.TB, width, height int, dark bool, address string) *Page {
	t.Helper()
	p := &Page{t: t, b: b}
	var target struct{ TargetID string }
	if err := b.call("", "Target.createTarget", object{"url": "about:blank"}, &target); err != nil {
		t.Fatal(err)
	}
	p.target = target.TargetID
	t.Cleanup(func() { _ = b.call("", "Target.closeTarget", object{"targetId": p.target}, nil) })
	var attached struct{ SessionID string }
	if err := b.call("", "Target.attachToTarget", object{"targetId": p.target, "flatten": true}, &attached); err != nil {
		t.Fatal(err)
	}
	p.session = attached.SessionID
	p.call("Emulation.setDeviceMetricsOverride", object{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}, nil)
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	p.call("Emulation.setEmulatedMedia", object{"features": []object{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
	p.call("Page.enable", nil, nil)
	p.call("Page.addScriptToEvaluateOnNewDocument", object{"source": watchErrors}, nil)
	p.call("Emulation.setTimezoneOverride", object{"timezoneId": "UTC"}, nil)
	p.Go(address)
	return p
}

// watchErrors keeps what goes wrong on a page.
const watchErrors = `window.wrong = [];
addEventListener("error", (e) => wrong.push(e.message));
addEventListener("unhandledrejection", (e) => wrong.push(String(e.reason)));
addEventListener("securitypolicyviolation", (e) => wrong.push(e.violatedDirective + " " + e.blockedURI));`

// Wrong is what went wrong since the page came: errors of scripts, and what its
// policy forbade.
func (p *Page) Wrong() any {
	p.t.Helper()
	return p.Value(`wrong.join("; ")`)
}

func (p *Page) call(method string, params, result any) {
	p.t.Helper()
	if err := p.b.call(p.session, method, params, result); err != nil {
		p.t.Fatal(err)
	}
}

// Go leads the page to an address and waits until it is there.
func (p *Page) Go(address string) {
	p.t.Helper()
	p.Do(`window.isOld = true`)
	p.call("Page.navigate", object{"url": address}, nil)
	p.Until(`!window.isOld && document.readyState === "complete"`)
}

// Value is what an expression of JavaScript is on the page.
func (p *Page) Value(expression string) (v any) {
	p.t.Helper()
	v, err := p.value(expression)
	if err != nil {
		p.t.Fatal(err)
	}
	return v
}

func (p *Page) value(expression string) (v any, err error) {
	var r struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	err = p.b.call(p.session, "Runtime.evaluate", object{"expression": expression, "returnByValue": true, "awaitPromise": true, "userGesture": true}, &r)
	switch {
	case err != nil:
		return nil, err
	case r.ExceptionDetails != nil:
		return nil, fmt.Errorf("%s: %s %s", expression, r.ExceptionDetails.Text, r.ExceptionDetails.Exception.Description)
	case r.Result.Value == nil:
		return nil, nil
	}
	return v, json.Unmarshal(r.Result.Value, &v)
}

// Do runs statements of JavaScript on the page.
func (p *Page) Do(statements string) {
	p.t.Helper()
	p.Value("void (() => {" + statements + "})()")
}

// Until waits for a condition in JavaScript. While a page goes and another comes,
// it is not met.
func (p *Page) Until(condition string) {
	p.t.Helper()
	var last any
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		v, err := p.value("!!(" + condition + ")")
		if v == true {
			return
		}
		if last = err; p.b.gone() {
			break
		}
	}
	text, _ := p.value("document.body.innerText")
	p.t.Fatalf("in a minute: not %s (%v); the page says %.2000v", condition, last, text)
}

func (b *Browser) gone() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err != nil
}

// Click clicks an element, in its middle, with the mouse.
func (p *Page) Click(selector string) {
	p.t.Helper()
	p.Until(fmt.Sprintf("document.querySelector(%q)", selector))
	v, _ := p.Value(fmt.Sprintf(`(() => { const e = document.querySelector(%q); e.scrollIntoView({block: "center"});
		const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()`, selector)).([]any)
	for _, kind := range []string{"mousePressed", "mouseReleased"} {
		p.call("Input.dispatchMouseEvent", object{"type": kind, "x": v[0], "y": v[1], "button": "left", "clickCount": 1}, nil)
	}
}

// Type types text into what has the focus.
func (p *Page) Type(text string) {
	p.t.Helper()
	for _, r := range text {
		p.call("Input.dispatchKeyEvent", object{"type": "keyDown", "text": string(r), "key": string(r)}, nil)
		p.call("Input.dispatchKeyEvent", object{"type": "keyUp", "key": string(r)}, nil)
	}
}

// Picture is the page, as far as it is on the screen, as PNG.
func (p *Page) Picture() []byte {
	p.t.Helper()
	var shot struct{ Data []byte }
	p.call("Page.captureScreenshot", object{"format": "png"}, &shot)
	return shot.Data
}

package htmlview

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/sessiondb-go/sessiondb/internal/highlight"
)

// Text and code can be read by day and by night: WCAG 2 wants a contrast of 4.5
// between a small text and what is behind it.
func TestContrast(t *testing.T) {
	const enough = 4.5
	light, dark, ok := strings.Cut(MessageStyle, "@media (prefers-color-scheme: dark)")
	if !ok {
		t.Fatal("there are no colours for the night")
	}
	for name, scheme := range map[string]string{"light": light, "dark": dark} {
		colors := colorsOf(t, scheme)
		check := func(text, back string) {
			t.Helper()
			a, ok := colors[text]
			b, there := colors[back]
			if c := contrast(a, b); c < enough || !ok || !there {
				t.Errorf("%s: --%s on --%s has a contrast of %.2f", name, text, back, c)
			}
		}
		for kind := highlight.Comment; kind <= highlight.Removed; kind++ {
			rule := regexp.MustCompile(`pre \.` + codeClass[kind] + ` \{ color: var\(--([a-z]+)\); \}`).FindStringSubmatch(MessageStyle)
			if codeClass[kind] == "" || rule == nil {
				t.Fatalf("code of kind %d has no class %q, or the class no colour", kind, codeClass[kind])
			}
			check(rule[1], "code")
		}
		for _, text := range []string{"text", "soft", "user", "assistant", "tool", "system", "bad"} {
			check(text, "back")
			check(text, "code") // a message that was linked to
		}
	}
}

// colorsOf are the colours of a piece of CSS by their names, each as its luminance.
func colorsOf(t *testing.T, css string) map[string]float64 {
	t.Helper()
	colors := map[string]float64{}
	for _, m := range regexp.MustCompile(`--([a-z]+): #([0-9a-f]+);`).FindAllStringSubmatch(css, -1) {
		hex := m[2]
		if len(hex) == 3 {
			hex = hex[:1] + hex[:1] + hex[1:2] + hex[1:2] + hex[2:] + hex[2:]
		}
		rgb, err := strconv.ParseUint(hex, 16, 24)
		if err != nil {
			t.Fatal(err)
		}
		colors[m[1]] = 0.2126*linear(rgb>>16) + 0.7152*linear(rgb>>8&0xff) + 0.0722*linear(rgb&0xff)
	}
	return colors
}

func linear(channel uint64) float64 {
	c := float64(channel) / 255
	if c <= 0.04045 {
		return c / 12.92
	}
	return math.Pow((c+0.055)/1.055, 2.4)
}

func contrast(a, b float64) float64 { return (max(a, b) + 0.05) / (min(a, b) + 0.05) }

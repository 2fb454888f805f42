package term

// Style is a way to set text off.
type Style string

// The styles in use. They carry no meaning that the text does not.
const (
	Bold   Style = "\x1b[1m"
	Dim    Style = "\x1b[2m"
	Yellow Style = "\x1b[33m"
	Cyan   Style = "\x1b[36m"
)

// Paint puts s in a style, if there is colour.
func (s *Streams) Paint(style Style, text string) string {
	if !s.Color || text == "" {
		return text
	}
	return string(style) + text + "\x1b[0m"
}

package text

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Token is a word of a text, or another piece that is counted as one.
type Token struct {
	Start, End int // bytes of the text
	Word       string
}

// Words splits a text as the word index of the store does: letters, digits and
// private characters make words, compared without case and without the accents
// of Latin letters.
func Words(s string) []Token { return appendWords(make([]Token, 0, min(len(s)/6+1, 1024)), s) }

func appendWords(out []Token, s string) []Token {
	var b strings.Builder
	start, end := -1, 0
	plain := false // the word is what the text has
	for i, r := range s {
		switch {
		case isWord(r):
			if start < 0 {
				start, plain = i, true
			}
			folded := foldWord(r)
			if plain && folded != r {
				plain = false
				b.WriteString(s[start:i])
			}
			if !plain {
				b.WriteRune(folded)
			}
			end = i + utf8.RuneLen(r)
			continue
		case start >= 0 && dropsAccent(r):
			if plain {
				plain = false
				b.WriteString(s[start:i])
			}
			end = i + utf8.RuneLen(r)
			continue
		}
		if start >= 0 {
			out = append(out, wordToken(s, start, end, plain, &b))
			start = -1
		}
	}
	if start >= 0 {
		out = append(out, wordToken(s, start, end, plain, &b))
	}
	return out
}

// wordToken is a word of the text, which b has folded unless it is plain.
func wordToken(s string, start, end int, plain bool, b *strings.Builder) Token {
	if plain {
		return Token{start, end, s[start:end]}
	}
	word := b.String()
	b.Reset()
	return Token{start, end, word}
}

func isWord(r rune) bool {
	if r < utf8.RuneSelf {
		return r|0x20 >= 'a' && r|0x20 <= 'z' || r >= '0' && r <= '9'
	}
	return r != utf8.RuneError && unicode.In(r, unicode.L, unicode.N, unicode.Co)
}

// dropsAccent tells the combining accents that the index takes as part of a
// word and drops.
func dropsAccent(r rune) bool {
	return r >= 0x300 && r <= 0x331 && 0x361f808029fdf&(uint64(1)<<(r-0x300)) != 0
}

// latin holds pairs: a letter, and what the word index makes of it where that
// is not its lower case.
const latin = "µμÀaÁaÂaÃaÄaÅaÇcÈeÉeÊeËeÌiÍiÎiÏiÑnÒoÓoÔoÕoÖoÙuÚuÛuÜuÝyàaáaâaãaäaåaçcèeéeêeëeìiíiîiïiñnòoóoôoõoöoùuúuûuüuýyÿy" +
	"ĀaāaĂaăaĄaąaĆcćcĈcĉcĊcċcČcčcĎdďdĒeēeĔeĕeĖeėeĘeęeĚeěeĜgĝgĞgğgĠgġgĢgģgĤhĥhĨiĩiĪiīiĬiĭiĮiįiĴjĵjĶkķkĹlĺlĻlļlĽlľl" +
	"ŃnńnŅnņnŇnňnŌoōoŎoŏoŐoőoŔrŕrŖrŗrŘrřrŚsśsŜsŝsŞsşsŠsšsŢtţtŤtťtŨuũuŪuūuŬuŭuŮuůuŰuűuŲuųuŴwŵwŶyŷyŸyŹzźzŻzżzŽzžzſs" +
	"ƠoơoƯuưuǍaǎaǏiǐiǑoǒoǓuǔuǦgǧgǨkǩkǪoǫoǰjǴgǵgǸnǹnȀaȁaȂaȃaȄeȅeȆeȇeȈiȉiȊiȋiȌoȍoȎoȏoȐrȑrȒrȓrȔuȕuȖuȗuȘsșsȚtțtȞhȟhȦaȧa" +
	"ȨeȩeȮoȯoȲyȳyςσϐβϑθϕφϖπϰκϱρϵεḀaḁaḂbḃbḄbḅbḆbḇbḊdḋdḌdḍdḎdḏdḐdḑdḒdḓdḘeḙeḚeḛeḞfḟfḠgḡgḢhḣhḤhḥhḦhḧhḨhḩhḪhḫhḬiḭi" +
	"ḰkḱkḲkḳkḴkḵkḶlḷlḺlḻlḼlḽlḾmḿmṀmṁmṂmṃmṄnṅnṆnṇnṈnṉnṊnṋnṔpṕpṖpṗpṘrṙrṚrṛrṞrṟrṠsṡsṢsṣsṪtṫtṬtṭtṮtṯtṰtṱtṲuṳuṴuṵuṶuṷu" +
	"ṼvṽvṾvṿvẀwẁwẂwẃwẄwẅwẆwẇwẈwẉwẊxẋxẌxẍxẎyẏyẐzẑzẒzẓzẔzẕzẖhẗtẘwẙyẛsẠaạaẢaảaẸeẹeẺeẻeẼeẽeỈiỉiỊiịiỌoọoỎoỏoỤuụuỦuủu" +
	"ỲyỳyỴyỵyỶyỷyỸyỹyιιÅa"

var latinFold = sync.OnceValue(func() map[rune]rune {
	m := map[rune]rune{}
	r := []rune(latin)
	for i := 0; i < len(r); i += 2 {
		m[r[i]] = r[i+1]
	}
	return m
})

// foldWord is a letter as the word index compares it.
func foldWord(r rune) rune {
	if r < utf8.RuneSelf {
		if r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}
	if f, ok := latinFold()[r]; ok {
		return f
	}
	return unicode.ToLower(r)
}

// FoldFragment is a text as fragments are compared: without case, with accents.
func FoldFragment(s string) string { return strings.Map(foldChar, s) }

func foldChar(r rune) rune {
	switch r {
	case 'µ':
		return 'μ'
	case 'ſ':
		return 's'
	case 'ς':
		return 'σ'
	case 'İ':
		return r
	}
	return unicode.ToLower(r)
}

// Trigrams splits a text as the fragment index does: every three characters,
// each overlapping the one before.
func Trigrams(s string) []Token {
	var starts []int
	for i, r := range s {
		if r != 0 {
			starts = append(starts, i)
		}
	}
	if len(starts) < 3 {
		return nil
	}
	out := make([]Token, 0, len(starts)-2)
	starts = append(starts, len(s))
	for i := 0; i+3 < len(starts); i++ {
		out = append(out, Token{Start: starts[i], End: starts[i+3]})
	}
	return out
}

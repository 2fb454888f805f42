package sqlitefile

// guessPages is how many pages are looked at to find out about a file.
const guessPages = 4096

// guessPageSize finds the size of a page that makes most of the file b-tree
// pages, 0 if none does.
func (f *File) guessPageSize() int {
	best, most := 0, int64(0)
	for size := 512; size <= 1<<16; size *= 2 {
		if n := f.fitting(size) * int64(size); n > most {
			best, most = size, n
		}
	}
	return best
}

// fitting counts the places of a file that can begin b-tree pages of a size:
// nothing about them is wrong, and what they hold reaches to their end.
func (f *File) fitting(size int) (count int64) {
	pages := f.src.DB.Size / int64(size)
	step := max(pages/guessPages, 1)
	if step > 1 {
		step |= 1 // not in step with anything
	}
	buf := make([]byte, size)
	for n := int64(1); n < pages; n += step {
		if f.read(f.src.DB, buf, n*int64(size)) < size {
			break
		}
		p := rawPage{no: 2, data: buf, have: size}
		if node, ok := parseNode(p, size); ok && node.sound && len(node.cells) > 0 && fills(node, size) {
			count += step
		}
	}
	return count
}

// fills says that an entry of a page stands in its last quarter.
func fills(n *node, size int) bool {
	for _, c := range n.cells {
		if c >= size*3/4 {
			return true
		}
	}
	return false
}

// guessEncoding finds the encoding of text by its zeros: Latin letters in
// UTF-16 have one each.
func (f *File) guessEncoding() Encoding {
	f.Header.Encoding = UTF8
	var even, odd, rest int
	for n := uint32(2); n <= min(f.pages, guessPages) && even+odd+rest < 1<<16; n++ {
		node, ok := f.node(n)
		if !ok || node.kind != tableLeaf {
			continue
		}
		for _, at := range node.cells {
			for _, t := range f.localTexts(node, at) {
				for i, c := range t {
					switch {
					case c != 0:
						rest++
					case i%2 == 0:
						even++
					default:
						odd++
					}
				}
			}
		}
	}
	switch {
	case odd > rest/2:
		return UTF16LE
	case even > rest/2:
		return UTF16BE
	}
	return UTF8
}

// localTexts is the texts of a cell as they stand on its page.
func (f *File) localTexts(n *node, at int) (out [][]byte) {
	c, ok := f.cell(n, at)
	if !ok {
		return nil
	}
	types, body, ok := recordHead(c)
	if !ok {
		return nil
	}
	for _, t := range types {
		end := body + typeSize(t)
		if end > len(c.local) {
			return out
		}
		if isText(t) {
			out = append(out, c.local[body:end])
		}
		body = end
	}
	return out
}

package briefing

import (
	"bytes"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"runtime"
	"testing"
)

// animated is a moving picture of red, then blue.
func animated(t *testing.T, width, height int) []byte {
	t.Helper()
	g := &gif.GIF{Config: image.Config{Width: width, Height: height}}
	for _, c := range []color.Color{color.RGBA{255, 0, 0, 255}, color.RGBA{0, 0, 255, 255}} {
		frame := image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{c, color.Black})
		g.Image, g.Delay = append(g.Image, frame), append(g.Delay, 10)
	}
	var out bytes.Buffer
	if err := gif.EncodeAll(&out, g); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Of a moving picture agents see the first frame, as a picture that stands still, also when the rest of it is broken.
func TestTheFirstFrameOfAMovingPicture(t *testing.T) {
	whole := animated(t, 30, 20)
	for name, data := range map[string][]byte{"whole": whole, "cut off": whole[:len(whole)-20]} {
		got, ok := shown(data)
		if !ok || got.MIME != "image/png" {
			t.Fatalf("%s: %v, %s", name, ok, got.MIME)
		}
		frame, err := png.Decode(bytes.NewReader(got.Data))
		if err != nil || frame.Bounds().Dx() != 30 || frame.Bounds().Dy() != 20 {
			t.Fatalf("%s: %v", name, err)
		}
		if r, _, b, _ := frame.At(5, 5).RGBA(); r == 0 || b != 0 {
			t.Errorf("%s: it is not the first frame", name)
		}
	}
}

// BUG-N03: what no provider takes stays a file that is described, and so does what is no picture at all; a few bytes that
// claim to be a huge picture take no memory.
func TestWhatIsNotShown(t *testing.T) {
	still := func(width, height int) (p, j []byte) {
		var a, b bytes.Buffer
		if err := png.Encode(&a, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
			t.Fatal(err)
		}
		if err := jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, width, height)), nil); err != nil {
			t.Fatal(err)
		}
		return a.Bytes(), b.Bytes()
	}
	longPNG, longJPEG := still(10_000, 20)
	goodPNG, goodJPEG := still(8000, 20)
	bomb := append([]byte("GIF89a"), 0xff, 0xff, 0xff, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0x2c, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0, 8, 1, 0, 0, 0x3b)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for name, c := range map[string]struct {
		data []byte
		ok   bool
	}{
		"PNG": {goodPNG, true}, "JPEG": {goodJPEG, true}, "WebP": {[]byte("RIFF\x10\x00\x00\x00WEBPVP8 1234"), true},
		"a PNG of 10,000 pixels": {longPNG, false}, "a JPEG of 10,000 pixels": {longJPEG, false},
		"SVG":    {[]byte(`<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>`), false},
		"a page": {[]byte("<html>"), false}, "nothing": {nil, false}, "TIFF": {[]byte("II*\x00"), false}, "BMP": {[]byte("BM123456"), false},
		"a GIF of 4 gigapixels": {bomb, false}, "a GIF that is cut off": {[]byte("GIF89a\x01\x00"), false}, "a GIF without a frame": {[]byte("GIF89a\x01\x00\x01\x00\x00\x00\x00;"), false},
		"a GIF of 10,000 pixels": {animated(t, 10_000, 2), false},
	} {
		if _, ok := shown(c.data); ok != c.ok {
			t.Errorf("%s: shown %v", name, ok)
		}
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 64<<20 {
		t.Errorf("looking took %d MiB", used>>20)
	}
}

func FuzzShown(f *testing.F) {
	f.Add([]byte("GIF89a\x02\x00\x02\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff,\x00\x00\x00\x00\x02\x00\x02\x00\x00\x02\x02D\x01\x00;"))
	f.Add([]byte("\x89PNG\r\n\x1a\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if got, ok := shown(data); ok && (len(got.Data) == 0 || got.MIME == "") {
			t.Errorf("shown as %q with %d bytes", got.MIME, len(got.Data))
		}
	})
}

package instance

import "testing"

func TestTwoBotsDoNotShareData(t *testing.T) {
	dir := t.TempDir()
	held, err := Hold(dir)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := Hold(dir); err == nil {
		_ = again.Close()
		t.Fatal("it was held twice")
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Hold(dir)
	if err != nil {
		t.Fatal("it was let go of:", err)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
}

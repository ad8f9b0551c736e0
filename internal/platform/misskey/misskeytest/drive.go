package misskeytest

import (
	"crypto/md5" //nolint:gosec // the API shows it
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"path"
)

// maxUpload bounds a file.
const maxUpload = 64 << 20

// upload takes a file into the drive. Its fields are held against the rules by hand: a form has no JSON shape.
func (in *Instance) upload(r *http.Request) (json.RawMessage, error) {
	form, err := r.MultipartReader()
	if err != nil {
		in.complain("drive/files/create: no form: %v", err)
		return nil, no("INVALID_PARAM")
	}
	fields := map[string]string{}
	var content []byte
	name, found := "", false
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		data, err := io.ReadAll(io.LimitReader(part, maxUpload))
		if err != nil {
			return nil, err
		}
		if part.FormName() == "file" {
			content, name, found = data, part.FileName(), true
			continue
		}
		fields[part.FormName()] = string(data)
	}
	if err := in.admit(fields["i"]); err != nil {
		return nil, err
	}
	delete(fields, "i")
	in.mu.Lock()
	defer in.mu.Unlock()
	for field, value := range fields {
		if _, ok := map[string]bool{"name": true, "folderId": true, "comment": true, "isSensitive": true, "force": true}[field]; !ok {
			in.fault("drive/files/create: a field %q", field)
			return nil, no("INVALID_PARAM")
		}
		if field == "name" {
			name = value
		}
	}
	if !found {
		in.fault("drive/files/create: no file")
		return nil, no("INVALID_PARAM")
	}
	return in.checked(in.keep(name, content)), nil
}

func (in *Instance) checked(f *DriveFile) json.RawMessage {
	answer := mustJSON(f)
	if err := check("answer", "drive/files/create", answer); err != nil {
		in.fault("drive/files/create: the fake's own answer has not the published shape: %v", err)
	}
	return answer
}

// Keep puts a file into the drive and returns its id.
func (in *Instance) Keep(name string, content []byte) string {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.keep(name, content).ID
}

func (in *Instance) keep(name string, content []byte) *DriveFile {
	sum := md5.Sum(content) //nolint:gosec // the API shows it
	f := &DriveFile{ID: in.id(), CreatedAt: in.now(), Name: name, MD5: hex.EncodeToString(sum[:]), Size: len(content),
		Type: mime.TypeByExtension(path.Ext(name)), Content: content}
	if f.Type == "" {
		f.Type = "application/octet-stream"
	}
	f.URL = "http://" + in.host + "/files/" + f.ID
	f.UserID = &in.me.ID
	in.files[f.ID] = f
	in.change()
	return f
}

func (in *Instance) deleteFile(raw json.RawMessage) (json.RawMessage, error) {
	p, err := read(raw)
	if err != nil {
		return nil, err
	}
	if p.FileID == nil || in.files[*p.FileID] == nil {
		return nil, no("NO_SUCH_FILE")
	}
	delete(in.files, *p.FileID)
	in.change()
	return nil, nil
}

func (in *Instance) serveFile(w http.ResponseWriter, r *http.Request) {
	in.mu.Lock()
	f := in.files[r.PathValue("id")]
	in.mu.Unlock()
	if f == nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", f.Type)
	_, _ = w.Write(f.Content) // whoever went away needs no answer
}

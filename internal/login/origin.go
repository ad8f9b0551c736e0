package login

import (
	"net"
	"net/http"
	"net/url"
	"strings"
)

// names are the names under which this listener may be spoken to.
type names struct {
	hosts  map[string]bool // lower case, without a port
	exact  map[string]bool // lower case, with the port where one was given
	public string          // the origin of publicBaseUrl, or ""
}

func newNames(o Options) names {
	n := names{hosts: map[string]bool{}, exact: map[string]bool{}}
	if o.Host != "" {
		n.hosts[strings.ToLower(strings.Trim(o.Host, "[]"))] = true
	}
	if u, err := url.Parse(o.PublicBaseURL); err == nil && u.Host != "" {
		n.hosts[strings.ToLower(u.Hostname())] = true
		n.public = origin(u)
	}
	for _, allowed := range o.AllowedHosts {
		allowed = strings.ToLower(strings.TrimSpace(allowed))
		n.exact[allowed] = true
		if name, port := split(allowed); port == "" {
			n.hosts[name] = true
		}
	}
	return n
}

// origin writes scheme, host and port in one form: lower case, without a port that the scheme implies.
func origin(u *url.URL) string {
	scheme, port := strings.ToLower(u.Scheme), u.Port()
	if scheme == "http" && port == "80" || scheme == "https" && port == "443" {
		port = ""
	}
	host := strings.ToLower(u.Hostname())
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port != "" {
		host += ":" + port
	}
	return scheme + "://" + host
}

// split takes the port off a host; brackets of an IPv6 address go too.
func split(host string) (name, port string) {
	if name, port, err := net.SplitHostPort(host); err == nil {
		return name, port
	}
	return strings.Trim(host, "[]"), ""
}

// knows reports whether a Host header names us: a loopback name, the address that is listened on, the public
// address, or a name that the operator allowed. A foreign name that resolves to this machine is none of these.
func (n names) knows(host string) bool {
	host = strings.ToLower(host)
	name, _ := split(host)
	if name == "localhost" || n.hosts[name] || n.exact[host] {
		return true
	}
	ip := net.ParseIP(name)
	return ip != nil && ip.IsLoopback()
}

// ours reports whether an Origin header names the page that we serve: it agrees with the Host that was asked, or
// is the public address, or one that the operator allowed (for a proxy that changes Host).
func (n names) ours(header, host string) bool {
	u, err := url.Parse(header)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return false
	}
	if got := origin(u); got == n.public || got == origin(&url.URL{Scheme: u.Scheme, Host: host}) {
		return true
	}
	return n.exact[strings.ToLower(u.Host)]
}

// foreign returns why a request is not answered at all, whoever sends it; "" when it is.
func (l *Login) foreign(r *http.Request) string {
	if !l.names.knows(r.Host) {
		return "this name is not one of ours; add it to server.allowedHosts if it is"
	}
	if header := r.Header.Get("Origin"); header != "" && !l.names.ours(header, r.Host) {
		return "another page may not call this; add its name to server.allowedHosts if it is ours"
	}
	return ""
}

// crossed reports whether a browser says that another site, or another port of this machine, made it send the
// request. Browsers send a cookie to every port of a name, so a page session alone proves nothing about it.
func crossed(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return false
	}
	return true
}

package httpsource

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"

	"github.com/turnleaf/turnleaf/internal/handoff"
)

// newTransport dials only addresses that guardAddress allows. It knows no proxy: one from the environment would see the
// credentials and resolve names where the guard cannot look. It keeps compression to us, since an inflated body needs a bound.
func newTransport(allowPrivate bool) *http.Transport {
	d := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 15 * time.Second, Control: guardDial(allowPrivate)}
	return &http.Transport{
		DialContext:            d.DialContext,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true,
		TLSHandshakeTimeout:    10 * time.Second,
		MaxResponseHeaderBytes: 256 << 10,
		MaxIdleConnsPerHost:    2,
		IdleConnTimeout:        30 * time.Second,
	}
}

// guardDial judges the address a name was resolved to, right before connecting, so that a name that changes its address between
// a check and its use gains nothing.
func guardDial(allowPrivate bool) func(network, address string, _ syscall.RawConn) error {
	return func(_, address string, _ syscall.RawConn) error {
		ap, err := netip.ParseAddrPort(address)
		if err != nil {
			return fmt.Errorf("%w: an address that cannot be read", handoff.ErrConfig)
		}
		return guardAddress(ap.Addr(), allowPrivate)
	}
}

// prefixes that no event API is served from, whatever the definition allows: they name this host's own machinery.
var (
	neverPrefixes = prefixes("0.0.0.0/8", "169.254.0.0/16", "168.63.129.16/32", "192.0.0.0/24", "224.0.0.0/4", "240.0.0.0/4",
		"::/128", "fe80::/10", "fec0::/10", "ff00::/8", "fd00:ec2::/32", "100.100.100.200/32")
	privatePrefixes = prefixes("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10",
		"198.18.0.0/15", "::1/128", "fc00::/7")
	// An IPv4 address travels inside these: NAT64, 6to4 and the old compatible form.
	nat64, sixToFour, compatible = netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("::/96")
	tunnels                      = prefixes("2001::/32", "64:ff9b:1::/48")
)

func prefixes(list ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(list))
	for i, p := range list {
		out[i] = netip.MustParsePrefix(p)
	}
	return out
}

// guardAddress refuses, wrapping handoff.ErrConfig: addresses of the host itself, link-local and metadata addresses, multicast
// and tunnels always; loopback, private and carrier-grade ones unless the definition allows private addresses.
func guardAddress(a netip.Addr, allowPrivate bool) error {
	a = a.WithZone("").Unmap()
	if in(a, neverPrefixes) || in(a, tunnels) {
		return fmt.Errorf("%w: address %s is never asked", handoff.ErrConfig, a)
	}
	if in(a, privatePrefixes) {
		if allowPrivate {
			return nil
		}
		return fmt.Errorf("%w: address %s is private, and allow_private is not set", handoff.ErrConfig, a)
	}
	if inner, ok := embedded(a); ok {
		return guardAddress(inner, allowPrivate)
	}
	return nil
}

func in(a netip.Addr, list []netip.Prefix) bool {
	for _, p := range list {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// embedded gives the IPv4 address that an IPv6 address only wraps.
func embedded(a netip.Addr) (netip.Addr, bool) {
	if !a.Is6() {
		return netip.Addr{}, false
	}
	b := a.As16()
	switch {
	case nat64.Contains(a), compatible.Contains(a):
		return netip.AddrFrom4([4]byte(b[12:])), true
	case sixToFour.Contains(a):
		return netip.AddrFrom4([4]byte(b[2:6])), true
	}
	return netip.Addr{}, false
}

package demo

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
)

// place is what a token stands for. Nobody but this server can read or make one.
type place struct {
	after int  // the last event given
	empty bool // the empty page was given
}

var errToken = errors.New("this cursor is not one of ours")

const tagLength = 12

// token seals a place: the plain bytes are masked by a tag that is computed from them. The same place gives the same token.
func (f Feed) token(p place) string {
	plain := binary.BigEndian.AppendUint32(nil, uint32(p.after))
	plain = append(plain, 0)
	if p.empty {
		plain[4] = 1
	}
	tag := f.mac("tag", plain)[:tagLength]
	mask := f.mac("mask", tag)
	for i := range plain {
		plain[i] ^= mask[i]
	}
	return base64.RawURLEncoding.EncodeToString(append(plain, tag...))
}

// place opens a token; errToken if it was not sealed by this feed.
func (f Feed) place(token string) (place, error) {
	b, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || len(b) != 5+tagLength {
		return place{}, errToken
	}
	plain, tag := b[:5], b[5:]
	mask := f.mac("mask", tag)
	for i := range plain {
		plain[i] ^= mask[i]
	}
	if !hmac.Equal(tag, f.mac("tag", plain)[:tagLength]) {
		return place{}, errToken
	}
	return place{int(binary.BigEndian.Uint32(plain)), plain[4] == 1}, nil
}

func (f Feed) mac(use string, b []byte) []byte {
	key := binary.BigEndian.AppendUint64([]byte("turnleaf demo feed "+use), f.Seed)
	m := hmac.New(sha256.New, key)
	m.Write(b)
	return m.Sum(nil)
}

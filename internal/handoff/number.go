package handoff

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// maxExponent bounds the exponent of a number we compute with: 1e999999999 is eleven bytes of JSON and a gigabyte of digits.
const maxExponent = 1000

// maxDigits bounds the literal itself.
const maxDigits = 1000

// Decimal is an exact decimal number of any size: unscaled × 10^-scale. JSON numbers are read into it digit for digit.
type Decimal struct {
	unscaled *big.Int
	scale    int
}

// ParseDecimal reads a JSON number literal.
func ParseDecimal(s string) (Decimal, error) {
	bad := func() (Decimal, error) { return Decimal{}, fmt.Errorf("%.40q is not a number", s) }
	if len(s) == 0 || len(s) > maxDigits {
		return Decimal{}, fmt.Errorf("a number of %d characters: 1 to %d are read", len(s), maxDigits)
	}
	mantissa, exponent := s, 0
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		n, err := strconv.Atoi(s[i+1:])
		if err != nil {
			return bad()
		}
		if n > maxExponent || n < -maxExponent {
			return Decimal{}, fmt.Errorf("exponent %d is beyond ±%d", n, maxExponent)
		}
		mantissa, exponent = s[:i], n
	}
	whole, frac, dotted := strings.Cut(mantissa, ".")
	digits := strings.TrimPrefix(whole, "-")
	if digits == "" || (dotted && frac == "") || !allDigits(digits) || !allDigits(frac) {
		return bad()
	}
	u, ok := new(big.Int).SetString(whole+frac, 10)
	if !ok {
		return bad()
	}
	d := Decimal{u, len(frac) - exponent}
	if d.scale < 0 {
		d.unscaled = new(big.Int).Mul(u, pow10(-d.scale))
		d.scale = 0
	}
	return d.normal(), nil
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

func pow10(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// normal drops trailing zeros of the fraction, so that equal numbers print alike.
func (d Decimal) normal() Decimal {
	ten, rem, q := big.NewInt(10), new(big.Int), new(big.Int)
	u, scale := new(big.Int).Set(d.unscaled), d.scale
	for scale > 0 {
		q.QuoRem(u, ten, rem)
		if rem.Sign() != 0 {
			break
		}
		u.Set(q)
		scale--
	}
	return Decimal{u, scale}
}

func align(a, b Decimal) (x, y *big.Int, scale int) {
	x, y, scale = a.unscaled, b.unscaled, a.scale
	if a.scale < b.scale {
		x, scale = new(big.Int).Mul(x, pow10(b.scale-a.scale)), b.scale
	} else if b.scale < a.scale {
		y = new(big.Int).Mul(y, pow10(a.scale-b.scale))
	}
	return x, y, scale
}

// Cmp compares exactly: -1, 0, 1.
func (d Decimal) Cmp(e Decimal) int {
	x, y, _ := align(d, e)
	return x.Cmp(y)
}

// Add is the exact sum.
func (d Decimal) Add(e Decimal) Decimal {
	x, y, scale := align(d, e)
	return Decimal{new(big.Int).Add(x, y), scale}.normal()
}

// Int reports whether the number is whole.
func (d Decimal) Int() bool { return d.scale == 0 }

// String is the shortest plain decimal, without an exponent.
func (d Decimal) String() string {
	if d.unscaled == nil {
		return "0"
	}
	s := new(big.Int).Abs(d.unscaled).String()
	if d.scale > 0 {
		if len(s) <= d.scale {
			s = strings.Repeat("0", d.scale-len(s)+1) + s
		}
		s = s[:len(s)-d.scale] + "." + s[len(s)-d.scale:]
	}
	if d.unscaled.Sign() < 0 {
		s = "-" + s
	}
	return s
}

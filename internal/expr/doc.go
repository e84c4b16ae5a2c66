// Package expr is the one expression language: CEL over JSON documents, with exact numbers.
//
// A document is read once by Decode into an immutable tree whose nodes are slices of the bytes that came in, so that a record
// taken out of a page is byte for byte what the source sent. An expression is compiled once and evaluated lazily over that
// tree: only what it touches is looked at.
//
// Numbers. A JSON whole number that fits 64 bits is a CEL int. Every other one (longer, with a fraction or an exponent, or -0)
// is an exact value that is never turned into a float: text(x), json(x), results and compare(a, b) work on its digits; == and
// != compare two of them by value. Against a native number (1e3 == 1000) and under every other operator it is an error, in
// both orders of the operands, so that no rounding decides anything in silence.
//
// Keys. A missing key is an error, never null; has(x.key) asks, and is true for a key that is null.
//
// Functions beside those of CEL and its string extension:
//
//	text(x)       a text as it is; a number digit for digit; "true" or "false"
//	json(x)       compact JSON text: numbers digit for digit, keys in the document's order
//	compare(a, b) -1, 0 or 1 for two numbers of any size; a text is read as a number, so compare(event.amount, "99.95")
//
// Errors say what is wrong and where in the expression, never what the document holds.
package expr

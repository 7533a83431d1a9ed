/** Nobody's text hides or moves what others read, and ordinary text of every script stays. */
import fc from 'fast-check'
import { shownText } from '../../src/base/shown-text.js'
import { t } from '../support/tests-in-slices.js'

const every = function* (form: RegExp): Generator<string, void, undefined> {
  for (let code = 0; code < 0x110000; code += 1) {
    const char = String.fromCodePoint(code)
    if (form.test(char)) yield char
  }
}

t.test('every character that cannot be seen is written out where nothing can be joined to it', async (t) => {
  const raw: string[] = []
  for (const char of every(/\p{Default_Ignorable_Code_Point}|\p{Zl}|\p{Zp}|\p{Cs}/u)) {
    if (shownText(`a${char}b`).includes(char)) raw.push(char.codePointAt(0)?.toString(16) ?? '')
    if (shownText(char).includes(char)) raw.push(char.codePointAt(0)?.toString(16) ?? '')
  }
  t.strictSame(raw, [])
  t.equal(shownText('a\u200bb\u2060c\ufeffd\u00ade'), 'a\\u200bb\\u2060c\\ufeffd\\u00ade')
  t.equal(shownText('x\u{e0041}y'), 'x\\udb40\\udc41y', 'as JSON writes it')
})

t.test('format characters that stay raw have a sign of their own', async (t) => {
  const raw = [...every(/\p{Cf}/u)].filter((char) => shownText(`a${char}b`).includes(char))
  const seen = /[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}\u{13430}-\u{1343f}]/u
  t.strictSame(raw.filter((char) => !seen.test(char)), [])
  t.ok(raw.length > 10)
})

t.test('ordinary text stays what it is: joiners of scripts, pictures, keycaps and flags', async (t) => {
  const texts = [
    'مي\u200cخواهم', 'क्\u200dष', '👩\u200d💻', '❤\ufe0f\u200d🔥', '👁\ufe0f\u200d🗨\ufe0f',
    '👩🏽\u200d🚀', '™\ufe0f', '1\ufe0f\u20e3', '葛\u{e0100}', 'ᠠ\u180b',
    '\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}', 'naïve\n\tΑθήνα, Київ',
  ]
  for (const text of texts) t.equal(shownText(text), text)
})

t.test('joiners that join nothing, or too many of them, are written out', async (t) => {
  const texts = [
    'a\u200d.png', '\u200cb', 'é\u200d', 'я\ufe0f', '1\ufe0f', '.\u180b', '\u200b\u200d',
  ]
  for (const text of texts) {
    t.notMatch(shownText(text), /[\u180b-\u180f\u200b-\u200d\ufe00-\ufe0f]/, JSON.stringify(text))
  }
  t.notMatch(shownText(`👩${'\u200d'.repeat(40)}`), /\u200d/)
  t.notMatch(shownText('\u{1f3f4}\u{e0067}'), /\u{e0067}/u, 'tags without an end are no flag')
})

t.test('in JSON what is written out means the same text', async (t) => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => {
    t.strictSame(JSON.parse(shownText(JSON.stringify({ text }))), { text })
  }), { numRuns: 300 })
})

t.test('a control character is written out where all else is plain ASCII', async (t) => {
  t.equal(shownText('a\u001b[2Jb'), 'a\\u001b[2Jb')
  t.equal(shownText('a\tb\n'), 'a\tb\n')
})

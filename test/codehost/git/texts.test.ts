/** Texts of commits, and file bytes on their way into a request body. */
import * as fc from 'fast-check'
import t from 'tap'
import { shownText } from '../../../src/base/shown-text.js'
import {
  identityBytesMax, identityReason, messageBytesMax, messageReason, requireCommitText,
} from '../../../src/codehost/git/commit.js'
import {
  base64BytesOf, base64Encoder, jsonBytesOf, jsonStringEncoder,
} from '../../../src/codehost/git/encode.js'
import type { PieceEncoder } from '../../../src/codehost/git/encode.js'
import { fileScan } from '../../../src/codehost/git/file-scan.js'
import { bareRepository, git, linesOf } from '../../support/codehost/real-git.js'
import { emptyTree } from '../../../src/codehost/git/tree.js'

const date = '2024-02-29T23:59:59Z'
const person = { name: 'Ann', email: 'ann@example', date }

t.test('a message ends in exactly one LF, has no other line ends and no NUL', async (t) => {
  const cases: readonly [string, string | null][] = [
    ['One\n', null], ['One\n\nTwo\n', null], ['é 😀\n', null], ['a \n', null],
    ['', 'message_empty'], ['\n', 'message_empty'], [' \n \n', 'message_empty'],
    ['a', 'message_final_newline'], ['a\n\n', 'message_final_newline'],
    ['a\r\n', 'message_carriage_return'], ['a\rb\n', 'message_carriage_return'],
    ['a\0\n', 'message_nul'], ['\na\n', 'message_begin'], [' a\n', 'message_begin'],
    ['\ud800\n', 'message_not_unicode'],
    [`${'a'.repeat(messageBytesMax - 1)}\n`, null],
    [`${'a'.repeat(messageBytesMax)}\n`, 'message_too_long'],
  ]
  for (const [message, reason] of cases) {
    t.equal(messageReason(message), reason, JSON.stringify(message.slice(0, 20)))
    const check = (): void => requireCommitText({ author: person, committer: person, message })
    if (reason === null) check()
    else t.throws(check, { code: 'commit_text_invalid', kind: 'rejected', reason })
  }
})

t.test('people are named in the one form that no git tidies up', async (t) => {
  const place = bareRepository(t.testdir({}))
  git(place, ['mktree'], '')
  /** What stands before the seconds in the author line that git makes of the two. */
  const lineOf = (name: string, email: string): string => {
    const env = {
      ...place.env,
      GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: email, GIT_AUTHOR_DATE: '@0 +0000',
      GIT_COMMITTER_NAME: 'C', GIT_COMMITTER_EMAIL: 'c', GIT_COMMITTER_DATE: '@0 +0000',
    }
    const [id = ''] = linesOf(git({ ...place, env }, ['commit-tree', emptyTree.id], 'm\n'))
    const [, author = ''] = linesOf(git(place, ['cat-file', 'commit', id]))
    return author
  }
  for (const name of ['Ann', 'A. B', 'O’Neil', "d'Arc", '李', 'x (y)', 'Q"R', '1']) {
    t.equal(identityReason({ ...person, name }), null, name)
    t.equal(lineOf(name, 'a@b'), `author ${name} <a@b> 0 +0000`)
  }
  for (const name of [
    'Jr.', '.a', ' a', 'a ', '"a"', "'a", 'a,', ':a', 'a;', 'a\\', 'a<b', 'a>b',
  ]) {
    t.equal(identityReason({ ...person, name }), 'name_form', name)
    t.not(lineOf(name, 'a@b'), `author ${name} <a@b> 0 +0000`, name)
  }
  for (const name of ['', 'a\nb', 'a\0b', 'a\tb', '\ud800', 'a\u2028b', '\u00a0a']) {
    t.equal(identityReason({ ...person, name }), 'name_form', shownText(name))
  }
  for (const email of ['', 'a b', '<a@b>', 'a@b.', '.a@b', 'a\nb', '\udc00', "a'", 'a\u0085b']) {
    t.equal(identityReason({ ...person, email }), 'email_form', shownText(email))
  }
  t.equal(identityReason({ ...person, date: '2024-02-30T00:00:00Z' }), 'date_form')
  const long = 'é'.repeat(identityBytesMax / 2)
  t.equal(identityReason({ ...person, name: long, email: long }), null)
  t.equal(identityReason({ ...person, name: `${long}a` }), 'identity_too_long')
  t.equal(identityReason({ ...person, email: `${long}a` }), 'identity_too_long')
  t.throws(() => requireCommitText({
    author: person, committer: { ...person, name: '' }, message: 'm\n',
  }), { code: 'commit_text_invalid', reason: 'name_form' })
})

const inPieces = (encoder: PieceEncoder, bytes: Uint8Array, size: number): Buffer => {
  const pieces: Buffer[] = []
  for (let at = 0; at < bytes.length; at += size) {
    pieces.push(encoder.push(bytes.subarray(at, at + size)))
  }
  return Buffer.concat([...pieces, encoder.end()])
}

const anyText = fc.string({ unit: fc.oneof(
  fc.constantFrom('"', '\\', '\n', '\r', '\t', '\b', '\f', '\u0001', '\u001f', '\u007f', '\u2028',
    '\ufeff', 'é', '日', '😀', '/', '<'),
  fc.string({ unit: 'grapheme', maxLength: 3 })) })
  .map((text) => text.replaceAll('\0', ''))

t.test('text in random pieces stands in a body as JSON.stringify writes it, its length known before', async (t) => {
  fc.assert(fc.property(anyText, fc.integer({ min: 1, max: 7 }), (text, size) => {
    const bytes = Buffer.from(text)
    const wanted = Buffer.from(JSON.stringify(text).slice(1, -1))
    if (!inPieces(jsonStringEncoder(), bytes, size).equals(wanted)) throw new Error('bytes')
    if (jsonBytesOf(bytes) !== wanted.length) throw new Error('length')
    const scan = fileScan(bytes.length)
    for (let at = 0; at < bytes.length; at += size) scan.update(bytes.subarray(at, at + size))
    const { text: isText, jsonBytes } = scan.end()
    if (!isText || jsonBytes !== wanted.length) throw new Error('scan')
  }), { numRuns: 500 })
  t.equal(jsonBytesOf(Buffer.from('a"\n\u0001')), 1 + 2 + 2 + 6)
})

t.test('bytes in random pieces have their base64, its length known before', async (t) => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 50 }), fc.integer({ min: 1, max: 7 }),
    (bytes, size) => {
      const wanted = Buffer.from(bytes).toString('base64')
      if (inPieces(base64Encoder(), bytes, size).toString() !== wanted) throw new Error('bytes')
      if (base64BytesOf(bytes.length) !== wanted.length) throw new Error('length')
    }), { numRuns: 500 })
  t.equal(base64BytesOf(4), 8)
})

t.test('what holds a NUL or is not UTF-8 is no text, wherever a piece ends', async (t) => {
  const isText = (bytes: readonly number[], size: number): boolean => {
    const scan = fileScan(bytes.length)
    for (let at = 0; at < bytes.length; at += size) {
      scan.update(Uint8Array.from(bytes.slice(at, at + size)))
    }
    const { text, jsonBytes } = scan.end()
    t.equal(jsonBytes > 0, text && bytes.length > 0)
    return text
  }
  for (const size of [1, 2, 3, 10]) {
    t.ok(isText([], size))
    t.ok(isText([0xf0, 0x9f, 0x98, 0x80], size))
    t.ok(isText([0xef, 0xbb, 0xbf, 0x61], size))
    for (const wrong of [
      [0x61, 0], [0], [0xf0, 0x9f, 0x98], [0xff], [0xed, 0xa0, 0x80], [0xc0, 0x80], [0x61, 0xc3],
      [0x80, 0x61, 0x61],
    ]) t.notOk(isText(wrong, size), wrong.join())
  }
})

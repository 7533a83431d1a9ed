import t from 'tap'
import fc from 'fast-check'
import {
  billingUuidOf, inferenceHeaderAgrees, isOperationId, parseBodyId, parseUuidText,
} from '../../src/alpha/identity.js'

const vector = 'cc8b70d8-7edb-5113-a31a-bee2bfbbf194'

t.test('A-144 a body id has 1 to 256 UTF-8 bytes, and is text', async (t) => {
  for (const id of ['i', ' ', 'i'.repeat(256), 'é'.repeat(128), '😀'.repeat(64)]) {
    t.equal(parseBodyId(id), id)
  }
  for (const id of ['', 'i'.repeat(257), `${'é'.repeat(128)}i`, '😀'.repeat(65), undefined, null,
    7, true, ['i'], { id: 'i' }, '\ud800', 'a\udc00b']) {
    t.equal(parseBodyId(id), null, JSON.stringify(id)?.slice(0, 20) ?? 'undefined')
  }
})

t.test('A-145 an operation id has 1 to 256 UTF-8 bytes', async (t) => {
  t.ok(isOperationId('o'.repeat(256)))
  t.ok(isOperationId('é'.repeat(128)))
  t.notOk(isOperationId('o'.repeat(257)))
  t.notOk(isOperationId(`${'é'.repeat(128)}o`))
  t.notOk(isOperationId(''))
})

t.test('A-146 the billing UUID is version 5 in the DNS namespace over the body id', async (t) => {
  t.equal(billingUuidOf('chatcmpl-123'), vector)
  t.equal(billingUuidOf('www.example.com'), '2ed6657d-e927-568b-95e1-2665a8aea6a2')
  t.match(billingUuidOf('schlüssel-😀'), /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab]/)
})

t.test('A-147 a present inference-id must be one strict UUID equal to the computed', async (t) => {
  t.ok(inferenceHeaderAgrees([vector], vector))
  t.ok(inferenceHeaderAgrees([vector.toUpperCase()], vector))
  for (const values of [[''], [' '], [`${vector} `], [`{${vector}}`], [`urn:uuid:${vector}`],
    [vector.replaceAll('-', '')], [billingUuidOf('another')], [vector, vector],
    [vector, billingUuidOf('another')], [`${vector}, ${vector}`], []]) {
    t.notOk(inferenceHeaderAgrees(values, vector), JSON.stringify(values))
  }
})

t.test('A-148 only an absent header lets the computed UUID stand by itself', async (t) => {
  t.ok(inferenceHeaderAgrees(undefined, vector))
  t.notOk(inferenceHeaderAgrees([''], vector))
})

t.test('A-149 UUID text is hyphenated 8-4-4-4-12 and comes out in lower case', async (t) => {
  t.equal(parseUuidText(vector), vector)
  t.equal(parseUuidText(vector.toUpperCase()), vector)
  for (const text of [` ${vector}`, `${vector}\n`, `\t${vector}`, `{${vector}}`, `(${vector})`,
    `urn:uuid:${vector}`, `URN:UUID:${vector}`, vector.replaceAll('-', ''), vector.slice(1),
    `${vector}0`, vector.replace('-', '_'), vector.replace('c', 'g'), '', null, 5, [vector]]) {
    t.equal(parseUuidText(text), null, JSON.stringify(text))
  }
  fc.assert(fc.property(fc.string(), (text) => parseUuidText(`${vector}${text}`) === null ||
    text === ''))
})

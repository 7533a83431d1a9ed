import fc from 'fast-check'
import t from 'tap'
import { parseClosed } from '../../src/base/schema.js'
import { publicPlaceOf, publicPlaceShape } from '../../src/net/public-place.js'
import { forAll } from '../support/for-all.js'
import { errorOf } from '../support/refused.js'

const about = { code: 'place', what: 'the place' }
const read = (text: string): string => parseClosed(publicPlaceShape, text, about)
const ruleOf = (text: string): string => errorOf(() => read(text)).message

t.test('a place for machines elsewhere is one host and one port, and each other text is told the rule that it breaks', async (t) => {
  const broken: Readonly<Record<string, readonly string[]>> = {
    'HOST:PORT': [
      '', 'desk.example', ':8443', 'desk.example:', 'https://desk.example:8443',
      'desk.example:8443/', 'desk.example:8443/a', 'ann@desk.example:8443', 'ann:x@desk.example:1',
      'desk.example:8443?a', 'desk.example:8443#a', 'desk .example:1', ' desk.example:1',
      'desk.example:1 ', 'desk\\.example:1', '::1:8443', 'fd12::1:8443', '[::1]', '[::1:8443',
      'desk.example:1:2', '[::1]x:1', 'desk.example:84\n43',
    ],
    'port from 1 to 65535': [
      'desk.example:0', 'desk.example:65536', 'desk.example:99999', 'desk.example:100000',
      'desk.example:08443', 'desk.example:+1', 'desk.example:1e3', 'desk.example:0x1',
      'desk.example:https',
    ],
    'xn--': ['bücher.example:8443', 'ДЕСК.example:1', 'desk\u3002example:1'],
    'letters, digits and hyphens': [
      'desk.example.:8443', 'desk..example:1', '.example:1', '-desk.example:1', 'desk-.example:1',
      'a_b.example:1', '127.1:1', '0x7f.0.0.1:1', '2130706433:1', '0177.0.0.1:1', '1.2.3.4.5:1',
      '256.1.1.1:1', 'desk.1:1', 'desk.0x1:1', '[127.0.0.1]:1', '[desk.example]:1', '[]:1',
      '[::1%lo]:1', '[fe80::1%25lo]:1', 'a%62.example:1', 'xn--a.example:1', 'desk,example:1',
      `${'a'.repeat(64)}.example:1`, `${'a.'.repeat(127)}example:1`,
    ],
    'address that one machine has': [
      '0.0.0.0:1', '255.255.255.255:1', '224.0.0.1:1', '169.254.169.254:1', '192.0.2.7:1', '[::]:1',
      '[ff02::1]:1', '[fe80::1]:1', '[2001:db8::1]:1', '[::ffff:127.0.0.1]:1',
    ],
  }
  for (const [rule, texts] of Object.entries(broken)) {
    for (const text of texts) t.match(ruleOf(text), rule, JSON.stringify(text))
  }
})

t.test('what a place stands for: the origin that devices are told, and the Host that names it', async (t) => {
  const origins: Readonly<Record<string, readonly [string, ...string[]]>> = {
    'desk.example:8443': ['https://desk.example:8443', 'desk.example:8443'],
    'Desk.Example:8443': ['https://desk.example:8443', 'desk.example:8443'],
    'desk:1': ['https://desk:1', 'desk:1'],
    'localhost:8443': ['https://localhost:8443', 'localhost:8443'],
    '127.0.0.1:8443': ['https://127.0.0.1:8443', '127.0.0.1:8443'],
    '10.0.0.7:65535': ['https://10.0.0.7:65535', '10.0.0.7:65535'],
    '[::1]:8443': ['https://[::1]:8443', '[::1]:8443'],
    '[FD12:0::1]:8443': ['https://[fd12::1]:8443', '[fd12::1]:8443'],
    'xn--bcher-kva.example:8443': [
      'https://xn--bcher-kva.example:8443', 'xn--bcher-kva.example:8443',
    ],
    'desk.example:443': ['https://desk.example', 'desk.example', 'desk.example:443'],
    '[::1]:443': ['https://[::1]', '[::1]', '[::1]:443'],
  }
  for (const [text, [origin, ...hosts]] of Object.entries(origins)) {
    t.equal(read(text), text)
    t.strictSame(publicPlaceOf(text), { origin, hosts }, text)
  }
})

t.test('no text crashes the check or is quoted, and what passes is an origin and nothing else', async (t) => {
  const host = fc.oneof(fc.domain(), fc.ipV4(), fc.ipV6().map((one) => `[${one}]`), fc.string())
  const text = fc.oneof(
    fc.string(), fc.tuple(host, fc.integer({ min: 0, max: 70_000 })).map(([a, b]) => `${a}:${b}`))
  forAll(t, fc.property(text, (one) => {
    try {
      const { origin } = publicPlaceOf(read(one))
      return new URL(origin).origin === origin
    } catch (error) {
      const { message } = error as Error
      return message.startsWith('The place must have ') || message.startsWith('The place must be ')
    }
  }), { numRuns: 2_000 })
})

import { writeFileSync } from 'node:fs'
import fc from 'fast-check'
import t from 'tap'
import { edgeLimits } from '../../../src/edge/constants.js'
import { blockedBy, matchesGlob } from '../../../src/edge/device/blocklist.js'
import { readSettings } from '../../../src/edge/device/settings.js'
import { nodeFiles } from '../../../src/state/files.js'

t.test('S-041 a pattern fits as the regular expression that it stands for', (t) => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '.', '*', '?', '\n'), maxLength: 12 })
  fc.assert(fc.property(text, text, (pattern, given) => {
    const rule = [...pattern].map((one) =>
      one === '*' ? '[^]*' : one === '?' ? '[^]' : one.replace(/[.\n]/, '\\$&')).join('')
    return matchesGlob(pattern, given) === new RegExp(`^${rule}$`).test(given)
  }), { numRuns: 2_000 })
  for (const [pattern, given] of [
    ['*bank*', 'My BANK.png'], ['*.png', 'é.PNG'], ['ｗallet*', 'Wallet 1'],
    ['caf\u00e9', 'cafe\u0301'],
    ['*ΟΔΟΣ*', 'οδος.png'], ['οδοσ*', 'ΟΔΟΣ.png'], ['stra?e', 'STRAßE'],
  ] as const) t.ok(matchesGlob(pattern, given), pattern)
  t.end()
})

t.test('S-041 no pattern keeps the device: the worst ones come to their end', (t) => {
  // To try every way of each would take longer than anybody waits.
  for (const pattern of ['*a'.repeat(127), '*?a'.repeat(80), '*aa'.repeat(80), '*'.repeat(254)]) {
    const text = `${'a'.repeat(120)}${'b'.repeat(4_000)}`
    t.equal(matchesGlob(pattern, text), pattern.endsWith('**'), pattern.slice(0, 6))
  }
  t.end()
})

t.test('S-041 source and file name are each looked at by their own list', (t) => {
  const list = { sources: ['1Password*'], file_names: ['*secret*'] }
  t.equal(blockedBy(list, { source: '1password 8', file_name: 'a.png' }), 'source')
  t.equal(blockedBy(list, { source: null, file_name: 'my Secret.png' }), 'file_name')
  t.equal(blockedBy(list, { source: 'secret', file_name: '1Password.png' }), null)
  t.equal(blockedBy({ sources: ['*'], file_names: [] }, { source: null, file_name: 'a' }), null)
  t.end()
})

t.test('S-041 S-209 settings that are not what they should be are refused, never taken as none', (t) => {
  const dir = t.testdir()
  const read = (text: string): unknown => {
    const path = `${dir}/settings.json`
    writeFileSync(path, text)
    try {
      return readSettings(nodeFiles, path)
    } catch (error) {
      return (error as { code: string }).code
    }
  }
  for (const text of [
    '', '[]', '{"blocklist":{"file_name":["x"]}}', '{"blocklist":["x"]}',
    '{"limits":{"max_items":0}}', '{"blocklist":{"sources":[""]}}',
    '{"retry":{"first_ms":1}}', '{"limits":{"max_items":1.0}}',
    '{"limits":null}', '{"retry":{"first_ms":5000,"most_ms":4000}}',
    `{"blocklist":{"sources":["${'x'.repeat(257)}"]}}`, '{"limits":{},"limits":{}}',
  ]) t.type(read(text), 'string', text)
  t.strictSame(read('{"limits":{"max_items":5},"blocklist":{"sources":["x*"]}}'), {
    limits: { max_age_seconds: 604_800, max_bytes: 1_073_741_824, max_items: 5 },
    retry: { first_ms: 1_000, most_ms: 300_000, timeout_ms: 120_000 },
    blocklist: { sources: ['x*'], file_names: [] },
  })
  t.hasStrict(read('{"retry":{"first_ms":5000,"most_ms":5000}}'),
    { retry: { first_ms: 5_000, most_ms: 5_000 } }, 'a wait that never grows')
  t.strictSame(readSettings(nodeFiles, `${dir}/none.json`).limits,
    { max_age_seconds: 7 * 86_400, max_bytes: 1024 ** 3, max_items: 10_000 },
    'S-209 the defaults of the decision')
  t.end()
})

t.test('a device has more patience for a request than the service has for a capture, so that it hears why one is not taken', (t) => {
  const { retry } = readSettings(nodeFiles, `${t.testdir()}/none.json`)
  t.ok(retry.timeout_ms > edgeLimits.artifactMsMax, `${retry.timeout_ms}`)
  t.end()
})

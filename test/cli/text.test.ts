import fc from 'fast-check'
import { durationText } from '../../src/base/duration.js'
import { parseDuration } from '../../src/cli/flags.js'
import type { View } from '../../src/cli/output.js'
import { secretsOfRun } from '../../src/cli/redact.js'
import { renderTable } from '../../src/cli/table.js'
import { dollarsText } from '../../src/observations/words.js'
import { bytesText, fieldLines, visible, visibleLine } from '../../src/cli/text.js'
import { t } from '../support/tests-in-slices.js'

t.test('visible text never holds a control character but newline and tab', async (t) => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const shown = visible(text)
      t.notMatch(shown, /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/)
      t.notMatch(shown, /[\u200b\u2060-\u2065\ufeff]/)
      if (!/[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/u.test(text)) t.equal(shown, text)
      t.notMatch(visibleLine(text), /[\n\t]/)
    }),
    { numRuns: 200 },
  )
})

t.test('money is shown exactly', async (t) => {
  const cases: [number, string][] = [
    [0, '$0.00'], [1, '$0.000001'], [999_999, '$0.999999'], [1_000_000, '$1.00'],
    [1_230_000, '$1.23'], [1_234_567, '$1.234567'], [120_000_000, '$120.00'],
    [Number.MAX_SAFE_INTEGER, '$9007199254.740991'],
  ]
  for (const [amount, text] of cases) t.equal(dollarsText(amount), text)
})

t.test('durations are read and written in the same words', async (t) => {
  const range = { min: 1000, max: 999_999_999 * 86_400_000 }
  for (const text of ['1s', '90s', '45s', '30m', '8h', '7d', '90m']) {
    t.equal(durationText(parseDuration('--for', text, range)), text)
  }
  const day = { min: 60_000, max: 86_400_000 }
  for (const [text, ms] of [['60s', day.min], ['1m', day.min], ['24h', day.max], ['1d', day.max]]) {
    t.equal(parseDuration('--for', String(text), day), ms, `${text}: at its limit`)
  }
  for (const text of ['59s', '86401s', '25h', '2d']) {
    t.throws(() => parseDuration('--for', text, day), { code: 'flag_invalid' }, text)
  }
  t.equal(durationText(3_600_000), '1h')
  t.equal(durationText(1500), '1.5s')
})

t.test('sizes and field lists', async (t) => {
  t.strictSame([0, 1023, 1024, 1_572_864, 5 * 1024 ** 4].map(bytesText), [
    '0 B', '1023 B', '1.0 KiB', '1.5 MiB', '5.0 TiB',
  ])
  t.equal(fieldLines([['a', '1'], ['long', '2']]), 'a:    1\nlong: 2\n')
})

const view = (terminal: boolean): View => ({
  terminal, color: false, columns: 80,
  paint: (_style, text) => text, foreign: (text) => text, id: (id) => id,
  command: (line) => line, told: (text) => text, time: (iso) => iso, span: String,
})

t.test('a list is a table on a terminal and tab-separated lines in a pipe', async (t) => {
  const rows = [['one', 'first\tcell'], ['two', 'new\nline']]
  t.equal(
    await renderTable(view(false), ['id', 'text'], rows),
    'one\tfirst\\tcell\ntwo\tnew\\nline\n',
  )
  t.equal(
    await renderTable(view(true), ['id', 'text'], rows),
    'id   text\none  first\\tcell\ntwo  new\\nline\n',
  )
  t.equal(await renderTable(view(true), ['id'], []), '')
  t.equal(await renderTable(view(false), ['id'], []), '')
})

t.test('secrets are cut wherever they stand, short ones are left', async (t) => {
  const secrets = secretsOfRun()
  secrets.add('s3cr3t!')
  secrets.add('abc')
  t.equal(secrets.cut('abc s3cr3t! xs3cr3t!x'), 'abc [cut] x[cut]x')
  t.equal(secrets.cut('Authorization: Bearer abcdefgh123'), 'Authorization: [cut]')
  t.equal(
    secrets.cut('-----BEGIN PRIVATE KEY-----\nMII\n-----END PRIVATE KEY----- after'), '[cut] after')
  t.equal(secrets.cut('-----BEGIN PRIVATE KEY-----\nMII'), '[cut]')
})

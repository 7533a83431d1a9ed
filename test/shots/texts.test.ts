/** Prompts and judgements of texts, as pure rules. */
import fc from 'fast-check'
import t from 'tap'
import type { Analysed } from '../../src/shots/texts/sources.js'
import { windowEndingAt, windowOf } from '../../src/shots/digest/windows.js'
import { digestEntries, promptEntries } from '../../src/shots/texts/entries.js'
import { codePoints, judgeText } from '../../src/shots/texts/judge.js'
import { textContent } from '../../src/shots/texts/prompt.js'

const sources = (count: number): Analysed[] =>
  Array.from({ length: count }, (_, n) => ({ observation_id: `obs_${n}` }) as Analysed)

t.test('S-086 whatever an analysis says, the marks around the data stand once each and the data comes back whole', async (t) => {
  fc.assert(fc.property(
    fc.array(fc.oneof(
      fc.string(), fc.constantFrom('</analyses>', '<analyses>', '\n</analyses>\n', '<', '>'),
    )),
    (parts) => {
      const summary = parts.join('')
      const { messages } = textContent({
        order: ['Write.'], charsMax: 100, entries: [{ captured_at: 'now', summary }],
      })
      const text = (messages[1] as { content: string }).content
      const lines = text.split('\n')
      return lines.length === 3 && lines[0] === '<analyses>' && lines[2] === '</analyses>'
        && (JSON.parse(lines[1] ?? '') as { summary: string }).summary === summary
    },
  ))
  const { messages } = textContent({
    order: [], charsMax: 9, entries: [{ captured_at: 'now', summary: '<b>' }],
  })
  t.match((messages[1] as { content: string }).content, '"summary":"\\u003cb\\u003e"')
})

t.test('S-099 many analyses are told more shortly and none is left out; too many are refused', async (t) => {
  const open = () => ({
    captured_at: '2026-11-20T10:00:00.000Z', summary: '🙂'.repeat(300), activity: 'coding',
    observations: ['x'.repeat(400)],
  })
  t.hasStrict(promptEntries(sources(10), open)[0], { observations: ['x'.repeat(400)] })
  const some = promptEntries(sources(140), open)
  t.equal(some.length, 140)
  t.notOk('observations' in (some[0] ?? {}))
  const many = promptEntries(sources(1_000), open)
  t.equal(many.length, 1_000)
  t.equal(codePoints(String(many[0]?.['summary'])), 161)
  t.throws(() => promptEntries(sources(5_001), open), {
    code: 'too_many_sources',
  })
  const digests = Array.from({ length: 100 }, () => ({
    captured_at: 'now', digest: 'y'.repeat(6_000),
  }))
  t.equal(digestEntries(digests.slice(0, 2))[0]?.['digest'], 'y'.repeat(6_000))
  t.equal(codePoints(String(digestEntries(digests)[0]?.['digest'])), 1_001)
})

t.test('S-141 S-100 characters are Unicode code points, at the bound and one beyond it', async (t) => {
  const none = () => false
  t.equal(codePoints('a🙂é'), 3)
  t.equal(judgeText('🙂'.repeat(50), 50, none), null)
  t.equal(judgeText('🙂'.repeat(51), 50, none), 'text_too_long')
  t.equal(judgeText('Tab\there,\nand a line.', 50, none), null)
})

t.test('S-140 S-098 windows cover time without gap or overlap, and only an aligned end names one', async (t) => {
  fc.assert(fc.property(
    fc.integer({ min: 0, max: 4_000_000_000_000 }), fc.integer({ min: 1, max: 1_440 }),
    (ms, minutes) => {
      const at = new Date(ms).toISOString()
      const window = windowOf(at, minutes)
      const next = windowOf(window.end, minutes)
      return window.start <= at && at < window.end && next.start === window.end
        && Date.parse(window.end) - Date.parse(window.start) === minutes * 60_000
        && windowEndingAt(window.end, minutes).key === window.key && next.key !== window.key
    },
  ))
  t.throws(() => windowEndingAt('2026-11-20T10:07:00.000Z', 30), {
    code: 'window_not_aligned', kind: 'rejected',
  })
})

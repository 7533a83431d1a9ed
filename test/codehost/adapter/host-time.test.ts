/** When a host can have made what one contact asked for, by its own clock. */
import t from 'tap'
import {
  hostAhead, hostTimeMs, hostWindow,
} from '../../../src/codehost/adapter/host-time.js'
import { likenessOf } from '../../../src/codehost/adapter/provenance.js'
import { codehostLimits } from '../../../src/codehost/constants.js'

const dated = (...told: readonly string[]) => ({ headers: new Map([['date', told]]) })
const own = { author: { id: 5, via_app: false }, marked: false } as const
const told = { user: { id: 5 } }
const noon = Date.UTC(2026, 10, 24, 12)
const date = 'Tue, 24 Nov 2026 12:00:00 GMT'

t.test('the host’s clock is told by its Date, as exactly as one reply can tell it', async (t) => {
  t.strictSame(hostAhead(dated(date), noon, noon + 200), { least_ms: -200, most_ms: 1_000 })
  t.strictSame(hostAhead(dated(date), noon + 60_000, noon + 60_500),
    { least_ms: -60_500, most_ms: -59_000 })
  for (const told of [
    [], ['yesterday'], [date, date], ['Tue, 99 Nov 2026 12:00:00 GMT'], [String(noon)], [''],
  ]) {
    t.equal(hostAhead(dated(...told), noon, noon), null, told.join())
  }
  t.equal(hostAhead({ headers: new Map() }, noon, noon), null)
})

t.test('C-021 what is made within a contact lies between its mark and ten seconds behind its end, both clocks in whole seconds', async (t) => {
  const ahead = { least_ms: -200, most_ms: 1_000 }
  const window = hostWindow({ markedMs: noon, endedMs: noon + 5_000, ahead })
  t.strictSame(window, { fromMs: noon - 1_200, toMs: noon + 5_000 + 1_000 + 10_000 + 1_000 })
  const at = (ms: number) =>
    likenessOf({ ...own, window }, { ...told, created_at: new Date(ms).toISOString() })
  for (const [ms, wanted] of [
    [noon - 1_201, 'other_time'], [noon - 1_200, null], [noon, null], [noon + 17_000, null],
    [noon + 17_001, 'other_time'],
  ] as const) {
    t.equal(at(ms), wanted, String(ms - noon))
  }
  t.equal(hostWindow({ markedMs: noon, endedMs: noon, ahead: null }), null)
  t.equal(likenessOf({ ...own, window: null }, { created_at: date }), 'time_missing')
})

t.test('a contact whose end nobody saw, or whose clock was moved, is as long as one may be', async (t) => {
  const ahead = { least_ms: 0, most_ms: 0 }
  const longest = noon + codehostLimits.postMs + 11_000
  for (const endedMs of [null, noon - 1, noon + codehostLimits.postMs + 1, noon + 86_400_000]) {
    t.equal(hostWindow({ markedMs: noon, endedMs, ahead })?.toMs, longest, String(endedMs))
  }
  t.equal(hostWindow({ markedMs: noon, endedMs: noon, ahead })?.toMs, noon + 11_000)
})

t.test('times of the host’s documents are read as it writes them, and nothing else is one', async (t) => {
  t.equal(hostTimeMs('2026-11-24T12:00:00Z'), noon)
  t.equal(hostTimeMs('2026-11-24T12:00:00.25Z'), noon + 250)
  for (const text of [
    undefined, null, '', '2026-11-24', '2026-11-24T12:00:00', '2026-13-24T12:00:00Z', date,
  ]) {
    t.equal(hostTimeMs(text), null, String(text))
  }
})

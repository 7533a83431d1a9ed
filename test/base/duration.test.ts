/** Durations as people read them. */
import fc from 'fast-check'
import t from 'tap'
import { durationText, unitMs } from '../../src/base/duration.js'
import { forAll } from '../support/for-all.js'

t.test('a duration is told in the largest unit that holds it exactly', async (t) => {
  for (const [ms, text] of [
    [0, '0s'], [1_500, '1.5s'], [60_000, '1m'], [90_000, '90s'], [3_600_000, '1h'],
    [5_400_000, '90m'], [86_400_000, '1d'], [90_000_000, '25h'],
  ] as const) {
    t.equal(durationText(ms), text)
  }
})

t.test('the text of a duration means that duration', async (t) => {
  forAll(t, fc.property(fc.nat(), fc.constantFrom(1, ...Object.values(unitMs)), (count, unit) => {
    const ms = count * unit
    const [, number, name] = /^(\d+(?:\.\d+)?)([smhd])$/.exec(durationText(ms)) ?? []
    return Math.round(Number(number) * unitMs[name as keyof typeof unitMs]) === ms
  }))
})

/** The rule alone: what becomes of a file, by the rows that were loaded for it. */
import fc from 'fast-check'
import t from 'tap'
import { sha256Hex } from '../../src/base/canonical.js'
import { visualLimit } from '../../src/images/image-limits.js'
import type { Fingerprint } from '../../src/images/types.js'
import { folderDigestOf } from '../../src/shots/source/folder-digest.js'
import type { Observation, SeenFile } from '../../src/shots/observations/observation-rows.js'
import { decide, type Loaded } from '../../src/shots/scan/decide.js'
import type { Confirmation, TakenFile } from '../../src/shots/scan/types.js'
import { after, observationOf, payloadRefOf } from '../support/observations.js'

const folder = '/pictures'
const print = (...cells: number[]): Fingerprint =>
  ({ format: 'png', width: 32, height: 16, planes: [Uint16Array.from(cells, (v) => v * 64)] })

/** What comparing the two pictures told. */
const found = (
  verdict: Confirmation['verdict'], difference = 0, other = 'old',
): Confirmation =>
  ({ representativeSha256: sha256Hex(other), verdict, difference, ignoredSha256: null })

const taken = (changes: Partial<TakenFile> = {}): TakenFile => ({
  file: 0, name: { text: 'new.png', bytes_base64: null }, bytes: 10, modifiedNs: '1',
  changedNs: '1', inode: '2',
  stamp: { size: 10, mtimeMs: 0, ctimeMs: 0, ino: 2 }, capturedAt: after(60_000), inFuture: false,
  sha256: sha256Hex('new'), format: 'png', width: 32, height: 16, fingerprint: print(10, 20),
  refused: null, flaw: null, confirmed: found('same'), ...changes,
})

const standing = (changes: Partial<Observation> = {}): Observation =>
  observationOf(folder, 'old.png', {
    width: 32, height: 16, captured_at: after(0), sha256: sha256Hex('old'), ...changes,
  })

const loaded = (changes: Partial<Loaded> = {}): Loaded => ({
  folderDigest: folderDigestOf(folder), seen: undefined, seenObservation: undefined, twins: [],
  standIns: [],
  representative: { row: standing(), fingerprint: print(10, 20) },
  now: { folder, folderDigest: folderDigestOf(folder), model: null }, refreshMs: 30 * 60_000,
  ignored: null, ...changes,
})

t.test('S-070 S-071 the largest cell difference decides, up to the limit and not beyond it', async (t) => {
  fc.assert(fc.property(
    fc.array(fc.integer({ min: 0, max: 255 * 64 }), { minLength: 2, maxLength: 2 }),
    fc.array(fc.integer({ min: 0, max: 255 * 64 }), { minLength: 2, maxLength: 2 }),
    (one, other) => {
      const of = (cells: number[]): Fingerprint =>
        ({ ...print(), planes: [Uint16Array.from(cells)] })
      const most = Math.max(...one.map((cell, i) => Math.abs(cell - (other[i] ?? 0)))) / 64
      const decision = decide(taken({ fingerprint: of(one) }), loaded({
        representative: { row: standing(), fingerprint: of(other) },
      }))
      return decision.kind === (most <= visualLimit ? 'suppressed' : 'ingested')
    },
  ))
  t.hasStrict(decide(taken(), loaded()), { kind: 'suppressed', measure: 0, reason: 'same_picture' })
  const cell = (level: number): Partial<TakenFile> => ({
    fingerprint: { ...print(), planes: [Uint16Array.of(level, 20 * 64)] },
    confirmed: found('alike', 2),
  })
  t.hasStrict(decide(taken(cell(13 * 64)), loaded()),
    { kind: 'suppressed', measure: 3, reason: 'looks_alike' }, 'exactly three levels')
  t.hasStrict(decide(taken(cell(13 * 64 + 1)), loaded()),
    { kind: 'ingested', reason: 'looks_different' }, 'one 64th more')
})

t.test('S-073 S-074 S-071 what cannot be compared is never merged', async (t) => {
  const reason = (file: Partial<TakenFile>, rows: Partial<Loaded> = {}) => {
    const decision = decide(taken(file), loaded(rows))
    return decision.kind === 'ingested' ? decision.reason : decision.kind
  }
  t.equal(reason({}, { representative: null }), 'first_image')
  t.equal(reason({ fingerprint: null }), 'not_decodable')
  t.equal(reason({ format: 'jpeg' }), 'other_format')
  t.equal(reason({ width: 33 }), 'other_dimensions')
  t.equal(reason({ height: 17 }), 'other_dimensions')
  t.equal(reason({}, { representative: { row: standing(), fingerprint: null } }),
    'representative_not_decodable')
})

t.test('S-070 S-071 S-072 what the fingerprint lets pass is merged only as the two pictures say', async (t) => {
  const of = (confirmed: Confirmation | null, rows: Partial<Loaded> = {}) =>
    decide(taken({ confirmed }), loaded(rows))
  const representative = sha256Hex('old')
  t.hasStrict(of(found('same')), {
    kind: 'suppressed', reason: 'same_picture',
    compared: { representative_sha256: representative, difference: 0 },
  })
  t.hasStrict(of(found('alike', 2)), {
    kind: 'suppressed', reason: 'looks_alike',
    compared: { representative_sha256: representative, difference: 2 },
  })
  for (const [verdict, reason] of [
    ['differs', 'picture_differs'], ['other_colours', 'other_colours'], ['animated', 'animated'],
    ['not_compared', 'not_confirmed'], ['representative_gone', 'representative_gone'],
  ] as const) t.hasStrict(of(found(verdict)), { kind: 'ingested', reason }, verdict)
  t.equal(of(null).kind, 'unconfirmed', 'nothing was compared')
  t.equal(of(found('same', 0, 'another')).kind, 'unconfirmed', 'it was another representative')
  t.hasStrict(of({ ...found('not_compared'), representativeSha256: null }),
    { kind: 'ingested', reason: 'not_confirmed' }, 'it will not be had')
  t.hasStrict(decide(taken({ fingerprint: print(14, 20), confirmed: null }), loaded()),
    { kind: 'ingested', reason: 'looks_different', compared: null }, 'refused by its cells alone')
})

t.test('S-075 S-076 a run never turns round and never grows to the refresh time, whatever the clock does', async (t) => {
  fc.assert(fc.property(
    fc.array(fc.integer({ min: -3_600_000, max: 3_600_000 }), { maxLength: 30 }),
    fc.integer({ min: 1, max: 60 }),
    (times, minutes) => {
      let row = standing()
      for (const [i, at] of times.entries()) {
        const decision = decide(taken({ capturedAt: after(at) }), loaded({
          representative: { row, fingerprint: print(10, 20) }, refreshMs: minutes * 60_000,
        }))
        if (decision.kind === 'ingested') {
          if (decision.reason !== 'run_refreshed') return false
          row = standing({ captured_at: after(at) })
          continue
        }
        if (decision.kind !== 'suppressed') return false
        const before = row.screenshot_visual_run
        row = decision.changed
        const run = row.screenshot_visual_run
        if (run === null || run.first_seen > run.last_seen) return false
        if (Date.parse(run.last_seen) - Date.parse(run.first_seen) >= minutes * 60_000) return false
        if (before !== null && run.suppressed_count !== before.suppressed_count + 1) return false
        const quarters = Object.values(run.quarter_counts ?? {}).reduce((sum, n) => sum + n, 0)
        if (before === null && quarters !== 1) return false
        const reasons = Object.values(run.reason_counts).reduce((sum, count) => sum + count, 0)
        if (reasons !== run.suppressed_count || i < 0) return false
      }
      return true
    },
  ))
  const at = (ms: number) => decide(taken({ capturedAt: after(ms) }), loaded())
  t.equal(at(30 * 60_000 - 1).kind, 'suppressed')
  t.hasStrict(
    at(30 * 60_000), { kind: 'ingested', reason: 'run_refreshed' }, 'exactly at the window'
  )
})

t.test('S-075 the span of a run grows to where its picture was seen last, and no clock shortens it', async (t) => {
  const first = standing()
  const name = first.paths[0]?.name
  if (name === undefined) throw new Error('it has a path')
  const seenAt = (row: Observation, ms: number): Observation => {
    const decision = decide(taken({ name, sha256: row.sha256, capturedAt: after(ms) }), loaded({
      twins: [row], representative: { row, fingerprint: print(10, 20) },
    }))
    if (decision.kind !== 'duplicate') throw new Error(decision.kind)
    return decision.changed ?? row
  }
  const later = seenAt(first, 120_000)
  t.hasStrict(later.screenshot_visual_run, { first_seen: after(0), last_seen: after(120_000) })
  for (const ms of [120_000, 60_000, -60_000]) t.equal(seenAt(later, ms), later, `${ms}`)
})

t.test('S-002 S-069 which twins count: this folder unless archived, of another what was analysed', async (t) => {
  const sha256 = sha256Hex('new')
  const other = '/elsewhere'
  const here = standing({ sha256 })
  const there = observationOf(other, 'x.png', { sha256 })
  const kind = (twins: Observation[], now = loaded().now) => decide(taken(), loaded({
    twins, now, representative: null,
  })).kind
  t.equal(kind([here]), 'duplicate')
  t.equal(kind([{ ...here, classification: 'stale_root' }]), 'duplicate')
  t.equal(kind([{ ...here, archived_at: after(0) }]), 'ingested')
  t.equal(kind([there]), 'ingested', 'stale: another folder, no payload')
  const inForce = { folder: other, folderDigest: folderDigestOf(other), model: null }
  t.equal(kind([there], inForce), 'ingested', 'stale as soon as another folder is in force')
  const analysed = { ...there, payload: payloadRefOf() }
  t.equal(kind([analysed]), 'duplicate')
  t.equal(kind([analysed], inForce), 'duplicate')
  t.equal(kind([{ ...analysed, archived_at: after(0) }]), 'ingested')
  t.equal(kind([{ ...there, classification: 'source_missing' }], inForce), 'ingested')
  const standIn = (row: Observation) => decide(taken(), loaded({
    standIns: [row], now: inForce, representative: null,
  })).kind
  t.equal(standIn(there), 'ingested', 'nor does it stand for look-alikes of this folder')
  t.equal(standIn(analysed), 'duplicate')
  const missing = { ...here, classification: 'source_missing' as const }
  t.hasStrict(decide(taken(), loaded({ twins: [there, missing] })), {
    kind: 'duplicate', reason: 'found_again', changed: { classification: null },
  })
  t.equal(decide(taken({ refused: 'not_an_image' }), loaded({ twins: [here] })).kind, 'rejected')
})

t.test('S-069 paths are bounded and never dropped from the front', async (t) => {
  let row = standing({ sha256: sha256Hex('new') })
  for (let i = 0; i < 40; i += 1) {
    const name = { text: `copy${i}.png`, bytes_base64: null }
    const decision = decide(taken({ name }), loaded({ twins: [row] }))
    if (decision.kind === 'duplicate' && decision.changed !== null) row = decision.changed
  }
  t.equal(row.paths.length, 16)
  t.equal(row.paths[0]?.name.text, 'old.png')
  t.equal(row.paths.at(-1)?.name.text, 'copy39.png')
})

t.test('S-002 what another scan took in since the walk is taken once', async (t) => {
  const seen: SeenFile = {
    root_digest: folderDigestOf(folder), name: taken().name, bytes: 10,
    modified_ns: '1', inode: '2',
    outcome: 'ingested', reason: null, measure: null, observation_id: 'obs_1',
    sha256: sha256Hex('new'), seen_at: after(0),
  }
  const row = standing({ sha256: sha256Hex('new') })
  const decision = (changes: Partial<Loaded>) =>
    decide(taken(), loaded({ seen, seenObservation: row, twins: [row], ...changes })).kind
  t.equal(decision({}), 'seen')
  t.equal(decision({ seen: { ...seen, modified_ns: '3' } }), 'duplicate')
  t.equal(decision({ seenObservation: { ...row, archived_at: after(0) }, twins: [] }), 'suppressed')
})

/** Digests and the state they lie in: its lock, its rules, and rows that contradict each other. */
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { newId } from '../../src/base/ids.js'
import {
  digestHead, episodesBetween, episodesNewestFirst, findEpisode, putEpisode,
} from '../../src/shots/digest/episode-store.js'
import {
  digestCollections as c, digestHeadId, type Episode,
} from '../../src/shots/digest/digest-rows.js'
import { verifyDigests } from '../../src/shots/digest/verify-digests.js'
import { windowOf } from '../../src/shots/digest/windows.js'
import { tryLockFd } from '../../src/state/kernel-lock.js'
import type { Tx } from '../../src/state/types.js'
import { forImages } from '../world/gateway.js'
import { allowed } from '../world/images.js'
import { moment } from '../world/texts.js'
import { World } from '../world/world.js'
import { t } from '../support/tests-in-slices.js'

t.test('S-170 S-171 a lock that is held past the wait degrades the tick and leaves the window for a later one; rows that contradict a digest are found by the check', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('report').texts()
  await world.analysed({ name: 'a.png', at: moment(2, 1) })
  const descriptor = openSync(join(world.place.stateDir, 'lock'), 'r+')
  t.ok(tryLockFd(descriptor))
  const ran = await world.digest('--wait', '0')
  t.equal(ran.status, 11, ran.stderr)
  closeSync(descriptor)
  t.equal(world.asked().length, 0)
  world.say('Later.')
  t.hasStrict((await world.digest()).json(), { written: 1 })

  const forge = async (fn: (tx: Tx, row: Episode) => void): Promise<number> => {
    const { gov } = world.ctx('write')
    const [row] = world.episodes()
    await gov.store.transact('forge', (tx) => { if (row !== undefined) fn(tx, row) })
    const found = verifyDigests(gov.store.read()).length
    await gov.store.transact('mend', (tx) => {
      if (row === undefined) return
      tx.put(c.episodes, row.digest_key, row)
      tx.put(c.days, row.window_start.slice(0, 10), { keys: [row.digest_key] })
      const head = tx.get(c.head, digestHeadId)
      if (head !== undefined) tx.put(c.head, digestHeadId, { ...head, count: 1 })
    })
    t.strictSame(verifyDigests(gov.store.read()), [])
    gov.store.close()
    return found
  }
  t.equal(await forge((tx, row) =>
    tx.put(c.episodes, row.digest_key, { ...row, observation_count: 9 })), 1)
  t.equal(await forge((tx, row) =>
    tx.put(c.episodes, row.digest_key, { ...row, payload_sha256: 'a'.repeat(64) })), 1)
  t.equal(await forge((tx, row) =>
    tx.put(c.days, row.window_start.slice(0, 10), { keys: [] })), 1)
  t.equal(await forge((tx) => {
    const head = tx.get(c.head, digestHeadId)
    if (head !== undefined) tx.put(c.head, digestHeadId, { ...head, count: 7 })
  }), 1)
})

const episode = (at: string, changes: Partial<Episode> = {}): Episode => {
  const window = windowOf(at, 30)
  return {
    episode_id: newId('epi'), source_tool: 'screenshot_observation_digest',
    schema_version: 'svc.screenshot_observation_digest.v1', digest_key: window.key,
    window_start: window.start, window_end: window.end, source_observation_ids: ['obs_1'],
    observation_count: 1, content_chars: 1, payload_sha256: 'a'.repeat(64), artifact_id: 'art_1',
    source_digest: 'b'.repeat(64), model: 'm', reply_model: 'm', reply_provider: 'p',
    prompt_version: 'v', operation_id: 'op_1', cost_microusd: 1, written_at: at, created_at: at,
    updated_at: at, revision: 1, earlier_artifact_ids: [], ...changes,
  }
}

const viewOf = async (t: Test, rows: readonly Episode[]) => {
  const { store } = await World.still(t).store()
  await store.transact('test', (tx) => { for (const row of rows) putEpisode(tx, row) })
  return { store, view: store.read() }
}

t.test('S-105 S-120 one episode a window; days and counts are kept beside it, whatever the order', async (t) => {
  const at = ['2026-11-20T23:40:00.000Z', '2026-11-18T01:00:00.000Z', '2026-11-20T00:10:00.000Z']
  const rows = at.map((one) => episode(one))
  const { store, view } = await viewOf(t, rows)
  t.hasStrict(digestHead(view), {
    count: 3, first_day: '2026-11-18', last_day: '2026-11-20', latest_at: at[0],
    latest_window_end: '2026-11-21T00:00:00.000Z',
  })
  t.strictSame(
    episodesBetween(view, '2026-11-20T00:00:00.000Z', '2026-11-21T00:00:00.000Z')
      .map((one) => one.window_start),
    ['2026-11-20T00:00:00.000Z', '2026-11-20T23:30:00.000Z'],
  )
  t.strictSame(episodesBetween(view, '2026-11-20T00:30:00.000Z', '2026-11-20T23:30:00.000Z'), [])
  t.equal(findEpisode(view, rows[1]?.episode_id ?? '')?.window_start, '2026-11-18T01:00:00.000Z')
  t.equal(findEpisode(view, 'epi_none'), undefined)
  await t.rejects(store.transact('test', (tx) => { putEpisode(tx, episode(at[0] ?? '')) }), {
    message: 'a window has one episode',
  })
  await store.transact('test', (tx) => { if (rows[0]) putEpisode(tx, { ...rows[0], revision: 2 }) })
  t.equal(digestHead(store.read())?.count, 3)
})

t.test('windows at both ends of the calendar are found without a walk over its days', async (t) => {
  const at = ['1970-01-01T00:00:00.000Z', '2026-11-20T00:10:00.000Z', '9999-12-31T22:00:00.000Z']
  const { view } = await viewOf(t, at.map((one) => episode(one)))
  const days = (found: Iterable<Episode>): string[] =>
    [...found].map((one) => one.window_start.slice(0, 10))
  const all = ['1970-01-01', '2026-11-20', '9999-12-31']
  t.strictSame(
    days(episodesBetween(view, '0000-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z')), all
  )
  const last = episodesBetween(view, '9999-12-31T00:00:00.000Z', '9999-12-31T23:59:59.999Z')
  t.strictSame(days(last), [
    '9999-12-31',
  ])
  t.strictSame(days(episodesNewestFirst(view)), [...all].reverse())
})

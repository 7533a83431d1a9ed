/** What a repair leaves of paired devices, whichever record or block nobody can read. */
import { isLoss } from '../../src/state/care/repair-report.js'
import type { Problem } from '../../src/state/types.js'
import { codeOf } from '../support/edge/uploading.js'
import { copied } from '../support/fabric/copies.js'
import { must } from '../support/must.js'
import { image } from '../support/png.js'
import { headOf, offered, pairOver, sendOver } from '../support/service/devices.js'
import { serving, type Got, type Serving } from '../support/service/serving.js'
import { newestLog, zeroBlock } from '../support/state/forge.js'
import { blocksOf, recordsOf } from '../support/state/places-of-damage.js'
import type { Teardown } from '../world/place.js'
import { World } from '../world/world.js'
import { t } from '../support/tests-in-slices.js'

const answerOf = (got: Got): string => {
  const { error } = got.json()
  return error === undefined ? String(got.status) : String(error.code)
}

/** Uploads, a pairing that was ended between them, and a code that is open. */
const lived = async (t: Teardown) => {
  const world = await World.in(t).state().session()
  const at = await serving(t, world)
  const [device, gone] = [await pairOver(world, at), await pairOver(world, at)]
  const sent = [1, 2, 3].map((n) => ({ body: image(n), head: headOf(image(n), n * 2) }))
  for (const [n, { body, head }] of sent.entries()) {
    const got = await sendOver(at, device.credential, body, head)
    if (got.status !== 201) throw new Error(answerOf(got))
    if (n === 0) must(await world.run(['edge', 'revoke', gone.device_id]))
  }
  const line = await offered(world, at)
  await at.stop()
  return { world, device, gone, sent, line }
}

type Lived = Awaited<ReturnType<typeof lived>>

/** What must not happen in a repaired copy; `answers` counts what the uploads of before get. */
const wrongIn = async (
  { device, gone, sent, line }: Lived, at: Serving, answers: Map<string, number>, lost: boolean,
): Promise<readonly string[]> => {
  const wrong: string[] = []
  const body = image(9)
  const send = (token: string, sequence: number) =>
    sendOver(at, token, body, headOf(body, sequence))
  if ((await send(gone.credential, 100)).status !== 401) wrong.push('a revoked pairing is back')
  for (const { body: same, head } of sent) {
    const got = await sendOver(at, device.credential, same, head)
    answers.set(answerOf(got), (answers.get(answerOf(got)) ?? 0) + 1)
    if (got.status === 201) wrong.push(`request ${head.sequence} was taken twice`)
    if (got.status === 200) {
      const path = `/api/edge/artifacts/${String(got.json().artifact_id)}/bytes`
      const { bytes } = await at.ask('GET', path, { token: device.credential })
      if (!bytes.equals(same)) wrong.push('told as stored, and not there')
    }
    const used = await send(device.credential, head.sequence)
    if (used.status === 201) wrong.push(`number ${head.sequence} was taken twice`)
  }
  const redeemed = await at.ask('POST', '/api/edge/pairings', {
    token: null, body: { code: codeOf(line), device_name: 'camera' },
  })
  if (lost && redeemed.status === 201) wrong.push('a code of before opens something')
  return wrong
}

/** Repairs a copy that `harm` has damaged; gives what is wrong with it then. */
const repaired = async (
  t: Teardown, before: Lived, name: string, answers: Map<string, number>,
  harm: (dir: string) => void,
): Promise<readonly string[]> => {
  const { world } = before
  const copy = copied(world, name)
  harm(copy.place.dir)
  const run = (...words: string[]) => world.run(words, { env: copy.env })
  const first = await run('state', 'repair', '--json')
  if (first.status !== 0) {
    if (first.error().code !== 'init_lost') return [first.stderr]
    must(await run('init'))
    must(await run('state', 'repair'))
  }
  // Entries of an index are made again from their rows: nothing is lost with them.
  const lost = first.status !== 0 || isLoss(first.json().loss)
  const { problems } = (await run('state', 'check', '--json')).json()
  const untrue = problems.map(({ code }: Problem) => code)
    .filter((code: string) => code.startsWith('edge_'))
  must(await run('login'))
  const { dir: stateDir, configDir } = copy.place
  const at = await serving(t, { ...world, place: { ...world.place, stateDir, configDir } })
  const wrong = await wrongIn(before, at, answers, lost)
  await at.stop()
  return [...wrong, ...untrue]
}

t.test('S-198 S-203 S-204 zeroes over any one record and a repair: no number and no request id is '
  + 'taken twice, what was revoked stays so, and what is told as stored is there', async (t) => {
  const before = await lived(t)
  const records = recordsOf(newestLog(before.world.place.stateDir))
  const answers = new Map<string, number>()
  for (const [n, { start }] of records.entries()) {
    t.strictSame(await repaired(t, before, `record-${n}`, answers, (dir) =>
      zeroBlock(newestLog(dir), start + 30)), [], `record ${n + 1}`)
  }
  t.ok(records.length >= 12, `${records.length} records`)
  t.comment(JSON.stringify([...answers]))
})

t.test('S-198 S-203 S-204 zeroes over any one block of a snapshot and a repair: the same', async (t) => {
  const before = await lived(t)
  const { world, world: { place: { stateDir: dir, configDir } } } = before
  // Twice, so that the manifest before has the same file and no log is left of before.
  for (let n = 0; n < 2; n += 1) must(await world.run(['state', 'compact']))
  const answers = new Map<string, number>()
  const blocks = blocksOf({ dir, configDir })
  for (const [n, { path, offset, length, collection }] of blocks.entries()) {
    t.strictSame(await repaired(t, before, `block-${n}`, answers, (copy) =>
      zeroBlock(path.replace(dir, copy), offset, length - 1)), [], `${n} ${collection}`)
  }
  t.ok(blocks.length > 1, `${blocks.length} blocks`)
  t.comment(JSON.stringify([...answers]))
})

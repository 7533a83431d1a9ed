/** Uploads over HTTP while the disk of the service fails, at each of its changing calls. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { edgeCollections } from '../../src/edge/edge-rows.js'
import { verifyEdge } from '../../src/edge/verify-edge.js'
import { headOf, pairOver, sendOver } from '../support/service/devices.js'
import { image } from '../support/png.js'
import { serving, takesNothingIn } from '../support/service/serving.js'
import { onFailingDisk, type DiskFault } from '../support/soak/failing-disk.js'
import { World } from '../world/world.js'

/** Three pieces: the disk is written to while the body comes. */
const bodyOf = (n: number): Buffer => Buffer.concat([image(n), Buffer.alloc(600_000, n)])

t.test('S-031 S-204 a disk that is full or fails at any step of an upload stores all of it or nothing, and the same request ends it', async (t) => {
  const world = await World.in(t).state().session()
  const at = await serving(t, world, { takesIn: takesNothingIn })
  const { credential } = await pairOver(world, at)
  const { stateDir } = world.place
  const stored = () => world.view().all(edgeCollections.artifacts).length
  const files = () => readdirSync(join(stateDir, 'artifacts'), {
    recursive: true, encoding: 'utf8',
  }).filter((name) => name.includes('/')).length
  const seen: string[] = []
  let sequence = 1
  const counting = { at: 0, fault: 'EIO', seen, openOnes: true } as const
  const counted = await onFailingDisk([stateDir], counting, () =>
    sendOver(at, credential, bodyOf(0), headOf(bodyOf(0), sequence)))
  t.equal(counted.status, 201)
  t.ok(seen.length >= 8, seen.map((one) => one.split(' ')[0]).join())
  const answers = new Map<string, number>()
  for (let number = 1; number <= seen.length; number += 1) {
    const fault = (['ENOSPC', 'EIO', 'short'] as const)[number % 3] as DiskFault
    const what = `${fault} at ${number}, ${seen[number - 1]?.split(' ')[0]}`
    const [rows, kept] = [stored(), files()]
    const body = bodyOf(number)
    const head = headOf(body, sequence += 1)
    const got = await onFailingDisk([stateDir], {
      at: number, fault, seen: [], openOnes: true,
    }, () =>
      sendOver(at, credential, body, head))
    answers.set(String(got.status), (answers.get(String(got.status)) ?? 0) + 1)
    const added = stored() - rows
    t.ok(got.status === 201 ? added === 1 : added <= 1, `${what}: ${got.status}, ${added} stored`)
    if (added === 0) t.ok(files() <= kept + 1, `${what}: at most the file of a record that may be`)
    const again = await sendOver(at, credential, body, head)
    t.ok(again.status === 201 || again.status === 200, `${what}: ${again.bytes.toString()}`)
    t.equal(stored(), rows + 1, `${what}: once`)
    t.equal(files(), kept + 1, `${what}: no file that no record names`)
    const path = `/api/edge/artifacts/${String(again.json().artifact_id)}/bytes`
    t.ok((await at.ask('GET', path)).bytes.equals(body), what)
  }
  t.ok([...answers.keys()].some((status) => status !== '201'), 'faults were met')
  t.comment([...answers.entries()])
  t.strictSame(verifyEdge(world.view()), [])
  const check = await world.run(['state', 'check'])
  t.equal(check.status, 0, check.stdout)
})

/** Whoever leaves takes what is theirs: every live document of theirs, in order, and no secret. */
import { spawnSync } from 'node:child_process'
import { openSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { exportedBy } from '../../src/fabric/export.js'
import { stateRules } from '../../src/fabric/state-rules.js'
import { routeCollection } from '../../src/contact/routes.js'
import { edgeCollections } from '../../src/edge/edge-rows.js'
import { endedDevices } from '../../src/governance/devices.js'
import { nobodys } from '../../src/governance/exported.js'
import { collections } from '../../src/governance/rows.js'
import type { Place, Ran } from '../world/place.js'
import { builtApp } from '../world/process.js'
import { World } from '../world/world.js'
import { hostToken } from '../support/codehost/connected.js'
import { working } from '../support/codehost/working.js'
import { failure, must } from '../support/must.js'
import { flipBit, newestLog } from '../support/state/forge.js'

interface Line {
  readonly line: 'begin' | 'document' | 'end'
  readonly collection: string
  readonly id: string
  readonly document: Readonly<Record<string, unknown>>
  readonly documents: number
  readonly owner: string
}

/** What an export says; its first and last line are looked at here, and the order. */
const linesOf = (t: Test, { stdout }: Ran): readonly Line[] => {
  const lines = stdout.trimEnd().split('\n').map((text) => JSON.parse(text) as Line)
  const told = lines.slice(1, -1)
  const ends = [{ line: 'begin' }, { line: 'end', documents: told.length }]
  t.hasStrict([lines[0], lines.at(-1)], ends)
  t.ok(told.every(({ line }) => line === 'document'))
  const places = told.map(({ collection, id }) => `${collection}\0${id}`)
  t.strictSame(places, [...new Set(places)].sort(), 'in the order of the keyspace, each once')
  return told
}

const placesOf = (lines: readonly Line[]): ReadonlySet<string> =>
  new Set(lines.map(({ collection, id }) => `${collection}/${id}`))

const exportOf = async (t: Test, { run }: { run: Place['run'] }) => {
  const ran = must(await run(['state', 'export', '--jsonl']))
  return { lines: linesOf(t, ran), text: ran.stdout }
}

const loginAs = async ({ run, place }: { run: Place['run']; place: Place }, name: string) => {
  const phrase = place.write(`phrase-${name}`, `${name} has a long passphrase\n`)
  must(await run(['principal', 'add', name, '--passphrase-file', phrase]))
  must(await run(['login', '--owner', name, '--passphrase-file', phrase, '--replace']))
}

/** Collections of which nothing is ever given out: they follow from others. */
const keptBack = async (): Promise<ReadonlySet<string>> => {
  const none = nobodys(collections.defaults).documents
  const all = await exportedBy()
  return new Set(all.filter(({ documents }) => String(documents) === String(none))
    .map(({ collection }) => collection))
}

t.test('every collection that is kept says whose its documents are, once', async (t) => {
  const kept = (await stateRules()).collections.map(({ name }) => name).sort()
  t.strictSame((await exportedBy()).map(({ collection }) => collection), kept)
})

t.test('A-165 A-189 an export has every live document of the asking owner and none of another’s, and no secret', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  must(await rig.ask())
  must(await rig.run(['goal', 'add', 'Of the first owner.']))
  await loginAs(rig, 'bob')
  must(await rig.run(['alpha', 'acknowledge', '--acknowledge-plaintext-egress']))
  must(await rig.ask())
  const second = await exportOf(t, rig)
  const view = rig.view()
  const name = view.all(collections.principals)[0]?.doc.name ?? ''
  must(await rig.run(['login', '--owner', name, '--replace']))
  const first = await exportOf(t, rig)

  const [mine, theirs] = [placesOf(first.lines), placesOf(second.lines)]
  for (const spec of [collections.closedTasks, collections.goals, collections.artifacts,
    collections.roots, collections.principals] as const) {
    const own = (lines: readonly Line[]) => lines.filter(({ collection: c }) => c === spec.name)
    t.ok(own(first.lines).length > 0 && own(second.lines).length > 0, spec.name)
    t.notOk(own(first.lines).some(({ id }) => theirs.has(`${spec.name}/${id}`)), spec.name)
  }
  // Whatever lies there belongs to one of the two, to both, or follows from the rest.
  const back = await keptBack()
  const untold = (await stateRules()).collections.filter(({ name }) => !back.has(name))
    .flatMap((spec) => view.all(spec).map(({ id }) => `${spec.name}/${id}`))
    .filter((place) => !mine.has(place) && !theirs.has(place))
  t.strictSame(untold.filter((place) => !place.startsWith('credentials/')), [])
  t.strictSame(untold, ['credentials/vault:alpha_text_api_key'], 'the key of the deployment')

  const principals = view.all(collections.principals).map(({ doc }) => doc)
  const secrets = [
    ...view.all(collections.roots).map(({ doc }) => doc.token_digest),
    ...view.all(collections.credentials).flatMap(({ doc }) =>
      [doc.artifact.sha256, doc.artifact.stored_sha256]),
    ...principals.flatMap(({ passphrase }) => (passphrase === null ? [] : [passphrase.hash])),
    'MARK-KEY-0123456789',
  ]
  t.ok(secrets.length >= 5)
  for (const secret of secrets) {
    t.notOk(first.text.includes(secret) || second.text.includes(secret), 'no secret')
  }
  t.ok(second.text.includes(String(principals.find(({ name }) => name === 'bob')?.principal_id)))
})

t.test('A-165 A-189 C-003 a job with its histories and routes is its owner’s alone, and of the token only a fingerprint', async (t) => {
  const at = await working(t)
  const job = await at.approved()
  must(await at.runJob(job))
  const { lines, text } = await exportOf(t, at)
  const stored = at.view()
  const rules = (await stateRules()).collections.filter(({ name }) =>
    /^(?:codehost|connections|routes|tasks|decisions)/.test(name))
  const places = placesOf(lines)
  const all = rules.flatMap((spec) => stored.all(spec).map(({ id }) => `${spec.name}/${id}`))
  t.ok(all.length > 10)
  t.strictSame(all.filter((place) => !places.has(place) && !place.startsWith('routes/')), [])
  const routes = all.filter((place) => place.startsWith('routes/'))
  t.ok(routes.some((place) => places.has(place)), 'a run that cost nothing')
  const credential = lines.find(({ collection }) => collection === 'credentials')?.document
  t.strictSame(Object.keys(credential ?? {}).sort(),
    ['credential_ref', 'fingerprint', 'name', 'owner', 'saved_at', 'staged', 'updates'])
  t.notOk(text.includes(hostToken))

  await loginAs(at, 'bob')
  const other = await exportOf(t, at)
  const mine = placesOf(other.lines)
  t.strictSame(all.filter((place) => mine.has(place)), [], 'nothing of it is another’s')
  t.notOk(other.text.includes(job))
})

t.test('A-189 a route is of whoever paid for its operation, and of whoever it was decided for', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  must(await rig.ask())
  const route = rig.view().all(routeCollection).map(({ doc }) => doc)
    .find(({ decision_id: decision }) => decision !== null)
  if (route === undefined) throw new Error('an ask has a route')
  const { operation_id: asked } = route
  await rig.transact((tx) => {
    for (const [id, more] of Object.entries({
      op_decided: {}, op_of_nobody: { decision_id: 'dec_none' },
      op_undecided: { decision_id: null },
    })) tx.put(routeCollection, id, { ...route, ...more, operation_id: id })
    tx.put(routeCollection, asked, { ...route, decision_id: 'dec_none' })
  })
  const routes = [...placesOf((await exportOf(t, rig)).lines)]
    .filter((place) => place.startsWith('routes/')).sort()
  t.strictSame(routes, [`routes/${asked}`, 'routes/op_decided'].sort())
})

t.test('A-189 devices and what they sent are their owner’s, without a digest of what opens them', async (t) => {
  const rig = await World.in(t).state().session()
  const owner = rig.view().all(collections.principals)[0]?.doc.principal_id ?? ''
  const at = '2026-01-01T00:00:00.000Z'
  const [sha256, limits] = ['a'.repeat(64), {
    artifact_bytes_max: 1, bytes_max: 1, items_max: 1, cloud_egress: false, model_egress: false,
  }]
  await rig.transact((tx) => {
    for (const [who, n] of [[owner, 1], ['prn_other', 2]] as const) {
      const id = `edge_dev_${n}`
      tx.put(edgeCollections.codes, `edge_code_${n}`, {
        code_id: `edge_code_${n}`, owner: who, root: 'root_x', name: null, digest: sha256, limits,
        issued_at: at, expires_at: at, tries: 0,
      })
      tx.put(edgeCollections.devices, id, {
        device_id: id, owner: who, name: 'camera', credential_digest: sha256, limits,
        last_sequence: 1, last_upload_at: at, stored: { items: 1, bytes: 1 }, paired_at: at,
      })
      tx.put(edgeCollections.artifacts, `edge_art_${n}`, {
        artifact_id: `edge_art_${n}`, device_id: id, owner: who, request_id: 'r', sequence: 1,
        captured_at: at, received_at: at, mime: 'image/png', purpose: 'x', source: null,
        policy: { cloud_egress: false, model_egress: false }, source_path: null,
        ref: { stored_sha256: 'b'.repeat(64), sha256: 'c'.repeat(64), bytes: 1 },
      })
      tx.put(edgeCollections.spent, `${id}/r`, { artifact_id: `edge_art_${n}`, sequence: 1 })
      tx.put(endedDevices, id, { ended_at: at, reason: 'revoked', principal: null, root: null })
    }
  })
  const { lines, text } = await exportOf(t, rig)
  t.strictSame(lines.filter(({ collection: c }) => c.startsWith('edge_')).map(({ id }) => id),
    ['edge_art_1', 'edge_code_1', 'edge_dev_1', 'edge_dev_1', 'edge_dev_1/r'])
  t.notOk(text.includes(sha256))
})

t.test('what was removed is not in an export, and a new session of the same owner has the same', async (t) => {
  const rig = await World.in(t).state().session()
  const before = await exportOf(t, rig)
  await rig.transact((tx) => tx.remove(collections.goals,
    rig.view().all(collections.goals)[0]?.id ?? ''))
  const after = await exportOf(t, rig)
  t.equal(before.lines.filter(({ collection: c }) => c === 'goals').length, 1)
  t.equal(after.lines.filter(({ collection: c }) => c === 'goals').length, 0)
})

t.test('an export needs a session, its flag, a sound state and a place to write to', async (t) => {
  const rig = await World.in(t).state().session()
  t.hasStrict(failure(await rig.run(['state', 'export', '--json'])), { status: 2, out: '' })
  const full = spawnSync(process.execPath,
    [join(await builtApp(), 'sallyport.js'), 'state', 'export', '--jsonl', '--json'], {
      cwd: rig.place.cwd, env: rig.place.env, encoding: 'utf8',
      stdio: ['ignore', openSync('/dev/full', 'w'), 'pipe'],
    })
  t.hasStrict([full.status, JSON.parse(full.stderr).error],
    [1, { code: 'result_not_written', details: { errno: 'ENOSPC' } }])
  must(await rig.run(['logout']))
  const line = ['state', 'export', '--jsonl', '--json']
  t.hasStrict(failure(await rig.run(line)), { status: 4, out: '' })
  must(await rig.run(['login']))
  must(await rig.run(['goal', 'add', 'One more.']))
  const log = newestLog(rig.place.stateDir)
  for (const bit of [1, 2]) flipBit(log, 900, bit)
  t.hasStrict(failure(await rig.run(line)), { status: 12, out: '' })
})

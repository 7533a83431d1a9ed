/**
 * How often a contact looks at what it is judged by: it opens the witness log, and the anchor
 * outside the store, or asks for the facts of one that it has made itself and holds open. A
 * boundary is a moment at which authority is asked; it looks at each of them once at most.
 */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import type { Test } from 'tap'
import { must } from '../support/must.js'
import { nextImage, scan } from '../support/shots.js'
import { t } from '../support/tests-in-slices.js'
import { forImages } from '../world/gateway.js'
import { allowed } from '../world/images.js'
import { World } from '../world/world.js'

const watched = { witness: '/witness.log', anchor: '.anchor' } as const
type Watched = keyof typeof watched
type Opens = Record<Watched, number>

/** Counts opens by the step that was announced last, until the test is over. */
const countOpens = (t: Test) => {
  const counts = new Map<string, Opens>()
  let step = 'begun'
  const { openSync, lstatSync } = fs
  const count = (name: Watched, path: unknown): void => {
    if (!String(path).endsWith(watched[name])) return
    const opens = counts.get(step) ?? { witness: 0, anchor: 0 }
    counts.set(step, { ...opens, [name]: opens[name] + 1 })
  }
  const { O_RDWR, O_WRONLY } = fs.constants
  fs.openSync = (path, flags, ...rest) => {
    count('witness', path)
    // Whoever makes an anchor anew opens it to write.
    if ((Number(flags) & (O_RDWR | O_WRONLY)) === 0) count('anchor', path)
    return openSync(path, flags, ...rest)
  }
  Object.assign(fs, {
    lstatSync: (...asked: Parameters<typeof lstatSync>) => {
      count('anchor', asked[0])
      return lstatSync(...asked)
    },
  })
  syncBuiltinESMExports()
  t.teardown(() => {
    Object.assign(fs, { openSync, lstatSync })
    syncBuiltinESMExports()
  })
  return {
    counts,
    at: (name: string): void => { step = name },
    total: (name: keyof Opens): number =>
      [...counts.values()].reduce((sum, opens) => sum + opens[name], 0),
  }
}

/** Boundaries between one announced step and the next, where there is more than one. */
const requireOnce = (
  t: Test, counts: ReadonlyMap<string, Opens>, more: Readonly<Record<string, number>>,
): void => {
  for (const [step, opens] of counts) {
    const boundaries = more[step] ?? 1
    t.ok(opens.witness <= boundaries, `${step}: the witness ${opens.witness} times`)
    t.ok(opens.anchor <= boundaries, `${step}: the anchor ${opens.anchor} times`)
  }
}

const boundaries = (
  counts: ReadonlyMap<string, Opens>, names: readonly string[],
): (Opens | undefined)[] => names.map((name) => counts.get(name))

t.test('A-158 A-070 an ask looks at witness and anchor once a boundary', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  const { counts, at, total } = countOpens(t)
  const ran = await rig.ask({ at })
  t.equal(ran.status, 0, ran.stderr)
  // Before it is admitted, a first look refuses what need not be sealed; then comes the record.
  // The closing record sees whether a save that died has left the witness a line behind.
  requireOnce(t, counts, { 'ask.admit': 2, 'ask.answer_sealed': 2 })
  const each = ['slot', 'before_resolve', 'before_dial', 'contact_begin', 'before_first_byte']
  for (const opens of boundaries(counts, each.map((name) => `ask.${name}`))) {
    t.strictSame(opens, { witness: 1, anchor: 1 }, 'and none goes without')
  }
  t.ok(total('witness') <= 10, `the witness ${total('witness')} times`)
  // One of them when the state is opened, before anybody is asked for.
  t.ok(total('anchor') <= 9, `the anchor ${total('anchor')} times`)
})

t.test('A-158 A-070 a proof looks at witness and anchor once a boundary', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  const { counts, at, total } = countOpens(t)
  const ran = await rig.prove('chat', { at })
  t.equal(ran.status, 0, ran.stderr)
  // What was left open is looked for first, then whether the slot may be proved at all.
  requireOnce(t, counts, { begun: 2, 'prove.charge_known': 2 })
  t.ok(total('witness') <= 10, `the witness ${total('witness')} times`)
  // One of them when the state is opened, before anybody is asked for.
  t.ok(total('anchor') <= 9, `the anchor ${total('anchor')} times`)
})

t.test('A-158 A-070 S-017 an image is sent with one look a boundary, gates and route together', async (t) => {
  const rig = await World.in(t).sandbox().state().session().gateway(forImages).images(allowed)
  must(await rig.prove('screenshot'))
  rig.file('a.png', nextImage())
  await scan(rig)
  const { counts, at } = countOpens(t)
  must(await rig.run(['shots', 'analyze', '--json'], { at }))
  t.equal(rig.calls().length, 2)
  // What was left open, the proof's age, the pass, the image and its claim each look for
  // themselves.
  requireOnce(t, counts, { begun: 5, 'analyze.sealed': 2 })
  const each = ['slot', 'before_resolve', 'before_dial', 'contact_begin', 'before_first_byte']
  for (const opens of boundaries(counts, each.map((name) => `analyze.${name}`))) {
    t.strictSame(opens, { witness: 1, anchor: 1 }, 'and none goes without')
  }
})

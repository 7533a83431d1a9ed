/** A world in which every kind of thing that has an id was made, and what its verbs print of it. */
import type { Teardown } from '../../world/place.js'
import { World } from '../../world/world.js'
import type { AnalysisWorld } from '../../world/world.js'
import type { Texts } from '../../world/texts.js'
import { windowStart } from '../../world/texts.js'
import { allowed } from '../../world/images.js'
import { isoFromMs } from '../../../src/base/clock.js'
import { movedClock } from '../clock.js'
import { closingOf, type Closing } from '../codehost/closing.js'
import { connectionOf } from '../codehost/working.js'
import { capture, headOf, pairDevice, place as edgePlace, send } from '../edge/uploading.js'
import { offerPairing } from '../../../src/edge/pairing.js'
import { must } from '../must.js'
import { image } from '../png.js'

/** What was made. */
export type Explained = Closing & AnalysisWorld & Texts

/** Makes it: at least one of each kind of row that has an id. */
export const explainedWorld = async (t: Teardown): Promise<Explained> => {
  const begun = await World.in(t, { clock: movedClock() }).sandbox().state().session()
    .alpha().gateway({ slots: ['report', 'screenshot'] }).images(allowed).texts()
  const world = closingOf(await connectionOf(begun)) as Explained
  const run = async (...argv: string[]): Promise<void> =>
    void must(await world.run([...argv, '--json']))
  await run('goal', 'add', 'A goal')
  must(await world.run(['alpha', 'ask', '-', '--json'], { stdin: 'A question?' }))
  await run('gateway', 'prove', 'screenshot')
  await run('gateway', 'prove', 'report')
  world.file('a.png', image(1))
  await run('shots', 'scan')
  await run('shots', 'analyze')
  await world.analysed({ name: 'b.png', at: isoFromMs(windowStart(3) + 60_000) })
  world.say('A digest.')
  await world.digest()
  await run('codehost', 'approve', '--standing', '--connection', world.id,
    '--action', 'issue.create', '--max-jobs', '1',
    '--until', isoFromMs(world.clock.wallMs() + 600_000))
  await world.prepare()
  const closed = await world.unknown('Unknown', 'numbered')
  must(await world.close(closed, world.request(closed)))
  const done = await world.approved('Done')
  must(await world.runJob(done))
  const gov = { ...world.gov, store: world.open('write') }
  const { party } = await pairDevice(gov, world.session())
  const body = capture()
  await send(gov, party, headOf(body, 1), body)
  await offerPairing(gov, world.session(), edgePlace)
  const [{ id: root }] = await world.json(['session', 'list'])
  must(await world.run(['login', '--json']))
  await run('session', 'revoke', root)
  return world
}

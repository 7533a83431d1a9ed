/** All closed gates are told at once, as commands that open them when they are typed. */
import { nextStepsOf, type NextStep } from '../../src/base/next-step.js'
import { buyingWords } from '../../src/gateway/buying.js'
import { openingCommands } from '../../src/shots/opening.js'
import { analyze, holding, nextImage, scan } from '../support/shots.js'
import { must } from '../support/must.js'
import { t } from '../support/tests-in-slices.js'
import { forImages, gatewayKey } from '../world/gateway.js'
import { allowed } from '../world/images.js'
import { World, type Placed } from '../world/world.js'

/** What a person writes for the words in capitals, by the flag before them. */
const given: Readonly<Record<string, string>> = {
  '--slot': 'report', '--model': 'gateway/acme/screenshot-1', '--upstream-allow': 'acme-host',
  '--api-key-file': 'the-key', '--spend-ceiling': '1.00usd',
  '--budget': '0.50usd', '--budget-requests': '50', '--request-cost-bound': '0.02usd',
}

const typed = ({ command }: NextStep): string[] =>
  command.split(' ').slice(1).map((word, at, words) =>
    (/^[A-Z]+$/.test(word) ? given[words[at - 1] ?? ''] ?? word : word))

/** A person answers every question with yes, each of which starts unchecked. */
const typeAll = async (world: Placed, steps: readonly NextStep[]): Promise<void> => {
  for (const step of steps) {
    const terminal = step.needs_person
      ? { terminal: { stdin: true, stdout: true, stderr: true }, answers: [true] } : {}
    must(await world.run(typed(step), terminal))
  }
}

t.test('S-008 from a scanned folder to the first analysis it is four commands, typed as they are '
  + 'told', async (t) => {
  const world = await World.in(t).sandbox().state().session().images()
  world.place.write('the-key', `${gatewayKey}\n`)
  world.file('a.png', nextImage())
  await scan(world)
  const told = await analyze(world)
  const steps = told.json<{ next: NextStep[] }>().next
  t.strictSame(steps.map(({ needs_person }) => needs_person), [true, true, false, true])
  t.ok(steps.length + 1 <= 6, `${steps.length + 1} commands, the first refusal counted`)
  await typeAll(world, steps)
  const [row] = world.rows()
  t.equal(row?.analysis_status, 'succeeded', 'the image was analysed')
  const text = await world.run(['shots', 'analyze'])
  t.notMatch(text.stderr, 'gateway setup', 'nothing more to open')
})

t.test('with --no-input no step consents by being run', async (t) => {
  const world = await World.in(t).sandbox().state().session().images()
  world.place.write('the-key', `${gatewayKey}\n`)
  world.file('a.png', nextImage())
  await scan(world)
  const { next } = (await analyze(world)).json<{ next: NextStep[] }>()
  const [setup] = next
  if (setup === undefined) throw new Error('there is no step')
  const ran = await world.run([...typed(setup), '--no-input', '--json'])
  t.strictSame([ran.status, ran.error().code], [3, 'acknowledgment_required'])
  t.equal(world.sandbox.log.connections('gateway').opened, 0)
})

t.test('a closed gate alone asks for its own command, and an open route for none', async (t) => {
  t.strictSame(openingCommands([]), [])
  t.strictSame(openingCommands(['zdr_not_on', 'budget_not_set']),
    ['shots setup --zdr on --budget USD', 'shots analyze'])
  t.strictSame(openingCommands(['proof_stale']), ['gateway prove screenshot', 'shots analyze'])
  t.strictSame(openingCommands(['save_in_progress']), [], 'no command opens what only time does')
})

const closings: Readonly<Record<string, readonly string[]>> = {
  'a revoked policy': ['policy', 'revoke'],
  'a disabled route': ['gateway', 'setup', '--disable'],
  'a key that was removed': ['gateway', 'setup', '--remove-key'],
  'a slot that was removed': ['gateway', 'setup', '--remove-slot', 'screenshot'],
}

for (const [name, closing] of Object.entries(closings)) {
  t.test(`what a refusal names opens ${name} as it is typed`, async (t) => {
    const world = await World.in(t).sandbox().state().session()
      .gateway(forImages).images(allowed).proof('screenshot').with(holding('a.png'))
    world.place.write('the-key', `${gatewayKey}\n`)
    must(await world.run([...closing, '--json']))
    const { next } = (await analyze(world)).json<{ next: NextStep[] }>()
    await typeAll(world, next)
    t.equal(world.rows()[0]?.analysis_status, 'succeeded', JSON.stringify(next))
  })
}

t.test('what is told of a slot that is not set up sets it up', async (t) => {
  const world = await World.in(t).sandbox().state().session().gateway(forImages)
  must(await world.run(['gateway', 'setup', '--remove-slot', 'report', '--json']))
  const refused = await world.run(['gateway', 'prove', 'report', '--json'])
  t.equal(refused.error().reason, 'slot_not_set', refused.stdout)
  const shown = (await must(world.run(['gateway', 'show', '--json']))).json()
  const told = [
    ...refused.error().next, ...nextStepsOf(shown.gateway.slots.report.reason),
    ...nextStepsOf(buyingWords('report').model_not_set.next),
  ]
  t.equal(told.length, 3)
  for (const step of told) {
    await typeAll(world, [step])
    must(await world.run(['gateway', 'setup', '--remove-slot', 'report', '--json']))
  }
})

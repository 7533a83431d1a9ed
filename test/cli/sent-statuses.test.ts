/** What an exit status says about requests, held against the requests that the gateway saw. */
import { mkdirSync, rmSync } from 'node:fs'
import type { Test } from 'tap'
import { fail } from '../../src/base/errors.js'
import { exitStatus, partialOf, requestsSent, type ExitName } from '../../src/base/outcome.js'
import { sentSentence } from '../../src/cli/help/exits.js'
import { keptOf } from '../support/kept.js'
import { must } from '../support/must.js'
import { nextImage, scan, set, take } from '../support/shots.js'
import { holdLock } from '../support/state/hold-lock.js'
import { t } from '../support/tests-in-slices.js'
import { forImages } from '../world/gateway.js'
import { allowed } from '../world/images.js'
import type { Ran, RunOptions } from '../world/place.js'
import { allVerbs } from '../world/program.js'
import { moment } from '../world/texts.js'
import { World, type AnalysisWorld } from '../world/world.js'

const verbs = await allVerbs()

/** Statuses of which `help exit-status` says that nothing was sent. */
const nothingSent = async (world: AnalysisWorld): Promise<readonly number[]> => {
  const { stdout } = await world.run(['help', 'exit-status'])
  const [, numbers = ''] = /Nothing was sent when the status is ([0-9, or]+)\./.exec(stdout) ?? []
  return numbers.split(/, | or /).map(Number)
}

t.test('the sentence about requests is derived from one table, in the topic and in each help',
  async (t) => {
  const world = await World.in(t)
  const names = Object.keys(exitStatus) as ExitName[]
  t.strictSame(Object.keys(requestsSent).sort(), [...names].sort(), 'every status has its word')
  const topic = (await world.run(['help', 'exit-status'])).stdout.replace(/\s+/g, ' ')
  t.match(topic, sentSentence(names))
  t.match(topic, '12 comes before 13, 13 before 7, 7 before 9.')
  t.match(topic, 'ask_in_progress and idempotency_key_spent (5) and result_pruned (6) tell: that one '
    + 'may have been sent.', 'what speaks of an earlier request')
  t.strictSame(sentSentence(names), 'Nothing was sent when the status is 2, 3, 5, 6, 8, 10 or 11. '
    + 'With 13 something was done, and may have been paid for.')
  const contacting = verbs.filter(({ meta }) => meta.contacts === true).map(({ meta }) => meta.name)
  t.strictSame(contacting.sort(), [
    'alpha ask', 'codehost close-capacity', 'codehost consent', 'codehost prepare',
    'codehost preview', 'codehost publish', 'codehost recover observe',
    'codehost recover reconcile', 'codehost run', 'edge daemon', 'gateway prove', 'setup',
    'shots analyze',
    'shots digest', 'shots reanalyze', 'shots report', 'shots run',
  ])
  for (const { meta } of verbs) {
    const help = (await world.run([...meta.name.split(' '), '--help'])).stdout.replace(/\s+/g, ' ')
    const told = sentSentence(['ok', 'failed', 'usage', 'cancelled', ...meta.exits])
    t.equal(help.includes(told), meta.contacts === true, meta.name)
  }
})

t.test('partial is only what did something, and says so before any status of nothing sent', (t) => {
  const counts = { analyzed: 2, cost_microusd: 7 }
  const of = (kind: 'locked' | 'remote' | 'budget' | 'damaged', done: number, sent: number) =>
    partialOf(fail[kind]('a_code', 'A sentence.', { reason: 'why' }), { done, sent, counts })
  t.equal(partialOf(null, { done: 1, sent: 1, counts }), null)
  t.hasStrict(of('locked', 1, 1), {
    kind: 'partial', code: 'a_code', reason: 'why', details: counts,
  })
  t.hasStrict(of('budget', 0, 1), { kind: 'partial' }, 'what was sent and failed counts')
  t.hasStrict(of('remote', 0, 1), { kind: 'remote' }, 'nothing came of it')
  t.hasStrict(of('locked', 0, 0), { kind: 'locked' })
  t.hasStrict(of('damaged', 1, 1), { kind: 'damaged' })
  t.end()
})

const told = async (
  t: Test, world: AnalysisWorld, argv: readonly string[], options: RunOptions = {},
): Promise<Ran> => {
  const before = world.calls().length
  const ran = await world.run([...argv, '--json'], options)
  const sent = world.calls().length - before
  const what = `${argv.join(' ')}: ${ran.status} after ${sent}: ${ran.stderr}`
  if ((await nothingSent(world)).includes(ran.status)) t.equal(sent, 0, what)
  if (ran.status === 13) {
    t.ok(sent > 0, what)
    t.ok(ran.error().details.cost_microusd > 0, 'the cost is told')
  }
  return ran
}

const prepared = (t: Test): Promise<AnalysisWorld> => {
  const world = World.in(t).sandbox().state().session().gateway(forImages).images(allowed)
  return world.then((one) => one)
}

t.test('S-136 S-137 a batch that did part of its work ends with 13, its receipt and its cost',
  async (t) => {
  const world = await prepared(t)
  must(await world.prove('screenshot'))
  for (const name of ['a', 'b', 'c', 'd']) world.file(`${name}.png`, nextImage())
  await scan(world)
  const four = keptOf(world)
  await t.test('room in the budget for two of four', async (t) => {
    four()
    await set(world, '--budget-requests', '3')
    const ran = await told(t, world, ['shots', 'analyze'])
    t.equal(ran.status, 13)
    t.hasStrict(ran.json(), { analyzed: 2, blocked: 2 })
    t.hasStrict(ran.error(), {
      code: 'analysis_blocked', reason: 'budget_exhausted', status: 207,
      details: { analyzed: 2, blocked: 2, cost_microusd: ran.json().cost_microusd },
    })
    t.equal((await told(t, world, ['shots', 'analyze'])).status, 0, 'nothing was left to try')
  })
  await t.test('room for none', async (t) => {
    four()
    await set(world, '--budget-requests', '1')
    const ran = await told(t, world, ['shots', 'analyze'])
    t.equal(ran.status, 8)
  })
  await t.test('a lock that is held before the second', async (t) => {
    four()
    let release: (() => void) | null = null
    const ran = await told(t, world, ['shots', 'analyze', '--wait', '0'], {
      at: (step) => { if (step === 'analyze.finished') release ??= holdLock(world) },
    })
    ;(release as (() => void) | null)?.()
    t.strictSame([ran.status, ran.json().receipt_id, ran.json().analyzed], [13, null, 1])
  })
  await t.test('the jobs, once', async (t) => {
    four()
    await set(world, '--budget-requests', '2')
    const ran = await told(t, world, ['shots', 'run', '--once'])
    t.equal(ran.status, 13)
    t.hasStrict(ran.error().details, { analyzed: 1, blocked: 1 })
  })
  await t.test('one image refused upstream and one analysed', async (t) => {
    four()
    world.sandbox.faults.set('shot_prose', { service: 'gateway', times: 1 })
    t.equal((await told(t, world, ['shots', 'analyze', '--limit', '2'])).status, 13)
  })
  await t.test('a gateway that stops', async (t) => {
    four()
    let count = 0
    const ran = await told(t, world, ['shots', 'analyze'], {
      at: async (step) => {
        if (step === 'analyze.finished' && (count += 1) === 3) await world.sandbox.stop()
      },
    })
    t.equal(ran.status, 13)
    t.hasStrict(ran.json(), { status: 'degraded', analyzed: 3, skipped: 1 })
  })
})

t.test('S-142 proofs of many slots and digests of many windows end with 13 where only some '
  + 'came to be', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).texts()
  await set(world, '--budget-requests', '1')
  const proofs = await told(t, world, ['gateway', 'prove', '--all'])
  t.equal(proofs.status, 13, proofs.stderr)
  t.hasStrict(proofs.error().details, { made: 1, failed: 1 })
  await set(world, '--budget-requests', '3')
  must(await world.prove('report', { args: ['--if-stale'] }))
  await world.analysed({ name: 'a.png', at: moment(2, 1) }, { name: 'b.png', at: moment(4, 1) },
    { name: 'c.png', at: moment(5, 1) })
  const digests = await told(t, world, ['shots', 'digest'])
  t.equal(digests.status, 13, digests.stderr)
  t.hasStrict(digests.error().details, { written: 2, blocked: 1 })
})

t.test('S-136 a conclusion is not paid for where its page may not be written, and told with its cost where the page comes to nothing behind it',
  async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('report').texts()
  await world.analysed({ name: 'a.png', at: moment(4, 1) })
  world.place.write('taken.html', 'mine')
  const line = ['shots', 'report', '--since', moment(20), '--conclude', '--html']
  const taken = await told(t, world, [...line, 'taken.html'])
  t.strictSame([taken.status, taken.error().code], [5, 'file_exists'])
  world.say('It was a good day.')
  const late = await told(t, world, [...line, 'page.html'], {
    at: (step) => { if (step === 'conclude.finished') world.place.write('page.html', 'mine') },
  })
  t.strictSame([late.status, late.error().code], [13, 'file_exists'])
  const { html_file: file, conclusion: { receipt }, report: { model_text: text } } = late.json()
  t.hasStrict(late.error().details, {
    cost_microusd: receipt.cost.amount_microusd, operation_id: receipt.operation_id,
  })
  t.strictSame([file, text.conclusion.text], [null, 'It was a good day.'])
  const again = await told(t, world, [...line, 'page.html'])
  t.strictSame([again.status, again.error().code], [5, 'file_exists'], 'nothing is bought here')

  await world.analysed({ name: 'b.png', at: moment(5, 1) })
  const folder = world.place.path('pages')
  mkdirSync(folder)
  world.say('The password: sk-live-abcdefghijklmnop0123456789ABCD')
  const both = await told(t, world, [...line, 'pages/page.html'], {
    at: (step) => { if (step === 'conclude.finished') rmSync(folder, { recursive: true }) },
  })
  t.strictSame([both.status, both.error().code], [9, 'conclusion_refused'], 'what was paid for')
  t.strictSame([both.json().html_file, both.json().report.facts.count], [null, 2])
})

t.test('no verb that may contact somebody sends anything under a status that says so',
  async (t) => {
  const world = await prepared(t)
  must(await world.prove('screenshot'))
  await take(world, 'a.png')
  const lines: Readonly<Record<string, readonly string[]>> = {
    'alpha ask': ['alpha', 'ask', 'What is new?'],
    'codehost close-capacity': [
      'codehost', 'close-capacity', 'job_none', '--acknowledged-capacity-close',
      '--expected-job-revision', '1', '--expected-connection-revision', '1',
      '--expected-connection-fence', '1',
    ],
    'codehost consent': [
      'codehost', 'consent', 'cnn_none', '--action', 'issue.create', '--acknowledge',
      '--expected-revision', '1',
    ],
    'codehost recover observe': [
      'codehost', 'observe', 'job_none', '--acknowledged-closure-observation',
      '--expected-read-revision', '1',
    ],
    'codehost prepare': [
      'codehost', 'prepare', 'publication', '--connection', 'cnn_none', '--source', '.',
      '--base', 'main', '--branch', 'topic', '--title', 'T', '--author', 'N <n@example.com>',
    ],
    'codehost preview': ['codehost', 'preview', 'job_none', '--diff'],
    'codehost publish': ['codehost', 'publish', 'job_none', '--preview-digest', 'none'],
    'codehost recover reconcile': [
      'codehost', 'reconcile', 'job_none', '--expected-read-revision', '1',
    ],
    'codehost resume': ['codehost', 'resume', 'job_none'],
    'codehost run': ['codehost', 'run', 'job_none'],
    'edge daemon': ['edge', 'daemon', '--once'],
    'gateway prove': ['gateway', 'prove', 'report'],
    'setup': ['setup'],
    'shots analyze': ['shots', 'analyze'],
    'shots digest': ['shots', 'digest'],
    'shots reanalyze': ['shots', 'reanalyze', 'obs_none', '--reason', 'manual_operator_request'],
    'shots report': ['shots', 'report', '--conclude'],
    'shots run': ['shots', 'run', '--once'],
  }
  const seen = new Set<number>()
  for (const { meta } of verbs.filter((one) => one.meta.contacts === true)) {
    const line = lines[meta.name] ?? []
    t.ok(line.length > 0, `${meta.name} is tried`)
    const cases: readonly (readonly [readonly string[], RunOptions])[] = [
      [[...line, '--no-such-flag'], {}],
      [line, { env: { SALLYPORT_STATE_DIR: world.place.path('nowhere') } }],
      [line, { env: { NODE_DEBUG: 'http' } }],
    ]
    for (const [argv, options] of cases) seen.add((await told(t, world, argv, options)).status)
    const release = holdLock(world)
    seen.add((await told(t, world, [...line, '--wait', '0'])).status)
    release()
  }
  seen.add((await told(t, world, lines['shots reanalyze'] ?? [])).status)
  for (const status of [2, 3, 6, 10, 11]) t.ok(seen.has(status), `${status} was reached`)
})

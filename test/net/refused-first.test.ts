/** An environment that forbids contact: every verb that would contact says so before anything. */
import t from 'tap'
import { claimCollection } from '../../src/gateway/call/claims.js'
import { collections } from '../../src/governance/rows.js'
import { itemOutcomeOf } from '../../src/shots/analysis/outcome.js'
import type { View } from '../../src/state/types.js'
import { greyPng } from '../support/png.js'
import { forImages } from '../world/gateway.js'
import { allowed } from '../world/images.js'
import type { Ran, RunOptions } from '../world/place.js'
import { moment } from '../world/texts.js'
import { World } from '../world/world.js'

/** Environments and the words that their refusal names. */
const leaky: readonly (readonly [string, RunOptions])[] = [
  ['NODE_DEBUG', { env: { NODE_DEBUG: 'http,tls' } }],
  ['--tls-keylog', { execArgv: ['--tls-keylog=/nowhere/keys.log'] }],
  ['NODE_OPTIONS', { env: { NODE_OPTIONS: '--tls-keylog=/nowhere/keys.log' } }],
]

const claims = (view: View): number => view.all(claimCollection).length

t.test('no image, proof, digest or conclusion is claimed where the environment forbids contact', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('report').texts()
  await world.run(['gateway', 'prove', 'screenshot', '--json'])
  world.file('a.png', greyPng(64, 48, 7_700))
  await world.run(['shots', 'scan', '--json'])
  await world.analysed({ name: 'b.png', at: moment(2, 1) })
  const id = world.rows().find((row) => row.analysis_status === 'pending')?.observation_id ?? ''
  const lines = [
    ['shots', 'analyze'],
    ['shots', 'reanalyze', id, '--reason', 'manual_operator_request'],
    ['shots', 'digest'],
    ['shots', 'digest', '--window-end', moment(1)],
    ['shots', 'report', '--conclude'],
    ['shots', 'run', '--once'],
    ['gateway', 'prove', 'report'],
    ['gateway', 'prove', '--all'],
  ]
  const before = { calls: world.calls().length, claims: claims(world.view()), id }
  t.not(id, '')
  for (const [name, options] of leaky) {
    for (const line of lines) {
      const ran: Ran = await world.run(line, options)
      t.equal(ran.status, 3, `${line.join(' ')}: ${ran.stderr}`)
      t.match(ran.stdout + ran.stderr, name, line.join(' '))
      t.match(ran.stderr, /next: \S/)
    }
  }
  const view = world.view()
  t.strictSame({
    calls: world.calls().length, claims: claims(view),
    id: world.rows().find((row) => row.analysis_status === 'pending')?.observation_id,
  }, before, 'nothing was sent or claimed, and the image is as it was')
  t.strictSame(view.all(collections.openReservations).map(({ doc }) => doc), [])
  t.notOk(world.rows().some((row) => row.analysis_status === 'failed'))
  t.equal((await world.run(['shots', 'analyze'])).status, 0, 'without it, it is analysed')
})

t.test('A-004 no task is written for a question where the environment forbids contact', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  for (const [name, options] of leaky) {
    const ran = await rig.ask(options)
    t.equal(ran.status, 3, ran.stderr)
    t.hasStrict(ran.error(), { code: 'debug_output_refused', status: 400 })
    t.match(ran.error().message, name)
  }
  t.strictSame(rig.view().all(collections.openTasks), [])
  t.strictSame(rig.view().all(collections.closedTasks), [])
  t.strictSame(rig.view().all(collections.openReservations).map(({ doc }) => doc), [])
  t.equal(rig.inferences().length, 0)
  const key = ['--idempotency-key', '0b0e6a3c-7f0e-4a1e-9d3a-7a7c2f2f4a10']
  t.equal((await rig.ask({ args: key })).status, 0)
  const found = await rig.ask({ args: key, env: { NODE_DEBUG: 'http' } })
  t.equal(found.status, 0, 'finding an answer that stands contacts nobody')
})

t.test('a contact that the environment forbade never makes an image failed', async (t) => {
  const reason = 'debug_output_refused'
  const end = { outcome: 'not_contacted', errorKind: 'rejected' } as const
  t.equal(itemOutcomeOf({ ...end, reason }), 'skipped')
  t.equal(itemOutcomeOf({ ...end, reason: 'request_too_large' }), 'failed')
})

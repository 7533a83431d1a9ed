/** Reanalysis: one reason, same gates, same row. */
import { mkdirSync, utimesSync } from 'node:fs'
import type { Test } from 'tap'
import { nowIso } from '../../src/governance/context.js'
import { findReservation } from '../../src/governance/ledger/find-reservation.js'
import { shotsReanalyze } from '../../src/shots/analysis/analysis-contract.js'
import {
  planReanalysis, reanalyzeOne, reanalyzePlanned,
} from '../../src/shots/analysis/reanalyze.js'
import {
  analysisPromptVersion, reanalyzeGroups, reanalyzeReasons, type ReanalyzeGroup,
  type ReanalyzeReason,
} from '../../src/shots/constants.js'
import { putObservation } from '../../src/shots/observations/observation-store.js'
import type { Observation } from '../../src/shots/observations/observation-rows.js'
import { checkLedger } from '../support/ledger.js'
import { greyPng } from '../support/png.js'
import { forImages } from '../world/gateway.js'
import { allowed } from '../world/images.js'
import type { Ran, RunOptions } from '../world/place.js'
import { World, type AnalysisWorld } from '../world/world.js'
import { must } from '../support/must.js'
import {
  analyze, betweenLookAndClaim, healthy, holding, nextImage, rowOf as rowNamed, scan, sent, set,
  take,
} from '../support/shots.js'
import { t } from '../support/tests-in-slices.js'

/** One image that was analysed. */
const analysed = async (world: AnalysisWorld): Promise<void> => {
  await take(world, 'a.png')
  await must(analyze(world))
}

const rowOf = (world: AnalysisWorld, name = 'a.png'): Observation => rowNamed(world, name)

const put = async (
  world: AnalysisWorld, name: string, change: (row: Observation) => Observation,
): Promise<void> => {
  const { gov } = world.ctx('write')
  await gov.store.transact('test', (tx) =>
    putObservation(tx, nowIso(gov), change(rowOf(world, name))))
  gov.store.close()
}

const again = (
  world: AnalysisWorld, target: string, reason: string, options: RunOptions = {},
): Promise<Ran> =>
  world.run(['shots', 'reanalyze', target, '--reason', reason, '--json'], options)

t.test('S-179 the input is exactly one of four reasons, under the name reason', async (t) => {
  const { request } = shotsReanalyze
  for (const reason of reanalyzeReasons) t.strictSame(request({ reason }), { reason })
  t.strictSame([...reanalyzeReasons], [
    'prompt_version_changed', 'model_version_changed', 'provider_failure_retry',
    'manual_operator_request',
  ])
  const bad: unknown[] = [
    undefined, null, {}, [], 'manual_operator_request', { reason: null }, { reason: '' },
    { reason: ['manual_operator_request'] }, { reason: 'because' },
    { reason: 'manual_operator_request', reasons: [] }, { reasons: ['manual_operator_request'] },
    { reason: 'Manual_operator_request' },
  ]
  for (const one of bad) {
    t.throws(() => request(one), { code: 'request_invalid' })
  }
})

t.test('one image again', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot').with(analysed)
  const first = rowOf(world)

  await t.test('S-179 none, two, an unknown one and no target are refused, nothing sent',
    async (t) => {
    const before = sent(world)
    const id = first.observation_id
    const lines = [
      ['shots', 'reanalyze', id], ['shots', 'reanalyze', id, '--reason', 'because'],
      ['shots', 'reanalyze', '--reason', 'manual_operator_request'],
      ['shots', 'reanalyze', id, '--blocked', '--reason', 'manual_operator_request'],
      ['shots', 'reanalyze', '--blocked', '--failed', '--reason', 'manual_operator_request'],
      [
        'shots', 'reanalyze', id, '--reason', 'manual_operator_request', '--reason',
        'provider_failure_retry',
      ],
    ]
    for (const argv of lines) {
      const ran = await world.run(argv)
      t.ok(ran.status === 2 || ran.status === 3, `${argv.join(' ')}: ${ran.status}`)
    }
    t.equal((await again(world, 'obs_none', 'manual_operator_request')).status, 6)
    t.equal(sent(world), before)
  })

  await t.test('S-160 S-161 S-179 each reason is taken; same row, hash and capture time',
    async (t) => {
    utimesSync(`${world.folder}/a.png`, new Date(), new Date())
    for (const reason of reanalyzeReasons) {
      const before = rowOf(world)
      const ran = await again(world, first.observation_id, reason)
      t.hasStrict(ran.json(), {
        observation_id: first.observation_id, reanalyze_reason: reason, analyzed: 1,
      }, ran.stderr)
      const row = rowOf(world)
      t.equal(row.sha256, first.sha256)
      t.equal(row.captured_at, first.captured_at)
      t.not(row.payload?.operation_id, before.payload?.operation_id)
      t.equal(row.analyzer.reanalyze_reason, reason)
    }
    t.equal(world.rows().length, 1, 'no second record')
  })

  await t.test('S-077 the path of a suppressed file is answered with its representative',
    async (t) => {
    const bytes = greyPng(64, 48, 5_000)
    world.file('rep.png', bytes, '2026-11-20T12:00:00.000Z')
    await must(world.run(['shots', 'scan', '--json']))
    world.file('like.png', greyPng(64, 48, 5_000, 1), '2026-11-20T12:01:00.000Z')
    const scan = (await must(world.run(['shots', 'scan', '--json']))).json()
    t.equal(scan.suppressed, 1, JSON.stringify(scan))
    const rep = world.rows().find(({ paths }) => paths[0]?.name.text === 'rep.png')
    const ran = await again(world, `${world.folder}/like.png`, 'manual_operator_request')
    t.equal(ran.json().observation_id, rep?.observation_id, ran.stderr)
    const body = JSON.parse(world.calls().at(-1)?.body.toString() ?? '')
    t.equal(
      body.messages[1].content[1].image_url.url,
      `data:image/png;base64,${bytes.toString('base64')}`, 'its image is what was sent',
    )
    t.equal((await again(world, '/nowhere/x.png', 'manual_operator_request')).status, 6)
  })

  await t.test('S-159 each closed gate refuses it, with its reason and nothing sent', async (t) => {
    const gates: readonly (readonly [string[], string[], string])[] = [
      [['--analysis', 'off'], ['--analysis', 'on'], 'analysis_off'],
      [['--cloud-upload', 'off'], ['--cloud-upload', 'on'], 'cloud_upload_off'],
      [['--zdr', 'off'], ['--zdr', 'on'], 'zdr_not_on'],
      [['--budget-requests', '1'], ['--budget-requests', '100'], 'budget_exhausted'],
    ]
    const before = world.calls().length
    for (const [close, open, reason] of gates) {
      await must(world.run(['shots', 'config', 'set', ...close]))
      const row = rowOf(world)
      const ran = await again(world, first.observation_id, 'manual_operator_request')
      t.hasStrict(ran.error(), { reason }, reason)
      t.equal(rowOf(world).analysis_status, 'succeeded', 'nothing is lost')
      t.strictSame(rowOf(world).payload, row.payload)
      await must(world.run(['shots', 'config', 'set', ...open]))
    }
    t.equal(world.calls().length, before)
  })

  await t.test('S-160 a failed reanalysis keeps the earlier payload, marked', async (t) => {
    world.sandbox.faults.set('shot_prose', { service: 'gateway', times: 1 })
    const ran = await again(world, first.observation_id, 'manual_operator_request')
    t.equal(ran.status, 9)
    t.hasStrict(rowOf(world), {
      analysis_status: 'failed', payload: { earlier: true },
      analyzer: { reason: 'payload_not_json' },
    })
    const refused = await again(world, first.observation_id, 'manual_operator_request')
    t.hasStrict(refused.error(), {
      code: 'reanalysis_refused', reason: 'provider_failure_retry_needed',
    })
    const retried = await again(world, first.observation_id, 'provider_failure_retry')
    t.equal(retried.status, 0, retried.stderr)
    t.hasStrict(rowOf(world), { analysis_status: 'succeeded', payload: { earlier: false } })
  })
  checkLedger(t, world)
})

t.test('what is old is found, and analysed again in bulk', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot').with(analysed)

  await t.test('S-156 S-157 an older prompt or schema is detected and written down', async (t) => {
    for (const name of ['prompt_version', 'schema_version'] as const) {
      await put(world, 'a.png', (row) => ({
        ...row, analysis_status: 'succeeded',
        payload: row.payload === null ? null : { ...row.payload, [name]: 'svc.older.v0' },
      }))
      const before = sent(world)
      const ran = await must(world.run(['shots', 'analyze', '--json']))
      t.hasStrict(ran.json(), { needs_reanalysis: 1, scanned: 0 })
      t.equal(rowOf(world).analysis_status, 'needs_reanalysis')
      t.equal(sent(world), before, 'and not analysed by itself')
      await must(again(world, rowOf(world).observation_id, 'prompt_version_changed'))
      t.equal(rowOf(world).analysis_status, 'succeeded')
    }
  })

  await t.test('S-158 another model makes it old; bulk shows count and price and asks',
    async (t) => {
    await must(world.widen([
      '--slot', 'screenshot', '--model', 'gateway/acme/screenshot-2', '--consent', 'gateway.vision',
      '--upstream-allow', 'acme-host,other-host',
    ]))
    await must(world.prove('screenshot'))
    t.hasStrict(
      (await must(world.run(['shots', 'analyze', '--json']))).json(), { needs_reanalysis: 1 }
    )
    t.equal(rowOf(world).analysis_status, 'needs_reanalysis')
    const bulk = ['shots', 'reanalyze', '--needs', '--reason', 'model_version_changed', '--json']
    const before = sent(world)
    const alone = await world.run(bulk)
    t.equal(alone.status, 2, 'nobody can be asked')
    t.match(alone.stderr, /1 found, 1 would be sent/)
    t.match(alone.stderr, /µUSD/)
    t.equal(sent(world), before)
    const ran = await world.run([...bulk, '--yes'])
    t.hasStrict(ran.json(), { observation_id: null, analyzed: 1 }, ran.stderr)
    t.hasStrict(rowOf(world), {
      analysis_status: 'succeeded', payload: { model: 'gateway/acme/screenshot-2' },
    })
  })

  await t.test('S-158 one that was written down as old is none any more where its model is in force again, and is not bought twice',
    async (t) => {
    const setModel = async (model: string) => must(await world.widen([
      '--slot', 'screenshot', '--model', model, '--consent', 'gateway.vision',
      '--upstream-allow', 'acme-host,other-host',
    ]))
    await setModel('gateway/acme/screenshot-3')
    t.hasStrict((await must(analyze(world))).json(), { needs_reanalysis: 1 })
    t.equal(rowOf(world).analysis_status, 'needs_reanalysis')
    await setModel('gateway/acme/screenshot-2')
    const before = sent(world)
    const told = await world.json(['shots', 'report', '--since', '2020-01-01'])
    t.hasStrict(told.report.model_text.summaries, [{ outdated: false }])
    const bulk = await world.run(['shots', 'reanalyze', '--needs', '--yes', '--json', '--reason',
      'model_version_changed'])
    t.hasStrict(bulk.json(), { scanned: 0 }, bulk.stderr)
    t.equal(sent(world), before)
    t.hasStrict((await must(analyze(world))).json(), { needs_reanalysis: 0 })
    t.equal(rowOf(world).analysis_status, 'succeeded')
  })
})

t.test('S-168 failed images are sent again for provider_failure_retry alone; a bulk for '
  + 'another reason is refused and changes nothing', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot').with(analysed)
  world.sandbox.faults.set('shot_prose', { service: 'gateway', times: 1 })
  await again(world, rowOf(world).observation_id, 'manual_operator_request')
  const before = { row: rowOf(world), sent: sent(world), calls: world.calls().length }
  t.equal(before.row.analysis_status, 'failed')
  const bulk = ['shots', 'reanalyze', '--failed', '--yes', '--reason']
  const refused = await world.run([...bulk, 'manual_operator_request'])
  t.equal(refused.status, 3, refused.stderr)
  t.match(refused.stderr, 'next: Give --reason provider_failure_retry.')
  const json = await world.run([...bulk, 'manual_operator_request', '--json'])
  t.hasStrict(json.error(), {
    code: 'reason_not_for_failed', reason: 'provider_failure_retry_needed', details: { images: 1 },
  })
  t.strictSame({
    row: rowOf(world), sent: sent(world), calls: world.calls().length,
  }, before, 'nothing changed, nothing was sent')
  t.equal((await world.run([...bulk, 'provider_failure_retry'])).status, 0)
  t.equal(rowOf(world).analysis_status, 'succeeded')
  const none = await world.run([...bulk, 'manual_operator_request', '--json'])
  t.hasStrict(none.json(), { scanned: 0 }, 'without any there is nothing to refuse')
})

/** What makes two images one of each group, without a call. */
const groups: Readonly<Record<ReanalyzeGroup, readonly [
  reason: ReanalyzeReason, prepare: (world: AnalysisWorld) => Promise<unknown>,
]>> = {
  blocked: ['manual_operator_request', async (world) => {
    await set(world, '--cloud-upload', 'off')
    await analyze(world)
    await set(world, '--cloud-upload', 'on')
  }],
  failed: ['provider_failure_retry', (world) => {
    world.sandbox.faults.set('shot_prose', { service: 'gateway', times: 2 })
    return analyze(world)
  }],
  needs: ['prompt_version_changed', async (world) => {
    await must(analyze(world))
    for (const name of ['a.png', 'b.png']) {
      await put(world, name, (row) => ({
        ...row, payload: row.payload && { ...row.payload, prompt_version: 'svc.older.v0' },
      }))
    }
  }],
}

for (const group of reanalyzeGroups) {
  const [reason, prepare] = groups[group]
  const begun = async (t: Test): Promise<AnalysisWorld> => World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot')
    .with(holding('a.png', 'b.png')).with(prepare)
  const bulk = (world: AnalysisWorld, meanwhile: () => Promise<unknown>) => {
    const ctx = betweenLookAndClaim(world, meanwhile)
    return reanalyzePlanned(ctx, planReanalysis(ctx, group, reason), reason)
  }

  t.test(`S-160 what was analysed after a bulk of ${group} was shown is not paid for again`,
    async (t) => {
      const world = await begun(t)
      const before = sent(world)
      const receipt = await bulk(world, () => group === 'blocked'
        ? must(analyze(world))
        : must(world.run(['shots', 'reanalyze', `--${group}`, '--reason', reason, '--yes'])))
      t.equal(sent(world), before + 2, 'each image once')
      t.hasStrict(receipt, { analyzed: 0, failed: 0, skipped: 2, items: [] })
      t.ok(world.rows().every(({ analysis_status: status }) => status === 'succeeded'))
      await healthy(t, world)
    })
}

t.test('S-168 a retry that failed again after it was shown is left to another look', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot').with(analysed)
  world.sandbox.faults.set('shot_prose', { service: 'gateway', times: 3 })
  await again(world, rowOf(world).observation_id, 'manual_operator_request')
  const before = sent(world)
  const retry = 'provider_failure_retry'
  const ctx = betweenLookAndClaim(world, () => again(world, rowOf(world).observation_id, retry))
  const bulk = await reanalyzePlanned(ctx, planReanalysis(ctx, 'failed', retry), retry)
  t.hasStrict(bulk, { skipped: 1, items: [] })
  t.equal(sent(world), before + 1)
  const named = betweenLookAndClaim(world, () => again(world, rowOf(world).observation_id, retry))
  const target = rowOf(world).observation_id
  const { receipt } = await reanalyzeOne(named, world.session(), { target, reason: retry })
  t.hasStrict(receipt, { skipped: 1, items: [] })
  t.equal(sent(world), before + 2, 'nor one that is asked for by name')
  await healthy(t, world)
})

t.test('S-160 a bulk of what another model made old sends none that is new by then', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot').with(analysed)
  await put(world, 'a.png', (row) => ({
    ...row, payload: row.payload && { ...row.payload, prompt_version: 'svc.older.v0' },
  }))
  const before = sent(world)
  const reason = 'prompt_version_changed'
  const ctx = betweenLookAndClaim(world, () => put(world, 'a.png', (row) => ({
    ...row, payload: row.payload && { ...row.payload, prompt_version: analysisPromptVersion },
  })))
  const receipt = await reanalyzePlanned(ctx, planReanalysis(ctx, 'needs', reason), reason)
  t.hasStrict(receipt, { skipped: 1, items: [] })
  t.equal(sent(world), before)
})

const priced = async (t: Test, meanwhile: string) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot').with(analysed)
  await set(world, '--request-cost-bound', '0.01usd')
  await put(world, 'a.png', (row) => ({
    ...row, payload: row.payload && { ...row.payload, prompt_version: 'svc.older.v0' },
  }))
  const before = sent(world)
  const argv = ['shots', 'reanalyze', '--needs', '--reason', 'prompt_version_changed', '--json']
  const ran = await world.run(argv, {
    terminal: { stdin: true, stdout: true, stderr: true },
    answers: [async () => {
      await set(world, '--request-cost-bound', meanwhile)
      return true
    }],
  })
  t.match(ran.stderr, '10,000 µUSD')
  return { world, ran, more: sent(world) - before }
}

t.test('S-159 a bulk costs no more than was said yes to: a bound that was raised meanwhile sends nothing', async (t) => {
  const { world, ran, more } = await priced(t, '0.05usd')
  t.hasStrict([ran.status, ran.error().code], [5, 'reanalysis_changed'])
  t.equal(more, 0)
  await healthy(t, world)
})

t.test('a bulk holds less where the bound was lowered meanwhile', async (t) => {
  const { world, ran, more } = await priced(t, '0.009usd')
  t.hasStrict(ran.json(), { analyzed: 1, skipped: 0 })
  t.equal(more, 1)
  const { operation_id: id } = rowOf(world).analyzer
  t.equal(findReservation(world.view(), id ?? '')?.bound_microusd, 9_000)
})

t.test('S-179 a bulk takes no image that it cannot open, so that every other one has its turn', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot')
  const behind = Buffer.from('behind the end')
  for (const name of ['a.png', 'b.png']) {
    world.file(name, Buffer.concat([nextImage(), behind]), '2026-11-20T10:00:00.000Z')
  }
  await scan(world)
  t.hasStrict((await analyze(world)).json(), { blocked: 2 })
  await set(world, '--recursive', 'on')
  mkdirSync(`${world.folder}/below`)
  world.file('below/c.png', nextImage(), '2026-11-20T10:01:00.000Z')
  world.file('d.png', nextImage(), '2026-11-20T10:02:00.000Z')
  world.file('e.png', nextImage(), '2026-11-20T10:03:00.000Z')
  await scan(world)
  const blocked = (name: string, reason: string): Observation => {
    const row = rowOf(world, name)
    return { ...row, analysis_status: 'blocked', analyzer: { ...row.analyzer, reason } }
  }
  await world.put(
    blocked('below/c.png', 'recursive_off'), blocked('d.png', 'file_unreadable'),
    blocked('e.png', 'before_consent'),
  )
  await set(world, '--recursive', 'off')
  const bulk = async (): Promise<Ran> => must(world.run([
    'shots', 'reanalyze', '--blocked', '--reason', 'manual_operator_request', '--limit', '1',
    '--yes', '--json',
  ]))
  const first = await bulk()
  t.hasStrict(first.json(), { analyzed: 1 })
  t.equal(rowOf(world, 'e.png').analysis_status, 'succeeded')
  t.match(first.stderr, '2 found, 1 would be sent')
  t.match(first.stderr, '2 left out: no whole images')
  t.match(first.stderr, '1 left out: they lie in subfolders, and recursive is off')
  await bulk()
  t.equal(rowOf(world, 'd.png').analysis_status, 'succeeded', 'one that can be read by now')
})

/** `shots find`: what models wrote, looked through on this machine. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { collections } from '../../../src/governance/rows.js'
import { allowed } from '../../world/images.js'
import { forImages } from '../../world/gateway.js'
import { moment } from '../../world/texts.js'
import { World } from '../../world/world.js'
import { must } from '../../support/must.js'
import { t } from '../../support/tests-in-slices.js'

t.test('a text is found in analyses and digests, newest first, with a line around it, and nobody is contacted', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('report').texts()
  const [old, , tagged] = await world.analysed(
    { name: 'old.png', at: moment(3, 1), says: { summary: 'The invoice of October is open.' } },
    { name: 'other.png', at: moment(2, 1), says: { summary: 'A terminal.' } },
    { name: 'tags.png', at: moment(2, 2), says: { tags: ['mail', 'Invoice  draft'] } },
    { name: 'gone.png', at: moment(2, 3), says: { summary: 'invoice' },
      row: { archived_at: moment(1, 1) } },
  )
  world.say('In this half hour an invoice was written.')
  must(await world.digest())
  const before = world.calls().length
  const find = async (...argv: string[]) =>
    must(await world.run(['shots', 'find', ...argv, '--json'])).json()
  const all = await find('INVOICE')
  t.strictSame(all.found.map((one: { kind: string, id: string, field: string }) =>
    [one.kind, one.kind === 'digest' ? '' : one.id, one.field]), [
    ['analysis', tagged?.observation_id, 'tags'], ['digest', '', 'content'],
    ['analysis', old?.observation_id, 'summary'],
  ])
  t.hasStrict(all, { more: false, unreadable: 0, looked_at: { analyses: 3, digests: 2 } })
  t.equal(all.found[2].line, 'The invoice of October is open.')
  t.equal(all.found[0].line, 'Invoice draft')
  t.equal((await find('invoice', '--since', moment(2))).found.length, 2)
  t.hasStrict(await find('invoice', '--limit', '1'), {
    more: true, looked_at: { analyses: 1, digests: 1 },
  })
  const found: unknown[] = []
  for (let words: string[] | null = ['invoice', '--limit', '1']; words !== null;) {
    const page = await find(...words)
    found.push(...page.found)
    t.equal(page.more, page.next_page !== null)
    words = page.next_page === null ? null
      : String(page.next_page).split(' ').slice(3).filter((word) => word !== '--json')
  }
  t.strictSame(found, all.found, 'one after the other, by the command that each names')
  t.hasStrict(await find('png.png'), { found: [], more: false })
  const shown = must(await world.run(['shots', 'find', 'october']))
  t.match(shown.stdout, 'The invoice of October is open.')
  t.match(shown.stderr, '1 found in 3 analyses and 2 digests')
  t.equal(world.calls().length, before)
})

t.test('a digest that ends at the very moment of an analysis is found behind it, page by page as in one list', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('report').texts()
  await world.analysed(
    { name: 'old.png', at: moment(3, 1), says: { summary: 'A harbour.' } },
    { name: 'border.png', at: moment(2), says: { summary: 'The harbour at the border.' } },
  )
  world.say('In this half hour a harbour was seen.')
  must(await world.digest())
  const find = async (...more: readonly string[]) =>
    must(await world.run(['shots', 'find', 'harbour', ...more, '--json'])).json()
  const { found: all } = await find()
  t.strictSame(all.map(({ kind, at }: { kind: string, at: string }) => [kind, at]), [
    ['analysis', moment(2)], ['digest', moment(2)], ['analysis', moment(3, 1)],
  ])
  for (const [n, { id }] of all.entries()) {
    t.strictSame((await find('--after', id)).found, all.slice(n + 1), `behind row ${n + 1}`)
  }
})

t.test('digests of windows of several lengths are found in the order of their ends, each once, page by page as in one list', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('report').texts()
  const at = (time: string): string => `2026-11-20T${time}:00.000Z`
  await world.analysed(
    { name: 'a.png', at: at('09:40') }, { name: 'b.png', at: at('10:05') },
    { name: 'c.png', at: at('10:40') },
    { name: 'd.png', at: at('11:20'), says: { summary: 'The harbour.' } },
  )
  for (const [minutes, end] of [
    ['30', at('10:30')], ['30', at('11:30')], ['60', at('11:00')],
    ['1440', '2026-11-21T00:00:00.000Z'], ['30', at('10:00')],
  ] as const) {
    world.say(`In ${minutes} minutes a harbour was seen.`)
    must(await world.run(['shots', 'digest', '--json', '--window-end', end],
      { env: { SCREENSHOT_OBSERVATION_DIGEST_WINDOW_MIN: minutes } }))
  }
  const find = async (...more: readonly string[]) =>
    must(await world.run(['shots', 'find', 'harbour', ...more, '--json'])).json().found
  const all = await find()
  const timesOf = (found: readonly { kind: string, at: string }[]) =>
    found.map((one) => `${one.kind} ${one.at.slice(8, 16)}`)
  const due = ['digest 21T00:00', 'digest 20T11:30', 'analysis 20T11:20', 'digest 20T11:00',
    'digest 20T10:30', 'digest 20T10:00']
  t.strictSame(timesOf(all), due)
  t.strictSame(timesOf(await find('--since', at('10:45'))), due.slice(0, 4))
  for (const [n, { id }] of all.entries()) {
    t.strictSame(await find('--after', id), all.slice(n + 1), `behind row ${n + 1}`)
  }
})

t.test('an analysis whose file is gone is counted and hides no other', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('report').texts()
  const [first] = await world.analysed(
    { name: 'a.png', at: moment(2, 1), says: { summary: 'harbour one' } },
    { name: 'b.png', at: moment(2, 2), says: { summary: 'harbour two' } },
  )
  const { ref } = world.view().get(collections.artifacts, first?.payload?.artifact_id ?? '')!
  const name = ref.stored_sha256
  rmSync(join(world.place.stateDir, 'artifacts', name.slice(0, 2), name))
  const ran = must(await world.run(['shots', 'find', 'harbour', '--json']))
  t.hasStrict(ran.json(), { unreadable: 1, looked_at: { analyses: 2 } })
  t.equal(ran.json().found.length, 1)
  t.match(must(await world.run(['shots', 'find', 'harbour'])).stderr, 'could not be opened')
})

t.test('an empty text, one that is too long and no session are refused', async (t) => {
  const world = await World.in(t).state().session().images()
  const status = async (...argv: string[]) => {
    const ran = await world.run(['shots', 'find', ...argv, '--json'])
    return [ran.status, ran.error().code]
  }
  t.strictSame(await status(' \t '), [3, 'search_text_empty'])
  t.equal((await status('x'.repeat(201)))[0], 3)
  must(await world.run(['logout']))
  t.equal((await status('anything'))[0], 4)
})

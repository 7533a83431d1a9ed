/** A list that was cut says so, and how to go on, until its last row. */
import { spawnSync } from 'node:child_process'
import fc from 'fast-check'
import { newId } from '../../src/base/ids.js'
import { commandLine, lineOfWords, toldCommand } from '../../src/base/told.js'
import { nextCommand } from '../../src/cli/next-page.js'
import { taskAt } from '../support/tasks.js'
import { sessionOf } from '../world/session.js'
import type { Loose } from '../world/place.js'
import { World, type StateWorld } from '../world/world.js'
import { must } from '../support/must.js'
import { t } from '../support/tests-in-slices.js'

/** Every page of a list, one row each, by the command that each names; gives the rows in order. */
const pagesOf = async (at: Pick<StateWorld, 'json'>, line: readonly string[]): Promise<Loose[]> => {
  const rows: Loose[] = []
  const first = ['sallyport', ...line, '--limit', '1', '--paged', '--json'].join(' ')
  for (let next: string | null = first, asked = 0; next !== null && asked < 50; asked += 1) {
    const [program, ...words] = next.split(' ')
    if (program !== 'sallyport') throw new Error('it is no command that can be typed')
    const page: Loose = await at.json(words.filter((word) => word !== '--json'))
    rows.push(...page.rows)
    next = page.next_page
    const flags = (next ?? '').split(' ').filter((word) => word === '--after').length
    if (next !== null && flags !== 1) throw new Error('it has its flag once')
    if (page.more !== (next !== null)) throw new Error('more says what next_page does')
  }
  return rows
}

t.test('every page after the other gives each row of the list once, and the last has no next', async (t) => {
  const at = await World.still(t).state({ owner: 'ada' }).session()
  for (const stage of ['succeeded', 'blocked', 'succeeded'] as const) {
    await taskAt(at, sessionOf(at), stage)
  }
  await at.json(['policy', 'revoke'])
  for (const line of [
    ['task', 'list'], ['task', 'list', '--state', 'succeeded'], ['alpha', 'tasks'],
    ['audit', 'list'], ['audit', 'list', '--what', 'session'], ['audit', 'list', '--since', '1d'],
    ['audit', 'list', '--principal', 'ada'], ['policy', 'history'],
  ]) {
    const whole = await at.json([...line, '--limit', '100'])
    t.ok(whole.length > 0, `${line.join(' ')} has rows`)
    t.strictSame(await pagesOf(at, line), whole, line.join(' '))
  }
})

t.test('sessions and goals are given whole unless a page is asked for, and page by page', async (t) => {
  const at = await World.still(t).state({ owner: 'ada' }).session()
  const file = at.place.write('passphrase', 'correct horse')
  await at.json(['principal', 'add', 'bob', '--passphrase-file', file])
  for (const owner of ['bob', 'ada', 'bob', 'ada']) {
    const secret = owner === 'bob' ? ['--passphrase-file', file] : []
    await at.json(['login', '--owner', owner, ...secret])
  }
  for (const one of (await at.json(['session', 'list', '--all'])).slice(1, 3)) {
    await at.json(['session', 'revoke', one.id])
  }
  for (const title of ['Tides', 'Harbour', 'Tax']) await at.json(['goal', 'add', title])
  const [, tides] = await at.json(['goal', 'list'])
  await at.json(['goal', 'close', tides.id])
  const lines: readonly (readonly [number, ...string[]])[] = [
    [3, 'session', 'list'], [5, 'session', 'list', '--all'], [2, 'session', 'list', '--live'],
    [3, 'session', 'list', '--all', '--live'], [4, 'goal', 'list'], [3, 'goal', 'list', '--open'],
  ]
  for (const [count, ...line] of lines) {
    const whole = await at.json(line)
    t.equal(whole.length, count, line.join(' '))
    t.strictSame(await pagesOf(at, line), whole, line.join(' '))
    t.strictSame(await at.json([...line, '--limit', '10000']), whole)
  }
  const cut = must(await at.run(['goal', 'list', '--limit', '2']))
  t.equal(cut.stderr, `2 shown, the oldest; more with --after ${tides.id}\n`)
})

t.test('the holds of an owner are paged by their operations', async (t) => {
  const at = await World.in(t).sandbox().state().session().alpha()
  for (let count = 0; count < 2; count += 1) must(await at.ask())
  const line = ['ledger', 'reservations', '--all']
  const whole = await at.json(line)
  t.equal(whole.length, 2)
  t.strictSame(await pagesOf(at, line), whole)
})

t.test('without --paged a list stays an array, and a note says that there is more', async (t) => {
  const at = await World.still(t).state({ owner: 'ada' }).session()
  for (let count = 0; count < 2; count += 1) await taskAt(at, sessionOf(at), 'succeeded')
  const [newest, oldest] = await at.json(['task', 'list'])
  const cut = must(await at.run(['task', 'list', '--limit', '1', '--json']))
  t.strictSame(cut.json(), [newest])
  t.equal(cut.stderr, `1 shown, the newest; more with --after ${newest.id}\n`)
  const whole = must(await at.run(['task', 'list', '--limit', '2', '--json']))
  t.strictSame([whole.json(), whole.stderr], [[newest, oldest], ''])
  t.strictSame(await at.json(['task', 'list', '--limit', '2', '--paged']), {
    schema: 'sallyport.page.v1', rows: [newest, oldest], more: false, next_page: null,
  })
  t.hasStrict(await at.json(['schema', 'page']), { $id: 'sallyport.page.v1' })
  t.equal((await at.run(['audit', 'list', '--after', newId('aud'), '--json'])).status, 6)
})

t.test('what has not the form of an id of the list is refused by each, instead of all of it or nothing', async (t) => {
  const at = await World.still(t).state({ owner: 'ada' }).session()
  await taskAt(at, sessionOf(at), 'succeeded')
  const lists = [
    'task list', 'goal list', 'session list', 'ledger reservations --all', 'audit list',
    'alpha tasks', 'codehost jobs', 'codehost closures', 'shots list', 'shots digests',
    'shots find tides',
  ]
  for (const list of lists) {
    for (const given of ['zzz', 'zz', 'task', 'prn_deadbeef', newId('prn')]) {
      const ran = await at.run([...list.split(' '), '--after', given, '--json'])
      const { code, details } = ran.error()
      t.strictSame([ran.status, code, details.field], [3, 'request_invalid', 'after'], list)
      t.equal(ran.stdout, '')
    }
  }
  t.strictSame(await at.json(['task', 'list', '--after', newId('task'), '--limit', '1']),
    await at.json(['task', 'list']), 'the id of a row that was removed')
  const unread = ['ledger', 'reservations', '--all', '--after', 'op_unread-restored-1']
  t.strictSame(await at.json(unread), [])
})

t.test('A-189 a page goes on behind another owner’s row without a word of it', async (t) => {
  const at = await World.still(t).state({ owner: 'ada' }).session()
  const foreign = await taskAt(at, sessionOf(at), 'succeeded')
  const file = at.place.write('passphrase', 'correct horse')
  await at.json(['principal', 'add', 'bob', '--passphrase-file', file])
  await at.json(['login', '--owner', 'bob', '--passphrase-file', file])
  t.strictSame(await at.json(['task', 'list', '--after', foreign.task_id]), [])
})

t.test('the next command and what a form tells as typed are read by a shell as the words that were meant', (t) => {
  const read = (line: string): readonly string[] => {
    const { stdout } = spawnSync('/bin/sh', ['-c', `printf '%s\\0' ${line}`], { encoding: 'utf8' })
    return stdout.split('\0').slice(0, -1)
  }
  const word = fc.string({ minLength: 1, unit: fc.constantFrom(
    'a', '-', '=', '/', ' ', '\n', '\'', '"', '\\', '$', '`', '(', ';', '&', '*', '~', '#', 'é',
  ) }).filter((text) => !text.startsWith('-'))
  fc.assert(fc.property(fc.array(word, { maxLength: 3 }), word, (words, value) => {
    const next = nextCommand(
      { argv: ['shots', 'find', ...words], carried: [] }, { flag: '--after', value })
    t.strictSame(read(next), ['sallyport', 'shots', 'find', ...words, '--after', value])
    t.strictSame(
      read(toldCommand(commandLine(lineOfWords(['init', ...words])), ['--state-dir', value])),
      ['sallyport', 'init', ...words, '--state-dir', value])
  }), { numRuns: 60 })
  t.end()
})

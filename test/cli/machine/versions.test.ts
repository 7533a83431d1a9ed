/**
 * Two programs at one state, of which one writes a field more: from its first look on the older one
 * is refused before anything, and what it only reads it shows as it knew it.
 */
import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { writesVersion } from '../../../src/state/place/writes.js'
import { failure, must } from '../../support/must.js'
import { askOn, firstMachine, nextMachine } from '../../support/place/machines.js'
import { startPostgres } from '../../support/place/postgres.js'
import { t } from '../../support/tests-in-slices.js'
import { question } from '../../world/alpha.js'
import type { Place, Ran } from '../../world/place.js'
import { World } from '../../world/world.js'

interface Bundler {
  bundle(order: {
    readonly entries: Readonly<Record<string, string>>
    readonly outdir: string
    readonly minify: boolean
    readonly maps: boolean
  }): Promise<void>
}

/** Beside the packages that it loads. */
const outdir = join(process.cwd(), '.build', `newer-${process.pid}`)
t.teardown(() => rmSync(outdir, { recursive: true, force: true }))

const makeNewer = async (): Promise<string> => {
  const { bundle } =
    (await import(join(process.cwd(), 'scripts/tool/bundle.js'))) as Bundler
  await bundle({
    entries: { sallyport: 'src/cli/start.ts' }, outdir, minify: false, maps: false,
  })
  const form = new RegExp(`\\bwritesVersion = ${writesVersion}\\b`, 'g')
  let raised = 0
  for (const name of readdirSync(outdir)) {
    const text = readFileSync(join(outdir, name), 'utf8')
    raised += text.match(form)?.length ?? 0
    writeFileSync(join(outdir, name), text.replace(form, `writesVersion = ${writesVersion + 1}`))
  }
  if (raised !== 1) throw new Error(`what it writes was raised ${raised} times`)
  return outdir
}

let made: Promise<string> | undefined
/** Folder of a program that writes one field more than this one; made once. */
const newerProgram = (): Promise<string> => (made ??= makeNewer())

/** Runs a line by the program in that folder. */
const by = async (
  folder: string, { spawn }: Place, argv: readonly string[], stdin?: string,
): Promise<Ran> => {
  const before = process.env['SALLYPORT_TEST_PACKED']
  process.env['SALLYPORT_TEST_PACKED'] = folder
  try {
    return await spawn(argv, { coverage: false, ...(stdin === undefined ? {} : { stdin }) })
  } finally {
    if (before === undefined) delete process.env['SALLYPORT_TEST_PACKED']
    else process.env['SALLYPORT_TEST_PACKED'] = before
  }
}

t.test('once a newer program was there the older one sends and writes nothing, and reads on', async (t) => {
  const [newer, server] = [await newerProgram(), await startPostgres(t)]
  const one = await firstMachine(t, server.url)
  const two = await nextMachine(t, one)
  must(await one.ask())
  const ask = ['alpha', 'ask', '-', '--json']
  must(await by(newer, two.place, ask, question))
  t.equal(one.inferences().length, 2)
  const records = async (): Promise<unknown> =>
    (await server.query('select max(sequence) as n from sallyport.records'))[0]
  const last = await records()
  const refused = { status: 7, code: 'state_too_new', out: '' }
  t.strictSame(failure(await one.ask()), refused)
  for (const line of [['goal', 'add', 'Read'], ['machine', 'list'], ['gateway', 'prove', 'chat']]) {
    t.strictSame(failure(await one.run([...line, '--json'])), refused, line.join(' '))
  }
  must(await one.run(['ledger', 'show']))
  must(await one.run(['goal', 'list']))
  const revoked = await one.run(['policy', 'revoke', '--json'])
  t.hasStrict(failure(revoked), { status: 11, code: 'stop_out_of_reach' })
  t.equal(revoked.error().reason, 'state_too_new', 'it is in force here, and says why no further')
  t.equal(one.inferences().length, 2)
  t.strictSame(await records(), last)
  must(await by(newer, two.place, ask, question))
  must(await by(newer, one.place, ['machine', 'list']))
  t.equal(failure(await askOn(two)).code, 'state_too_new', 'on any machine')
  const shown = must(await by(newer, one.place, ['policy', 'show', '--json'])).json()
  t.equal(shown.policy.state, 'active', 'the stop waits for a record')
  t.equal(failure(await by(newer, one.place, ask, question)).status, 4, 'and is in force')
  t.equal(one.inferences().length, 3)
})

t.test('an older program joins no state that a newer one wrote to, and makes nothing', async (t) => {
  const [newer, server] = [await newerProgram(), await startPostgres(t)]
  const one = await firstMachine(t, server.url)
  must(await by(newer, one.place, ['machine', 'list']))
  const file = one.place.path('b.invite')
  const secret = one.place.write('b.passphrase', 'goes by another way\n')
  const invite = ['machine', 'invite', 'b', '--to', file, '--passphrase-file', secret]
  must(await by(newer, one.place, invite))
  const two = await World.in(t)
  const join = ['machine', 'join', file, '--passphrase-file', secret, '--json']
  t.strictSame(failure(await two.run(join)), { status: 7, code: 'state_too_new', out: '' })
  t.hasStrict(await two.json(['state', 'path']), { exists: false })
  must(await by(newer, two.place, join))
})

t.test('a state in a directory is nobody else\'s: either program goes on with it', async (t) => {
  const newer = await newerProgram()
  const at = await World.in(t).state({ owner: 'ada' }).session()
  for (const add of [at.run, (argv: readonly string[]) => by(newer, at.place, argv), at.run]) {
    must(await add(['goal', 'add', 'Read']))
  }
  t.equal((await at.json(['goal', 'list'])).length, 4)
})

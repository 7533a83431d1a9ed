/** Older names of verbs and flags: each goes on working as it did, and is shown nowhere else. */
import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { changeOfFlags } from '../../src/cli/commands/shots/config-flags.js'
import { olderNamesOf } from '../../src/cli/commands/older.js'
import { commands } from '../../src/cli/commands/table.js'
import { completionScript, shells } from '../../src/cli/completion/scripts.js'
import { describingDeps } from '../../src/cli/describing.js'
import { addTodaysFlags, asRead, todayOf } from '../../src/cli/flags.js'
import { generatedFiles } from '../../src/cli/generate.js'
import { verbNamed } from '../../src/cli/line.js'
import { describeNouns } from '../../src/cli/tree.js'
import type { VerbRecord } from '../../src/cli/verb.js'
import { failure, must } from '../support/must.js'
import { t } from '../support/tests-in-slices.js'
import { allVerbs, olderVerbs } from '../world/program.js'
import { World } from '../world/world.js'

const olderNames = olderNamesOf(commands)
const verbs = await allVerbs()
const older = await olderVerbs()
const everyEntry: readonly { load(): Promise<VerbRecord> }[] = [
  ...commands.flatMap((one) => ('load' in one ? [one] : one.verbs)), ...olderNames,
]
const digest = 'epi_01890000-0000-7000-8000-000000000000'

t.test('an older name is no name of today, and every line of today in its place is one', (t) => {
  const names = verbs.map(({ meta }) => meta.name)
  for (const { name, today } of olderNames) {
    t.notOk(names.includes(name), name)
    for (const line of today) {
      const found = verbs.filter(({ meta }) => `${line} `.startsWith(`${meta.name} `))
        .sort((a, b) => b.meta.name.length - a.meta.name.length)[0]
      const rest = line.slice(found?.meta.name.length).trim()
      const flags = rest.split(' ').filter((word) => word.startsWith('--'))
      const known = found?.flags.map(({ long }) => long) ?? []
      t.ok(found !== undefined && flags.every((flag) => known.includes(flag)), `${name}: ${line}`)
    }
  }
  t.equal(new Set(olderNames.map(({ name }) => name)).size, olderNames.length)
  t.end()
})

/** What scripts elsewhere may rest on: verbs, each with the flags that they know. */
const promised = `
init --profile --owner --workspace --passphrase-file
login --owner --passphrase-file --idle --ttl --replace --token-file
logout
session show|list|revoke
principal add --passphrase-file
principal list|disable
goal add|list|show|update|close
task list|show|review|cancel|recover|close
config show
config save --from
policy show|revoke|history
ledger show|reservations|review|settle
status
doctor
state check|repair|backup|restore|compact|prune|path
audit list|show
schema
setup
timers install|remove|show
gateway show
gateway setup --slot --model --upstream-allow --api-key-file --spend-ceiling-microusd --consent \
  --acknowledge-cloud-egress --expected-policy-revision
gateway prove --if-stale
alpha acknowledge|show|tasks|task|cancel
alpha setup --enable --disable --max-output-tokens --timeout-seconds --request-cost-bound-microusd \
  --spend-ceiling-microusd --api-key-file --acknowledge-plaintext-egress \
  --expected-policy-revision --from
alpha ask --file --from --max-output-tokens --goal --idempotency-key
alpha output
alpha review --approve --reject --accept-overrun
shots setup|watch|clear-stale|explain|digests
shots config set --folder --analysis --cloud-upload --fallbacks --data-collection --zdr \
  --budget-microusd --budget-requests --request-cost-bound-microusd --recursive
shots config show
shots scan --folder --limit --from
shots list --status --since --limit
shots show --analysis
shots analyze --limit
shots reanalyze --blocked --failed --reason
shots digest --window-end
shots report --since --html --conclude
shots status --max-age
shots run --once
edge pair|list|revoke|capture|daemon|artifacts|show|get
codehost connect --repo --token-file --mode
codehost connections|mode|grants|revoke|preview|run|resume|jobs|job|cancel|reconcile|closures
codehost discard|adopt|verify
codehost consent --action --duration --acknowledge --expected-revision
codehost prepare --connection --source --base --branch --title --body-file --goal
codehost approve --preview-digest
codehost close-capacity --from
codehost inspect --from
codehost observe --acknowledge --expected-read-revision
serve --port
sandbox start --dir
sandbox fault set|clear
demo
completion
help
`.replaceAll('\\\n', ' ').trim().split('\n').flatMap((line) => {
  const [, before = '', last = '', rest = ''] =
    /^([a-z ]*?)([a-z|-]+)((?: +--.*)?)$/.exec(line) ?? []
  const flags = rest.split(' ').filter(Boolean)
  return last.split('|').map((verb) => ({ name: before + verb, flags }))
})

t.test('what scripts may rest on is a verb of today or an older name, with its flags', async (t) => {
  t.ok(promised.length > 100)
  for (const { name, flags } of promised) {
    const named = await verbNamed(commands, name.split(' '), describingDeps())
    const options = named?.verb.command.options.map(({ long }) => long) ?? []
    t.ok(named !== null, name)
    for (const flag of flags) t.ok(options.includes(flag), `${name} ${flag}`)
  }
})

t.test('an older name is in no help, man page or completion, and its own help names today’s', async (t) => {
  const { place } = World.in(t)
  const files = await generatedFiles(describingDeps())
  const pages = [...files].flatMap(([path, text]) => (path.startsWith('docs/') ? [] : [text]))
  const overview = (await place.run(['--help'])).stdout
  const scripts = shells.map((shell) =>
    completionScript(shell, verbs, describeNouns(describingDeps())))
  for (const { name, today } of olderNames) {
    const words = name.replaceAll('-', '\\-')
    const text = new RegExp(`sallyport ${name}(?! ?[-\\w])|^\\.SH ${words.toUpperCase()}$`, 'm')
    for (const page of [...pages, overview, ...scripts]) t.notMatch(page, text, name)
    const { stdout } = await place.run([...name.split(' '), '--help'])
    t.match(stdout, `Usage: sallyport ${name}`)
    for (const line of today) {
      t.ok(stdout.replace(/\s+/g, ' ').includes(`\`sallyport ${line}\``), `${name}: ${line}`)
    }
    t.equal((await place.run(['help', ...name.split(' ')])).stdout, stdout, name)
  }
})

t.test('every older name stands in the changelog, beside the lines of today', (t) => {
  const page = readFileSync('CHANGELOG.md', 'utf8')
  for (const { name, today } of olderNames) {
    const row = `| \`${name}\` | ${today.map((line) => `\`${line}\``).join(', ')} |`
    t.ok(page.includes(row), row)
  }
  t.end()
})

/** Older flags with what is typed today in their place, each once. */
const olderFlags = [...new Map([...verbs, ...older].flatMap((verb) => verb.olderFlags)
  .map(({ long, today }) => [`${long} ${today}`, { long, today }] as const)).values()]

t.test('A-036 an older flag is in no help, and stands in the changelog', async (t) => {
  const page = readFileSync('CHANGELOG.md', 'utf8')
  t.ok(olderFlags.length > 20)
  for (const { long, today } of olderFlags) {
    const row = `| \`${long}\` | \`${today}\` |`
    t.ok(page.includes(row), row)
    for (const { meta, help } of verbs) t.notMatch(help, new RegExp(`${long}\\b(?!-)`), meta.name)
  }
})

/** What is typed behind a flag by its older name, and by that of today. */
const valuesOf = (long: string, takes: boolean): readonly [string[], string[]] => {
  if (!takes) return [[], []]
  if (long.endsWith('-microusd')) return [['20000'], ['0.02usd']]
  return /enabled$/.test(long) ? [['off'], ['off']] : [['7'], ['7']]
}

t.test('A-036 a flag by its older name is read as by that of today', async (t) => {
  let read = 0
  for (const { load } of everyEntry) {
    const record = await load()
    const parsed = (words: readonly string[]) => {
      const command = addTodaysFlags(record.flags?.(new Command()) ?? new Command())
      command.parseOptions([...words])
      return asRead(command, command.opts())
    }
    const command = addTodaysFlags(record.flags?.(new Command()) ?? new Command())
    for (const option of command.options) {
      const today = todayOf(option)
      const long = option.long ?? ''
      if (today === null) continue
      const [before, now] = valuesOf(long, option.required)
      const [flag = '', name] = today.split(' ')
      const line = name === undefined
        ? [flag, ...now] : [flag, name.replace('VALUE', now[0] ?? '')]
      const of = (words: readonly string[]) =>
        (name === undefined ? parsed(words) : changeOfFlags(parsed(words)))
      t.strictSame(of([long, ...before]), of(line), `${long} ${today}`)
      t.not(Object.keys(of(line)).length, 0, long)
      read += 1
    }
  }
  t.ok(read > 25, `${read} flags`)
})

t.test('what is wrong with a number is told by the name of the flag that was typed', async (t) => {
  const { place } = World.in(t)
  for (const flag of ['--expected-revision', '--expected-policy-revision']) {
    const { stderr } = await place.run(['alpha', 'setup', '--enable', flag, 'x'])
    t.match(stderr, new RegExp(`^sallyport: Flag ${flag} must be a plain integer`), flag)
  }
})

t.test('every older name has the schema that it had', async (t) => {
  const { place } = World.in(t)
  for (const { meta } of older) {
    const { stdout } = await place.run(['schema', ...meta.name.split(' ')])
    t.equal(JSON.parse(stdout).$id, meta.json?.schemaName, meta.name)
  }
})

/** An older line, and the line of today that gives the same document. */
const same: readonly (readonly [older: string, today: string])[] = [
  ['alpha output TASK', 'task show TASK --output'],
  ['alpha output task_none', 'task show task_none --output'],
  ['shots config show', 'shots show'],
  ['shots config set --analysis off', 'shots setup --analysis off'],
  ['shots config set --budget-requests x', 'shots setup --budget-requests x'],
  ['shots find nowhere --limit 2', 'shots list --search nowhere --limit 2'],
  ['shots find a', 'shots list --search a'],
  ['shots digests --limit 1', 'shots list --digests --limit 1'],
  [`shots digests ${digest}`, `shots show ${digest}`],
  ['shots explain x.png', 'shots show x.png'],
  ['shots watch', 'shots run --watch'],
  ['edge show edge_art_01890000-0000-7000-8000-000000000000',
    'edge artifacts edge_art_01890000-0000-7000-8000-000000000000'],
  ['edge get edge_art_01890000-0000-7000-8000-000000000000 --out shot.png',
    'edge artifacts edge_art_01890000-0000-7000-8000-000000000000 --out shot.png'],
  ['codehost job job_x', 'codehost jobs job_x'],
  ['codehost job job_x --history effects', 'codehost jobs job_x --history effects'],
  ['codehost resume job_x', 'codehost run job_x --resume'],
  ['state verify none', 'state check none'],
  ['codehost grants', 'codehost connections --grants'],
  ['codehost closures', 'codehost recover closures'],
  ['codehost adopt job_x', 'codehost recover adopt job_x'],
  ['codehost discard job_x', 'codehost recover discard job_x'],
  ['codehost inspect job_x', 'codehost recover inspect job_x'],
  ['codehost reconcile job_x --expected-read-revision 1',
    'codehost recover reconcile job_x --expected-read-revision 1'],
  ['codehost observe job_x --acknowledged-closure-observation --expected-read-revision 1',
    'codehost recover observe job_x --acknowledged-closure-observation --expected-read-revision 1'],
  ['codehost verify receipt', 'codehost recover verify receipt'],
  ['policy history --limit 1', 'policy show --history --limit 1'],
  ['policy history', 'policy show --history'],
  ['state kept', 'state prune --show'],
  ['state kept --remove x --yes', 'state prune --kept x --yes'],
  ['sandbox faults', 'sandbox fault list'],
]

/** Older names whose document is another than that of today: it is as it always was. */
const apart = [
  'alpha tasks', 'alpha task', 'alpha review', 'alpha cancel', 'config show', 'config save',
]

/** The line that prints more of a list is told as it was typed. */
const untold = (text: string): string => text.replace(/(next_page": "|More: )[^"\n]*/g, '$1')

t.test('an older line gives the document, the refusal and the status of the line of today', async (t) => {
  const world = await World.in(t).sandbox().state().session().alpha()
  const { task } = must(await world.ask()).json()
  world.place.write('receipt', '{}')
  const tried = new Set(same.map(([line]) => line.split(' ').slice(0, 2).join(' ')))
  t.strictSame([...tried, ...apart].sort(), olderNames.map(({ name }) => name).sort())
  for (const [before, now] of same) {
    const told = async (line: string) => {
      const ran = await world.run([...line.replace('TASK', task.id).split(' '), '--json'])
      return [ran.status, untold(ran.stdout), untold(ran.stderr)]
    }
    t.strictSame(await told(before), await told(now), before)
  }
})

t.test('a flag of the one verb is refused beside the word that makes it the other', async (t) => {
  const { place } = await World.in(t).state().session()
  for (const line of [
    'shots list --search x --status failed', 'shots list --search x --digests',
    'shots show --analysis', 'shots run --watch --once', 'state prune --show --older-than 30d',
    'sandbox fault list delay', 'codehost jobs job_x --state failed',
    'edge artifacts edge_art_x --limit 2', 'codehost run job_x --resume --approved',
  ]) {
    t.hasStrict(failure(await place.run([...line.split(' '), '--json'])),
      { status: 2, code: 'flag_not_with', out: '' }, line)
  }
  t.hasStrict(failure(await place.run(['policy', 'show', '--limit', '1', '--json'])),
    { status: 2, code: 'history_needed', out: '' })
  t.hasStrict(failure(await place.run(['codehost', 'jobs', '--readback', 'x', '--json'])),
    { status: 2, code: 'job_needed', out: '' })
  t.hasStrict(failure(await place.run(['edge', 'artifacts', '--out', 'x', '--json'])),
    { status: 2, code: 'capture_needed', out: '' })
})

t.test('the whole configuration is shown and saved by its older names', async (t) => {
  const world = await World.in(t).sandbox().state().session().alpha()
  const shown = await world.json(['config', 'show'])
  t.hasStrict(shown, {
    schema: 'sallyport.configuration.v1',
    alpha_text: (await world.json(['alpha', 'show'])).alpha_text,
    gateway: (await world.json(['gateway', 'show'])).gateway,
  })
  const file = world.place.write('save.json', JSON.stringify({ alpha_text: { enabled: false } }))
  t.hasStrict(await world.json(['config', 'save', '--from', file]),
    { schema: 'sallyport.configuration.v1', alpha_text: { enabled: false } })
})

t.test('the names of the text capability show, review and cancel tasks as `task` does', async (t) => {
  const world = await World.in(t).sandbox().state().session().alpha()
  const { task } = must(await world.ask()).json()
  const [row, ...others] = await world.json(['alpha', 'tasks'])
  t.strictSame([row.id, others], [task.id, []])
  t.hasStrict(await world.json(['alpha', 'task', task.id]), { task: { id: task.id } })
  const reviewed = await world.json(['alpha', 'review', task.id, '--approve'])
  t.hasStrict(reviewed, { schema: 'sallyport.alpha.task.v1', review: 'approved' })
  t.hasStrict((await world.json(['task', 'show', task.id])).task, { review: 'approved' })
  const cancelled = await world.run(['alpha', 'cancel', 'task_none', '--json'])
  t.hasStrict(failure(cancelled), { status: 6, code: 'task_not_found' })
})

t.test('a word that is no command leads to the lines that are meant', async (t) => {
  const { place } = World.in(t)
  const next = async (...line: string[]) => (await place.run([...line, '--json'])).error().next
  t.strictSame(await next('ask'), [{ command: 'sallyport alpha ask', needs_person: false }])
  t.strictSame(await next('version'), [{ command: 'sallyport --version', needs_person: false }])
  for (const word of ['stop', 'revoke']) {
    t.equal((await next(word))[0]?.command, 'sallyport policy revoke', word)
  }
  t.hasStrict(await next('list'), [{ command: 'sallyport --help' }], 'too many to choose from')
})

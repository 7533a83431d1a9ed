/** Refusals of lines, forms and the operating system, by their codes. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { openStage } from '../../src/cli/commands/demo/stage.js'
import { showFailure } from '../../src/cli/failure.js'
import { secretsOfRun } from '../../src/cli/redact.js'
import { notWritten } from '../../src/cli/line.js'
import { writeSamples } from '../../src/sandbox/samples/write.js'
import { replyOfThrown } from '../../src/service/reply.js'
import { writeReportFile } from '../../src/shots/report/file.js'
import { codeOf, codeOfWaited, errorOf } from '../support/refused.js'
import { fakeCommands } from '../support/cli/fake-verbs.js'
import { started } from '../support/service/process.js'
import { needsStrace } from '../support/soak/strace.js'
import { t } from '../support/tests-in-slices.js'
import type { Ran } from '../world/place.js'
import { temporaryFolder } from '../world/place.js'
import { builtApp } from '../world/process.js'
import { World } from '../world/world.js'

const terminal = { stdin: true, stdout: true, stderr: true }
const refusal = (ran: Ran) => [ran.status, ran.error().code]
/** What a form offers to whoever types a number. */
const typed = 'another value'

t.test('a workspace, a profile and its CA that cannot be meant make no state', async (t) => {
  const { place, run } = await World.in(t)
  const init = (...more: string[]) => run(['init', '--json', ...more])
  t.strictSame(refusal(await init('--workspace', 'here')), [3, 'workspace_not_absolute'])
  const provider = { base_url: 'https://localhost:1/v1', model_id: 'a/b', name: 'x' }
  const profile = (change: object) => place.write('profile.json', JSON.stringify({
    schema: 'sallyport.profile.v1', name: 'mine', provider, ...change,
  }))
  for (const change of [{ schema: 'other' }, { more: 1 }, { provider: { base_url: 'http://a' } }]) {
    t.strictSame(refusal(await init('--profile', profile(change))), [3, 'profile_invalid'])
  }
  t.strictSame(refusal(await init('--profile', profile({ ca_file: 'absent.pem' }))),
    [3, 'ca_unreadable'])
  t.strictSame(refusal(await init('--profile', profile({
    provider: { ...provider, base_url: 'https://example.com/v1' }, ca_file: 'absent.pem',
  }))), [3, 'profile_invalid'], 'a CA of one\'s own is for loopback')
  t.strictSame(refusal(await run(['status', '--json'])), [10, 'no_state'], 'nothing was made')
})

t.test('a number of a form that is none saves nothing', async (t) => {
  const world = await World.in(t).sandbox().state().session().images()
  const forms: readonly (readonly [string[], (string | boolean)[]])[] = [
    [['shots', 'config', 'set'], ['', true, true, false, typed, '1e6']],
    [['alpha', 'setup'], [typed, '1e3']],
    [['alpha', 'setup'], ['', typed, '1,5']],
    [['alpha', 'setup'], ['', '', typed, '1e3']],
  ]
  for (const [line, answers] of forms) {
    const ran = await world.run([...line, '--json'], { terminal, answers })
    t.strictSame(refusal(ran), [3, 'form_number'], `${line.join(' ')}: ${ran.stderr}`)
  }
  t.equal((await world.json(['alpha', 'show'])).alpha_text, null)
})

t.test('a number that a form has no room for saves nothing, and the form says what it takes', async (t) => {
  const world = await World.in(t).sandbox().state().session().images()
  const forms: readonly (readonly [string[], (string | boolean)[]])[] = [
    [['shots', 'config', 'set'], ['', true, true, false, typed, '9999999999']],
    [['alpha', 'setup'], [typed, '9999999999']],
    [['alpha', 'setup'], ['', typed, '999']],
    [['alpha', 'setup'], ['', '', typed, '0']],
    [['alpha', 'setup'], ['', '', '', typed, '9999999999']],
  ]
  for (const [line, answers] of forms) {
    const ran = await world.run([...line, '--json'], { terminal, answers })
    t.strictSame(refusal(ran), [3, 'form_number'], `${line.join(' ')}: ${ran.stderr}`)
    t.match(ran.error().message, / from \S.* to \S.*\.$/)
  }
  t.equal((await world.json(['alpha', 'show'])).alpha_text, null)
})

t.test('a variable that is no setting is refused by its name, and nothing is scanned', async (t) => {
  const world = await World.in(t).state().session().images()
  const scan = (env: Record<string, string>) => world.run(['shots', 'scan', '--json'], { env })
  for (const env of [
    { SCREENSHOT_FOLDER_INGEST_LIMIT: '1e3' }, { SCREENSHOT_FOLDER_INGEST_ENABLED: 'perhaps' },
  ] as Record<string, string>[]) {
    const ran = await scan(env)
    t.strictSame(refusal(ran), [3, 'setting_invalid'])
    t.strictSame(ran.error().details, { variable: Object.keys(env)[0] })
  }
})

t.test('S-055 a folder whose own name is no text is refused, by whichever link it is named', async (t) => {
  const world = await World.in(t).state().session()
  const odd = Buffer.concat([Buffer.from(`${world.place.path('odd')}-`), Buffer.from([0xff])])
  mkdirSync(odd)
  symlinkSync(odd, world.place.path('link'))
  const ran = await world.run(
    ['shots', 'config', 'set', '--json', '--folder', world.place.path('link')])
  t.strictSame(refusal(ran), [3, 'folder_name_not_utf8'])
})

t.test('a report and samples that the disk refuses are told, and nothing half stays', async (t) => {
  const dir = temporaryFolder(t)
  const report = errorOf(() => writeReportFile(join(dir, 'absent', 'day.html'), 'text'))
  t.strictSame([report.kind, report.code, report.reason],
    ['failed', 'report_not_written', 'ENOENT'])
  writeReportFile(join(dir, 'day.html'), 'text')
  t.equal(codeOf(() => writeReportFile(join(dir, 'day.html'), 'more')), 'file_exists')
  const samples = errorOf(() => writeSamples(join(dir, 'day.html', 'below'), 0))
  t.strictSame([samples.kind, samples.code], ['failed', 'samples_not_written'])
})

t.test('what the operating system refuses is told by call and name, a defect is not', async (t) => {
  const options = {
    json: true, verbose: false, usage: null, secrets: secretsOfRun(),
  } as Parameters<typeof showFailure>[1]
  const refused = Object.assign(new Error('EMFILE: a path'), { code: 'EMFILE', syscall: 'open' })
  const shown = showFailure(refused, options)
  t.equal(shown.status, 1)
  t.hasStrict(JSON.parse(shown.stderr), { error: {
    code: 'system_error', message: 'The operating system refused open (EMFILE).',
    details: { errno: 'EMFILE', syscall: 'open' },
  } })
  t.notMatch(showFailure(new Error('a defect'), options).stderr, 'system_error')
})

/** As Node tells a used-up quota: by a number, since it knows no name for it. */
const overQuota = (syscall: string): Error => {
  const errno = -constants.errno.EDQUOT
  return Object.assign(new Error('a path'), {
    code: `Unknown system error ${errno}`, errno, syscall,
  })
}

t.test('a used-up quota is a full disk to a terminal and over HTTP, wherever it is met', async (t) => {
  const options = {
    json: true, verbose: false, usage: null, secrets: secretsOfRun(),
  } as Parameters<typeof showFailure>[1]
  const full = { code: 'disk_full', details: { errno: 'EDQUOT', while: 'mkdir' } }
  t.hasStrict(JSON.parse(showFailure(overQuota('mkdir'), options).stderr), { error: full })
  t.hasStrict(replyOfThrown(overQuota('mkdir')).body, { error: full })
  const cause = notWritten(overQuota('write'), 'Make room.')
  t.hasStrict(cause, { code: 'result_not_written', details: { errno: 'EDQUOT' } })
})

t.test('a token, a report, samples and a pairing line that a quota keeps out are a full disk', { skip: needsStrace }, async (t) => {
  const world = await World.in(t).state().session()
  const { place } = world
  const app = join(await builtApp(), 'sallyport.js')
  const service = await started(t, place)
  service.child.kill('SIGTERM')
  await service.ended
  const cases = [
    [['login', '--token-file', place.path('token')], 'rename:when=2', []],
    [['shots', 'report', '--html', place.path('day.html')], 'openat', ['day.html']],
    [['sandbox', 'samples', place.path('samples')], 'openat', ['samples/editor.png']],
    [['edge', 'pair', '--file', place.path('line')], 'openat', ['line']],
  ] as const
  for (const [argv, call, names] of cases) {
    const ran = spawnSync('strace', [
      '-f', '-qq', '-o', '/dev/null', '-e', `inject=${call}:error=EDQUOT`,
      ...names.flatMap((name) => ['-P', place.path(name)]),
      process.execPath, app, ...argv, '--json',
    ], { cwd: place.cwd, env: place.env, encoding: 'utf8' })
    const line = ran.stderr.split('\n').findLast((one) => one.startsWith('{')) ?? '{}'
    t.hasStrict([ran.status, JSON.parse(line).error], [1, {
      code: 'disk_full', details: { errno: 'EDQUOT' },
    }], argv.slice(0, 2).join(' '))
  }
})

t.test('a step of the demo that ends otherwise than it says ends the demo', async (t) => {
  let status = 0
  const steps: string[] = []
  await World.in(t).place.run(['thing', 'do'], {
    commands: fakeCommands(async (_options, deps) => {
      const stage = openStage({ ...deps, again: async () => status }, {
        stateDir: 'a', configDir: 'b',
      })
      const line = { say: 'A step.', argv: ['status'] }
      steps.push(await codeOfWaited(() => stage.play(line)))
      status = 7
      steps.push(await codeOfWaited(() => stage.play(line)))
      steps.push(await codeOfWaited(() => stage.play({ ...line, status: 7 })))
      steps.push(await codeOfWaited(() => stage.ask(['status'])))
      return 'done'
    }),
  })
  t.strictSame(steps, ['none', 'demo_step_failed', 'none', 'demo_step_failed'])
})

/** `serve --open` before a person's screen: a stand-in for the program that opens a browser. */
import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { loadToken, tokenPath } from '../../../src/governance/session/token.js'
import { codeIn } from '../../support/service/paging.js'
import { until } from '../../support/until.js'
import { t } from '../../support/tests-in-slices.js'
import type { Place, Teardown } from '../../world/place.js'
import { builtApp } from '../../world/process.js'
import { World } from '../../world/world.js'

/** A terminal of its own, as a person has one. */
const terminal = 'import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)'

/** Runs `serve --open` in a terminal where only `path` is looked through for programs. */
const atScreen = async (t: Teardown, place: Place, path: string, env: Record<string, string>) => {
  const script = join(await builtApp(), 'sallyport.js')
  const child = spawn('/usr/bin/python3', [
    '-c', terminal, process.execPath, script, 'serve', '--open',
  ], { cwd: place.cwd, env: { ...place.env, TERM: 'xterm', ...env, PATH: path }, stdio: 'pipe' })
  t.teardown(() => void child.kill('SIGKILL'))
  let said = ''
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
  await until('the way in to be told', () => /paste this code: \S{22}/.test(said))
  return {
    said: () => said,
    stop: async () => {
      // Ctrl+C, as it is typed.
      child.stdin.write('\x03')
      await ended
    },
  }
}

/** A stand-in that writes down all that it is given. */
const standIn = (place: Place): { readonly path: string; readonly given: string } => {
  const given = place.path('given')
  const file = place.write('screen/xdg-open', [
    '#!/bin/sh', '{ echo "$# $1"; /usr/bin/stat -c %a "$1"',
    "/usr/bin/tr '\\0' ' ' </proc/$$/cmdline",
    `/bin/cat "$1"; } >'${given}.new'; /bin/mv '${given}.new' '${given}'`, '',
  ].join('\n'))
  chmodSync(file, 0o755)
  return { path: dirname(file), given }
}

const skip = existsSync('/usr/bin/python3') ? false : 'needs /usr/bin/python3'

t.test('whoever opens a browser is given one private file by its name, and no secret on its line', { skip }, async (t) => {
  const { place } = await World.in(t).state().session()
  mkdirSync(place.path('screen'))
  const { path, given } = standIn(place)
  const at = await atScreen(t, place, path, { DISPLAY: ':77' })
  await until('it to be called', () => existsSync(given))
  const [called = '', mode, ...rest] = readFileSync(given, 'utf8').split('\n')
  const file = join(place.stateDir, 'run', 'page.html')
  t.equal(called, `1 ${file}`)
  t.equal(mode, '600')
  const code = codeIn(file)
  const line = rest[0]?.split('<!doctype')[0] ?? ''
  t.match(line, /xdg-open/)
  for (const secret of [code, loadToken(tokenPath(place.stateDir)) ?? '']) {
    t.ok(secret.length > 20)
    t.notOk(line.includes(secret))
  }
  t.match(rest.join('\n'), code, 'the file leads there')
  t.match(at.said(), code, 'a person may paste it instead')
  await at.stop()
  t.notOk(existsSync(file), 'gone with its process')
})

t.test('where there is no such program, or no screen, the file is opened by hand and the service goes on', { skip }, async (t) => {
  for (const [path, env] of [['/nowhere', { DISPLAY: ':77' }], ['screen', {}]] as const) {
    const { place } = await World.in(t).state().session()
    mkdirSync(place.path('screen'))
    const { path: folder, given } = standIn(place)
    const at = await atScreen(t, place, path === 'screen' ? folder : path, env)
    t.match(at.said(), /Open this file in a browser, once, within a minute:\s+\S*page\.html/)
    const url = /Page: (http:\S+)/.exec(at.said())?.[1] ?? ''
    t.equal((await fetch(url)).status, 200)
    await at.stop()
    t.notOk(existsSync(given), path)
    t.notMatch(at.said(), /Error|ENOENT|spawn/)
  }
})

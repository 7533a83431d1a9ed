/** `sallyport serve --open` as a process: what it says and shows, how it is asked again. */
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { loadToken, tokenPath } from '../../../src/governance/session/token.js'
import { must } from '../../support/must.js'
import { image } from '../../support/png.js'
import { askPage, codeIn } from '../../support/service/paging.js'
import { launched } from '../../support/service/process.js'
import { t } from '../../support/tests-in-slices.js'
import type { Place, Teardown } from '../../world/place.js'
import { World } from '../../world/world.js'

interface Told {
  readonly pid: number
  readonly port: number
  readonly page: { readonly url: string; readonly open_file: string | null } | null
}

const started = async (t: Teardown, place: Place, args: readonly string[]) => {
  const run = await launched(t, place, args, (out, err) =>
    /\}\n$/.test(out) || /Page: .*\nOpen .*\n/.test(err))
  return { ...run, told: () => JSON.parse(run.out()) as Told }
}

/** What every process of this machine was started with, as any other may read it. */
const processList = (): string => readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  .map((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
    } catch {
      return ''
    }
  }).join('\n')

t.test('no code and no token is in a process list, in what is printed into a file, or in an answer that is not for it', async (t) => {
  const world = await World.in(t).sandbox().state().session().alpha().images()
  const { place } = world
  const asked = must(await world.ask()).json()
  world.file('1.png', image(1))
  must(await world.run(['shots', 'scan']))
  const first = await started(t, place, ['--open', '--json'])
  const { page, port, pid } = first.told()
  const code = codeIn(page?.open_file ?? '')
  t.match(code, /^.{22}$/)
  const at = { started: { page: { url: page?.url ?? '', openFile: null } } } as Parameters<
    typeof askPage>[0]
  const open = await askPage(at, 'POST', '/api/page/open', { body: { code } })
  const token = String(open.json().token)
  const session = loadToken(tokenPath(place.stateDir)) ?? ''
  if (process.platform === 'linux') {
    const list = processList()
    t.match(list, 'serve', 'the list can be read')
    for (const secret of [code, token, session]) t.notOk(list.includes(secret))
  }
  const bodies: string[] = []
  for (const [method, path, body] of [
    ['GET', '/'], ['GET', '/page.js'], ['GET', '/page.css'], ['GET', '/icon.svg'],
    ['GET', '/api/overview'], ['POST', '/api/observer/screenshot-folder/scan', {}],
    ['PUT', '/api/settings/screen-analysis', { screenshot_folder: world.folder }],
    ['POST', '/api/page/report'], ['POST', '/api/policy/revoke'], ['GET', '/nothing'],
    ['POST', '/api/page/close'],
  ] as const) {
    const got = await askPage(at, method, path, { token, body })
    bodies.push(got.bytes.toString(), JSON.stringify(got.headers))
    const shown = /"path":"(\/report\/[^"]+)"/.exec(got.bytes.toString())?.[1]
    if (shown !== undefined) bodies.push((await askPage(at, 'GET', shown)).bytes.toString())
  }
  const key = readFileSync(world.sandbox.keyFiles.provider, 'utf8').trim()
  const secrets = [code, token, session, key, asked.answer, 'What is a sally port?']
  for (const secret of secrets) {
    t.ok(String(secret).length > 5)
    t.notOk(bodies.some((text) => text.includes(String(secret))), String(secret).slice(0, 8))
    t.notOk((first.out() + first.err()).includes(String(secret)))
  }
  const second = await started(t, place, ['--open', '--json'])
  t.equal(await second.ended, 0, second.err())
  t.hasStrict(second.told(), { pid, port, page: { url: page?.url } }, 'asked of the one that runs')
  const again = codeIn(second.told().page?.open_file ?? '')
  t.not(again, code)
  const third = await started(t, place, ['--open', '--json'])
  t.equal(await third.ended, 0, third.err())
  const newest = third.told().page?.open_file ?? ''
  t.equal((await askPage(at, 'POST', '/api/page/open', { body: { code: again } })).status, 201)
  t.not(codeIn(newest), again, 'a newer way in stays when an older one was used')
  first.child.kill('SIGTERM')
  t.equal(await first.ended, 0)
  await t.rejects(askPage(at, 'GET', '/'), { code: 'ECONNREFUSED' }, 'it is gone with its process')
  t.notOk(existsSync(page?.open_file ?? ''))
})

t.test('a way in needs a session, and a service with a page', async (t) => {
  const world = await World.in(t).state()
  const { place } = world
  const nobody = await started(t, place, ['--open', '--json'])
  t.equal(await nobody.ended, 4)
  t.match(nobody.err(), '"code":"session_required"')
  must(await place.spawn(['login']))
  const plain = await started(t, place, ['--json'])
  t.equal(plain.told().page, null)
  const asked = await started(t, place, ['--open', '--json'])
  t.equal(await asked.ended, 7)
  t.match(asked.err(), '"code":"page_not_served"')
  plain.child.kill('SIGTERM')
  await plain.ended
  const page = await started(t, place, ['--page'])
  t.match(page.err(), /Page: http:\/\/127\.0\.0\.1:\d+\/\nOpen it with: sallyport serve --open\n/)
  t.notMatch(page.err(), /paste this code/, 'nothing but a terminal is told a code')
  page.child.kill('SIGTERM')
  t.equal(await page.ended, 0)
})

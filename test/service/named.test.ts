/** A service over a state that has a name: what it shows of it, and what its commands carry. */
import { join } from 'node:path'
import { readFileSync, writeFileSync } from 'node:fs'
import { carriedByService } from '../../src/cli/places.js'
import { nameInForce } from '../../src/fabric/names/look-up.js'
import { browse } from '../support/service/fake-browser.js'
import { askPage, codeIn } from '../support/service/paging.js'
import { started } from '../support/service/process.js'
import { serving } from '../support/service/serving.js'
import { must } from '../support/must.js'
import { until } from '../support/until.js'
import { t } from '../support/tests-in-slices.js'
import type { Teardown } from '../world/place.js'
import { World } from '../world/world.js'

const served = async (t: Teardown) => {
  const world = await World.in(t).sandbox().state().session().images()
  const { place } = world
  must(await world.run(['at', 'add', 'work', place.stateDir]))
  const here = {
    env: place.env, home: place.env['HOME'] ?? '',
    places: { stateDir: place.stateDir, configDir: place.configDir },
  }
  const at = await serving(t, world, {
    page: world.session().root.root_id, carried: () => carriedByService(here, nameInForce(here)),
  })
  return { world, place, at }
}

t.test('the page has the name in its title and beside the owner, once it was opened', async (t) => {
  const { place, at } = await served(t)
  const code = codeIn(at.started.offered?.openFile ?? '')
  t.notMatch((await askPage(at, 'GET', '/')).bytes.toString(), 'work - ',
    'who has no code is told no name')
  const page = await browse(at, `#${code}`)
  await until('the page to show something', () => page.at('newest').textContent !== '')
  t.match(page.title(), /^(?:\(\d+\) )?work - Sallyport$/)
  t.match(page.at('who').textContent, /^work: /)
  t.ok(place.stateDir)
})

t.test('status over HTTP is that of the terminal, with the name', async (t) => {
  const { world, at } = await served(t)
  const { at: name } = await at.get('/api/status')
  t.equal(name, 'work')
  t.equal((await world.json(['status'])).at, name)
})

t.test('what the service tells carries the name for as long as that means its state, then the folders', async (t) => {
  const { world, place, at } = await served(t)
  const nextOf = async (): Promise<string> =>
    (await at.ask('GET', '/api/work-board/tasks/task_none')).json().error.next[0].command
  t.equal(await nextOf(), 'sallyport task list --at work')
  must(await world.run(['at', 'remove', 'work']))
  must(await world.run(['at', 'add', 'work', place.path('other')]))
  t.equal(await nextOf(),
    `sallyport task list --state-dir ${place.stateDir} --config-dir ${place.configDir}`)
  const file = join(place.env['HOME'] ?? '', '.config/sallyport/names.json')
  const whole = readFileSync(file)
  writeFileSync(file, 'half')
  t.match(await nextOf(), `--state-dir ${place.stateDir}`, 'a file that is none names nothing')
  writeFileSync(file, whole)
})

t.test('`serve --at` as a process tells the name, and one that was given a folder tells that', async (t) => {
  const { place, run } = await World.in(t).state().session()
  must(await run(['at', 'add', 'work', place.stateDir]))
  const folders = `--state-dir ${place.stateDir} --config-dir ${place.configDir}`
  for (const [args, env, told] of [
    [['--at', 'work'], {}, '--at work'],
    [[], { SALLYPORT_AT: 'work', SALLYPORT_STATE_DIR: '', SALLYPORT_CONFIG_DIR: '' }, '--at work'],
    [['--state-dir', place.stateDir], {}, folders],
  ] as const) {
    const at = await started(t, place, args, env)
    const got = await at.ask('GET', '/api/work-board/tasks/task_none')
    t.equal(got.json().error.next[0].command, `sallyport task list ${told}`)
    at.child.kill('SIGTERM')
    t.equal(await at.ended, 0)
  }
})

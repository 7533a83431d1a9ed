/** No place is guessed: what the environment does not name is refused, and nothing is written. */
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { builtApp } from '../world/process.js'
import type { Place } from '../world/place.js'
import { World } from '../world/world.js'
import { t } from '../support/tests-in-slices.js'

/** An environment without any place but those of `env`. */
const bare = (env: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  ({ PATH: process.env['PATH'] ?? '', ...env })

/** Runs `bin/sallyport.js` itself, by a shell, so that bytes reach it that are no UTF-8. */
const typed = async (place: Place, line: string, env: Readonly<Record<string, string>>) => {
  const script = join(await builtApp(), 'sallyport.js')
  const ran = spawnSync('sh', ['-c', line], {
    cwd: place.cwd, env: { ...bare(env), NODE: process.execPath, SCRIPT: script },
    encoding: 'utf8',
  })
  const error = ran.stderr.split('\n').findLast((one) => one.startsWith('{'))
  return { status: ran.status, error: error === undefined ? null : JSON.parse(error).error }
}

t.test('an empty or relative HOME is refused by name, and nothing comes to lie below the current folder', async (t) => {
  const { place } = World.in(t)
  const stateAlone = { SALLYPORT_STATE_DIR: place.stateDir }
  const both = { ...stateAlone, SALLYPORT_CONFIG_DIR: place.configDir }
  const cases = [
    ['status', {}, 'XDG_STATE_HOME', 'SALLYPORT_STATE_DIR'],
    ['status', stateAlone, 'XDG_CONFIG_HOME', 'SALLYPORT_CONFIG_DIR'],
    ['init', both, 'XDG_DATA_HOME', '`sallyport init --workspace DIR`'],
    ['init --workspace /w', stateAlone, 'XDG_CONFIG_HOME', 'SALLYPORT_CONFIG_DIR'],
    ['sandbox start', both, 'XDG_STATE_HOME', '--dir'],
    ['edge daemon --once', both, 'XDG_STATE_HOME', 'SALLYPORT_EDGE_DIR'],
  ] as const
  for (const HOME of ['', 'home', './home']) {
    for (const [verb, env, variable, instead] of cases) {
      const ran = await typed(place, `exec "$NODE" "$SCRIPT" ${verb} --json`, { HOME, ...env })
      t.hasStrict(ran, {
        status: 3, error: { code: 'home_not_absolute', details: { variable } },
      }, `${verb} with HOME=${HOME}`)
      t.ok(ran.error.hint.includes(instead), `${verb}: ${ran.error.hint}`)
    }
  }
  t.strictSame(readdirSync(place.cwd), [])
  const named = { HOME: '', ...both, XDG_DATA_HOME: place.path('data') }
  t.equal((await typed(place, 'exec "$NODE" "$SCRIPT" init --json', named)).status, 0)
  const shots = await typed(place, 'exec "$NODE" "$SCRIPT" login --json', named)
  t.equal(shots.status, 0, 'what is named needs no home')
  t.strictSame(readdirSync(place.cwd), [], 'the default workspace is made when it is used')
})

t.test('a relative XDG variable counts as absent for every place, as its specification says', async (t) => {
  const { place } = World.in(t)
  const HOME = join(place.dir, 'home')
  const relative = {
    HOME, XDG_STATE_HOME: 'state', XDG_CONFIG_HOME: './config', XDG_DATA_HOME: '../data',
    XDG_CACHE_HOME: 'cache',
  }
  const line = 'exec "$NODE" "$SCRIPT"'
  for (const verb of ['init', 'login', 'doctor', 'shots status']) {
    t.equal((await typed(place, `${line} ${verb} --json`, relative)).status, 0, verb)
  }
  t.strictSame(readdirSync(place.cwd), [])
  t.strictSame(readdirSync(place.dir).sort(), ['home', 'work'])
  t.ok(readdirSync(join(HOME, '.config/sallyport/keys')).length > 0)
})

t.test('a path that is no UTF-8 is refused by name, wherever it comes from: two of them would be one folder', async (t) => {
  const { place } = World.in(t)
  const named = {
    HOME: join(place.dir, 'home'), SALLYPORT_STATE_DIR: place.stateDir,
    SALLYPORT_CONFIG_DIR: place.configDir,
  }
  const program = 'exec "$NODE" "$SCRIPT"'
  for (const verb of ['init', 'login']) {
    t.equal((await typed(place, `${program} ${verb} --json`, named)).status, 0)
  }
  const before = readdirSync(place.cwd)
  const bad = '"$(printf "a\\377")"'
  const lines = [
    `${program} init --json --state-dir ${bad}`,
    `SALLYPORT_STATE_DIR="$PWD/"${bad} ${program} init --json`,
    `SALLYPORT_CONFIG_DIR="$PWD/"${bad} ${program} state path --json`,
    `unset SALLYPORT_STATE_DIR; XDG_STATE_HOME="$PWD/"${bad} ${program} state path --json`,
    `unset SALLYPORT_STATE_DIR; HOME="$PWD/"${bad} ${program} state path --json`,
    `SALLYPORT_EDGE_DIR="$PWD/"${bad} ${program} edge daemon --once --json`,
    `${program} state backup ${bad} --json`,
    `${program} state restore ${bad} --yes --json`,
    `${program} state verify ${bad} --json`,
    `${program} login --token-file ${bad} --json`,
    `${program} sandbox samples ${bad} --json`,
    `${program} shots report --html ${bad}.html --json`,
    `${program} init --json --state-dir other --workspace "$PWD/"${bad}`,
  ]
  for (const line of lines) {
    const ran = await typed(place, line, named)
    t.hasStrict(ran, { status: 3, error: { code: 'path_not_utf8' } }, line)
  }
  t.strictSame(readdirSync(place.cwd), before, 'nothing was made under another name')
})

import { mkdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { SallyportError } from '../../src/base/errors.js'
import { judgeFolder, locateFolder, folderProblem }
  from '../../src/shots/source/folder.js'
import { unsetSettings, type SavedShotSettings } from '../../src/shots/source/settings.js'
import { greyPng } from '../support/png.js'
import { World, type ImageWorld } from '../world/world.js'
import { forAll } from '../support/for-all.js'

/** A world of folders; everything that is named exists unless `bare`. */
const folders = (t: Test, bare = false) => {
  const dir = t.testdir({})
  const at = (name: string): string => join(dir, name)
  const made = [
    'home', 'home/Pictures/shots', 'data/ws/artifacts/screenshot-folder', 'state/run', 'config',
    'home/.config', 'elsewhere/shots',
    ...(bare ? [] : ['home/Desktop/shots', 'home/Downloads/shots']),
  ]
  for (const name of made) mkdirSync(at(name), { recursive: true })
  const world = {
    env: {} as Record<string, string>, home: at('home'), workspace: at('data/ws'),
    ownFolders: [at('state'), at('config')],
  }
  return { dir, at, world }
}

type Site = ReturnType<typeof folders>

const codeOf = (judge: () => unknown): string => {
  try {
    judge()
    return 'accepted'
  } catch (error) {
    if (error instanceof SallyportError) return error.code
    throw error
  }
}

const judged = ({ world }: Pick<Site, 'world'>, path: string): string =>
  codeOf(() => judgeFolder(world, path, 'input'))

t.test('S-057 S-058 S-059 broad roots, what holds them and own folders are refused', async (t) => {
  const site = folders(t)
  const { at } = site
  const broad = [
    '/', site.dir, at('home'), at('home/Desktop'), at('home/Downloads'), at('data'),
    at('data/ws'), at('state'), at('state/run'), at('config'),
  ]
  for (const path of broad) {
    for (const form of [path, `${path}/`, `${path}/.`, `${path}/x/..`, `//${path}`, `${path}//`]) {
      t.equal(judged(site, form), 'broad_root', relative(site.dir, form))
    }
  }
  const fine = [
    'home/Pictures', 'home/Pictures/shots', 'home/Desktop/shots', 'home/Downloads/shots',
    'data/ws/artifacts/screenshot-folder', 'data/ws/artifacts', 'elsewhere/shots',
  ]
  for (const name of fine) t.equal(judgeFolder(site.world, at(name), 'input'), at(name), name)
})

t.test('S-058 Desktop and Downloads are refused although they are not there', async (t) => {
  const site = folders(t, true)
  for (const name of ['Desktop', 'Downloads', 'desktop', 'DOWNLOADS', 'Desktop/']) {
    t.equal(judged(site, site.at(`home/${name}`)), 'broad_root', name)
  }
  t.equal(judged(site, site.at('home/Desktop/shots')), 'accepted')
})

t.test('S-057 S-058 S-059 a link to a broad root, or on the way to one, hides nothing', async (t) => {
  const site = folders(t)
  const { at, world } = site
  symlinkSync(at('home'), at('elsewhere/link'))
  symlinkSync('/', at('elsewhere/all'))
  symlinkSync(at('data/ws'), at('elsewhere/work'))
  symlinkSync(at('elsewhere/link'), at('elsewhere/twice'))
  symlinkSync(at('elsewhere'), at('home/back'))
  const broad = [
    'elsewhere/link', 'elsewhere/twice', 'elsewhere/all', 'elsewhere/work',
    'elsewhere/link/Desktop', 'elsewhere/twice/Downloads/', 'home/back/link',
    'elsewhere/link/../home', 'home/back/../home', 'elsewhere/link/not-there/..',
  ]
  // Not `join`, which would take the dots away before anybody could follow the link.
  for (const name of broad) t.equal(judged(site, `${site.dir}/${name}`), 'broad_root', name)
  const real = judgeFolder(world, at('elsewhere/link/Pictures/shots'), 'input')
  t.equal(real, at('home/Pictures/shots'), 'a folder of its own is known by its real name')
})

t.test('S-058 the desktop\'s own settings name Desktop and Downloads in any language', async (t) => {
  const site = folders(t)
  const { at, world } = site
  for (const name of ['home/Schreibtisch/x', 'far/Heruntergeladen', 'far/variable/x']) {
    mkdirSync(at(name), { recursive: true })
  }
  t.equal(judged(site, at('home/Schreibtisch')), 'accepted')
  writeFileSync(at('home/.config/user-dirs.dirs'), [
    '# This file is written by xdg-user-dirs-update', 'XDG_DESKTOP_DIR="$HOME/Schreibtisch"',
    `XDG_DOWNLOAD_DIR="${at('far/Heruntergeladen')}"`, 'XDG_TEMPLATES_DIR="$HOME/"', '',
  ].join('\n'))
  t.equal(judged(site, at('home/Schreibtisch')), 'broad_root')
  t.equal(judged(site, at('home/Schreibtisch/x')), 'accepted')
  t.equal(judged(site, at('far/Heruntergeladen')), 'broad_root')
  t.equal(judged(site, at('far')), 'broad_root', 'it holds one')
  world.env['XDG_DESKTOP_DIR'] = at('far/variable')
  t.equal(judged(site, at('far/variable/')), 'broad_root')
  world.env['XDG_CONFIG_HOME'] = at('elsewhere')
  t.equal(judged(site, at('home/Schreibtisch')), 'accepted', 'another settings file is in force')
})

t.test('S-051 only an absolute path of a folder is taken', async (t) => {
  const site = folders(t)
  const { at } = site
  const cases: [string, string][] = [
    ['', 'folder_invalid'], ['shots', 'folder_relative'], ['./shots', 'folder_relative'],
    ['~/Pictures', 'folder_relative'], ['../..', 'folder_relative'],
    [`${at('elsewhere')}/a\0b`, 'folder_invalid'],
    [`/${'x'.repeat(4_096)}`, 'folder_name_too_long'],
  ]
  for (const [path, code] of cases) {
    t.equal(judged(site, path), code, JSON.stringify(path.slice(0, 20)))
  }
  writeFileSync(at('elsewhere/file'), '')
  symlinkSync(at('elsewhere/loop'), at('elsewhere/loop'))
  t.equal(judged(site, at('elsewhere/file/below')), 'folder_not_directory')
  t.equal(judged(site, at('elsewhere/loop')), 'folder_unreachable')
  t.equal(folderProblem(at('elsewhere/file')), 'folder_not_directory')
  t.equal(folderProblem(at('elsewhere/none')), 'folder_missing')
  t.equal(folderProblem(at('elsewhere')), null)
})

t.test('S-057 no detour through dots and slashes makes a broad root acceptable', async (t) => {
  const site = folders(t)
  const detour = fc.array(
    fc.constantFrom('/.', '//', '/./', '/x/..', '/x/../', '/Pictures/..', '/Pictures/../.'),
    { maxLength: 6 },
  )
  const target = fc.constantFrom('home', 'home/Desktop', 'home/Downloads', 'data/ws')
  forAll(t, fc.property(target, detour, (name, parts) =>
    judged(site, site.at(name) + parts.join('')) === 'broad_root'), { numRuns: 200 })
})

t.test('S-051 S-052 S-053 environment, then settings, then the default below the workspace', async (t) => {
  const { at, world } = folders(t)
  const saved = { ...unsetSettings, screenshot_folder: at('home/Pictures/shots') }
  const told = (env: Record<string, string>, settings: SavedShotSettings = saved) => {
    const { folder, source, editable } = locateFolder({ ...world, env }, settings)
    return [relative(at('.'), folder), source, editable]
  }
  const env = { SVC_SCREENSHOT_FOLDER: at('elsewhere/shots') }
  t.strictSame(told(env), ['elsewhere/shots', 'environment', false])
  t.strictSame(told({}), ['home/Pictures/shots', 'settings', true])
  t.strictSame(
    told({ SVC_SCREENSHOT_FOLDER: '' }), ['home/Pictures/shots', 'settings', true], 'absent'
  )
  t.strictSame(told({}, unsetSettings), ['data/ws/artifacts/screenshot-folder', 'default', true])
  const { source } = locateFolder({ ...world, env }, saved, { folder: at('home/Pictures') })
  t.equal(source, 'input', 'a folder given to one scan comes before all')
})

t.test('S-057 a broad root from the environment is an error and never falls through', async (t) => {
  const { at, world } = folders(t)
  const env = { SVC_SCREENSHOT_FOLDER: at('home') }
  const saved = { ...unsetSettings, screenshot_folder: at('home/Pictures/shots') }
  t.equal(codeOf(() => locateFolder({ ...world, env }, saved)), 'broad_root')
  const relativeEnv = { SVC_SCREENSHOT_FOLDER: 'shots' }
  t.equal(codeOf(() => locateFolder({ ...world, env: relativeEnv }, saved)), 'folder_relative')
})

t.test('S-055 S-056 lookalike names and artifact_root never become the folder', async (t) => {
  const { at, world } = folders(t)
  const env = {
    SCREENSHOT_FOLDER: at('elsewhere'), screenshotFolder: at('elsewhere'),
    screenshot_folder: at('elsewhere'), SVC_SCREENSHOT_DIR: at('elsewhere'),
    svc_screenshot_folder: at('elsewhere'), SVC_SCREENSHOT_FOLDERS: at('elsewhere'),
    artifact_root: at('elsewhere'), ARTIFACT_ROOT: at('elsewhere'),
  }
  const { folder, source } = locateFolder({ ...world, env }, unsetSettings)
  t.strictSame([folder, source], [at('data/ws/artifacts/screenshot-folder'), 'default'])
})

const broadOf = (world: ImageWorld): Record<string, string> => {
  const home = world.place.env['HOME'] as string
  return {
    root: '/', home, 'home with dots': `${home}/x/..`, desktop: join(home, 'Desktop'),
    downloads: join(home, 'Downloads/'), workspace: world.workspace, parent: world.place.dir,
    state: world.place.stateDir, keys: join(world.place.configDir, 'keys'),
  }
}

t.test('S-057 S-058 S-059 the program refuses broad roots by environment, settings and scan input', async (t) => {
  const world = await World.in(t).state().session().images()
  world.file('a.png', greyPng(32, 32, 1))
  const settings = () => world.run(['shots', 'config', 'show', '--json'])
  const before = (await settings()).stdout
  for (const [name, path] of Object.entries(broadOf(world))) {
    const saved = await world.run(['shots', 'config', 'set', '--folder', path, '--json'])
    t.strictSame([saved.status, saved.error().code], [3, 'broad_root'], `settings: ${name}`)
    const given = await world.run(['shots', 'scan', '--folder', path, '--json'])
    t.strictSame([given.status, given.error().code], [3, 'broad_root'], `input: ${name}`)
    const env = { SVC_SCREENSHOT_FOLDER: path }
    const scanned = await world.run(['shots', 'scan', '--json'], { env })
    t.strictSame([scanned.status, scanned.error().code], [3, 'broad_root'], `environment: ${name}`)
  }
  t.equal((await settings()).stdout, before, 'a refused save changes nothing')
  t.strictSame(world.rows(), [], 'nothing was scanned')
})

t.test('S-053 S-054 S-059 a default folder that is not there yet is told, and scanned once it is', async (t) => {
  const world = await World.in(t).state().session().images({ saved: false })
  const folder = join(world.workspace, 'artifacts/screenshot-folder')
  const early = await world.run(['shots', 'scan', '--json'])
  t.strictSame([early.status, early.error().code], [3, 'folder_missing'])
  const located = () => locateFolder(world.ctx(), unsetSettings)
  t.equal(folderProblem(located().folder), 'folder_missing')
  mkdirSync(join(folder, 'captures'), { recursive: true })
  writeFileSync(join(folder, 'a.png'), greyPng(32, 32, 1))
  writeFileSync(join(folder, 'captures/b.png'), greyPng(32, 32, 2))
  const resolved = located()
  t.equal(folderProblem(resolved.folder), null)
  t.strictSame(
    [resolved.folder, resolved.source], [folder, 'default'],
    'the folder itself, and no captures/ below it',
  )
  const scanned = await world.run(['shots', 'scan', '--json'])
  t.equal(scanned.status, 0, scanned.stderr)
  t.strictSame(world.rows().map((row) => row.paths[0]?.name.text), ['a.png'])
  t.equal(statSync(folder).isDirectory(), true)
  rmSync(folder, { recursive: true })
})

/** Where the compile cache of Node lies, on versions that have one. */
import { spawnSync } from 'node:child_process'
import {
  chmodSync, cpSync, existsSync, mkdirSync, statSync, symlinkSync, writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { World } from '../world/world.js'
import { t } from '../support/tests-in-slices.js'

/** Starts bin/sallyport.js with a program of nothing; gives what the cache was asked for. */
const asked = (t: Test, prepare: (home: string) => Record<string, string>) => {
  const { place } = World.in(t)
  const home = place.path('home')
  mkdirSync(home)
  mkdirSync(place.path('bin'))
  mkdirSync(place.path('dist'))
  for (const name of ['sallyport.js', 'package.json']) {
    cpSync(join(process.cwd(), 'bin', name), place.path(`bin/${name}`))
  }
  writeFileSync(place.path('dist/sallyport.js'), '')
  const preload = place.path('preload.cjs')
  writeFileSync(preload, `require('node:module').enableCompileCache =
    (folder) => process.stdout.write(JSON.stringify({ folder: folder ?? null }))`)
  const env = { PATH: process.env['PATH'] ?? '', HOME: home, ...prepare(home) }
  const argv = ['--require', preload, place.path('bin/sallyport.js')]
  const { status, stdout, stderr } = spawnSync(process.execPath, argv, { env, encoding: 'utf8' })
  t.strictSame([status, stderr], [0, ''])
  const told = stdout === '' ? undefined : (JSON.parse(stdout) as { folder: string })
  return { home, folder: told?.folder }
}

const modeOf = (path: string): number => statSync(path).mode & 0o777

t.test('the compile cache lies in a folder of the user alone, never in a shared one', async (t) => {
  const { home, folder } = asked(t, () => ({}))
  t.equal(folder, join(home, '.cache/sallyport/compiled'))
  t.equal(modeOf(join(home, '.cache/sallyport')), 0o700)
  t.equal(modeOf(join(home, '.cache/sallyport/compiled')), 0o700)
  const named = asked(t, (home) => ({ XDG_CACHE_HOME: join(home, 'caches') }))
  t.equal(named.folder, join(named.home, 'caches/sallyport/compiled'))
  const relative = asked(t, () => ({ XDG_CACHE_HOME: 'caches' }))
  t.equal(relative.folder, join(relative.home, '.cache/sallyport/compiled'))
})

t.test('without a home that is an absolute path nothing is cached, and nothing made', async (t) => {
  for (const HOME of ['', 'home']) {
    const { folder } = asked(t, () => ({ HOME }))
    t.equal(folder, undefined)
  }
  t.notOk(existsSync('.cache') || existsSync('home'), 'it ran in the current folder')
})

t.test('where others could write to it, or it is a link, nothing is cached', async (t) => {
  const open = asked(t, (home) => {
    mkdirSync(join(home, '.cache/sallyport/compiled'), { recursive: true, mode: 0o700 })
    chmodSync(join(home, '.cache/sallyport'), 0o777)
    return {}
  })
  t.equal(open.folder, undefined)
  const linked = asked(t, (home) => {
    mkdirSync(join(home, '.cache/sallyport'), { recursive: true, mode: 0o700 })
    mkdirSync(join(home, 'other'), { mode: 0o700 })
    symlinkSync(join(home, 'other'), join(home, '.cache/sallyport/compiled'))
    return {}
  })
  t.equal(linked.folder, undefined)
  const unwritable = asked(t, (home) => {
    writeFileSync(join(home, '.cache'), 'a file')
    return {}
  })
  t.equal(unwritable.folder, undefined)
})
